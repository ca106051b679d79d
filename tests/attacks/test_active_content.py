"""A notebook shows HTML and scripts to readers of its outputs: a TA, another student."""

from __future__ import annotations

from IPython.core.formatters import DisplayFormatter
from IPython.display import HTML

from tests.helpers.attack import run_cells

SCRIPT = "<script>document.title = 'owned'</script>"
SHOW = f"""
from IPython.display import HTML, SVG, Javascript, Latex, Markdown, display
display(HTML({SCRIPT!r}), Javascript('1'), Latex('$x$'), Markdown({SCRIPT!r}))
display(SVG('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'))
display({{'application/vnd.jupyter.widget-view+json': {{'a': 1}}, 'text/plain': 'w'}}, raw=True)
"""
PICTURE = """
from IPython.display import display
display({'image/png': 'x" onerror="alert(1)', 'text/plain': 'plain'}, raw=True,
        metadata={'image/png': {'width': '1 onload=alert(1)'}})
"""
# Directly into the list that is sent, past the shell's own filter.
FORGED = f"""
out = get_ipython().outputs
out._entries.append({{'output_type': 'display_data', 'data': {{'text/html': {SCRIPT!r},
                     'image/svg+xml': '<svg/>', 'image/png': 'A<B', 'text/plain': 'p'}},
                     'metadata': {{'x': {SCRIPT!r}}}}})
out._entries.append({{'output_type': 'update_display_data', 'data': {{'text/html': 'x'}}}})
out._entries.append({{'output_type': 'execute_result', 'data': {{'text/html': {SCRIPT!r}}},
                     'metadata': {{}}, 'execution_count': 1}})
"""


def test_only_text_and_pictures_arrive(sandbox):
    shown, _ = DisplayFormatter().format(HTML(SCRIPT))
    assert SCRIPT in shown["text/html"], "a plain notebook would show it"
    cells = run_cells(sandbox, SHOW, PICTURE, FORGED).cells
    assert [cell.state for cell in cells] == ["ok", "ok", "ok"]
    outputs = [output for cell in cells for output in cell.outputs]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert kinds == {"text/plain"}
    assert all(output.get("metadata", {}) == {} for output in outputs)
    assert {output["output_type"] for output in outputs} == {"display_data"}
