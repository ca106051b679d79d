"""What students write and print reaches a TA's browser as text and pictures, nothing else."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import markdown2html_mistune
from nbformat import NotebookNode
from nbformat.v4 import new_notebook

from gradekit.feedback.sanitize import (
    MOST_MARKDOWN,
    MOST_MARKDOWN_OF_ALL,
    MOST_TEXT,
    sanitize_cell,
    sanitize_cells,
    sanitize_outputs,
    sanitize_text,
)
from gradekit.python_names import names_bound_in
from tests.helpers.cpu_time import cpu_seconds, least_cpu_seconds, takes_less_than


def png_of(width: int, height: int) -> str:
    """The beginning of a picture of that size."""
    head = b"IHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\r" + head + b"\x08\2\0\0\0").decode()


PNG = png_of(7, 5)


class Active(HTMLParser):
    """Collects everything of a page that a browser would act on and that holds the word PWN."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        for name, value in attrs:
            if "PWN" in f"{name}{value}" and name not in ("id", "alt", "title"):
                self.found.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style") and "PWN" in data:
            self.found.append(f"{self._inside}: {data}")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


@pytest.fixture(scope="module")
def exporter() -> HTMLExporter:
    return HTMLExporter(template_name="classic")


def active(exporter: HTMLExporter, cell: NotebookNode) -> list[str]:
    notebook = nbformat.v4.new_notebook(cells=[cell])
    page, _ = exporter.from_notebook_node(notebook)
    parser = Active()
    parser.feed(page)
    return parser.found


MARKDOWN = {
    "script": "<script>PWN()</script>",
    "event": '<img src=x onerror="PWN()">',
    "split tag": '<img\nsrc=x\nonerror="PWN()">',
    "svg": "<svg><script>PWN()</script></svg>",
    "frame": '<iframe srcdoc="<script>PWN()</script>"></iframe>',
    "form": '<form action="https://PWN.example"><button>go</button></form>',
    "base": '<base href="https://PWN.example/">',
    "details": '<details open ontoggle="PWN()">',
    "in a table": '| a |\n|---|\n| <b onclick="PWN()">x</b> |',
    "after a comment": '<!-- --><b onclick="PWN()">x</b>',
    "closing": '</div><b onclick="PWN()">x</b>',
    "in a formula": "$<b onclick='PWN()'>x</b>$",
    "picture from elsewhere": "![x](https://PWN.example/seen.png)",
    "picture behind another": "![ [ ](attachment:a.png) ](https://PWN.example/seen.png)",
    "picture behind a mark": "![a\\](attachment:a.png)](https://PWN.example/seen.png)",
    "picture behind code": "![a`](attachment:a.png)`](https://PWN.example/seen.png)",
    "picture behind a formula": "![a$](attachment:a.png)$](https://PWN.example/seen.png)",
    "picture by reference": "![x][ref]\n\n[ref]: https://PWN.example/seen.png",
}

LINKS = {
    "javascript": "[x](javascript:PWN())",
    "in angles": "[x](<javascript:PWN()>)",
    "with entity": "[x](&#106;avascript:PWN())",
    "with tab": "[x](<java\tscript:PWN()>)",
    "with space": "[x]( javascript:PWN())",
    "by reference": "[x][1]\n\n[1]: javascript:PWN()",
    "autolink": "<javascript:PWN()>",
    "data": "[x](data:text/html;base64,PWN)",
}


def cell(source: str, kind: str = "markdown", name: str = "a") -> NotebookNode:
    return nbformat.from_dict({"cell_type": kind, "metadata": {}, "source": source, "id": name})


# The renderer escapes formulas by itself; that attack is kept in case it stops.
@pytest.mark.parametrize("attack", sorted(set(MARKDOWN) - {"picture by reference", "in a formula"}))
def test_markdown_attacks_work_without_the_defence(attack: str, exporter: HTMLExporter) -> None:
    assert active(exporter, cell(MARKDOWN[attack]))


@pytest.mark.parametrize("attack", MARKDOWN)
def test_markdown_is_harmless(attack: str, exporter: HTMLExporter) -> None:
    links = [f for f in active(exporter, sanitize_cell(cell(MARKDOWN[attack]))) if "img" in f]
    assert links == []
    found = active(exporter, sanitize_cell(cell(MARKDOWN[attack])))
    assert all(f.startswith("a href=https://") for f in found)


@pytest.mark.parametrize("attack", LINKS)
def test_links_go_to_the_web_only(attack: str, exporter: HTMLExporter) -> None:
    assert active(exporter, sanitize_cell(cell(LINKS[attack]))) == []


@pytest.mark.parametrize(
    "text",
    [
        "Plain words, *emphasis*, `code` and a list:\n\n- one\n- two",
        "$p_i = e^{x_i} / \\sum_j e^{x_j}$, so $0 < p_i \\le 1$",
        "$$\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}$$",
        "See [the paper](https://arxiv.org/abs/1706.03762) and [above](#top).",
        "x[0] is x(1), and 3 < 4 > 2 & more",
    ],
)
def test_honest_markdown_stays_as_it_is(text: str) -> None:
    assert sanitize_text(text) == text


def test_a_missing_picture_is_shown_as_text() -> None:
    assert sanitize_text("![a](attachment:b.png)") == "![a] (attachment:b.png)"
    assert sanitize_text("![a](attachment:b.png)", ["b.png"]) == "![a](attachment:b.png)"


def test_formulas_and_code_can_still_be_read() -> None:
    assert sanitize_text("where $a<b$") == "where $a< b$"
    assert "\\href" not in sanitize_text("$\\href{javascript:PWN()}{x}$")
    assert "mermaid" not in sanitize_text("```mermaid\ngraph TD\n```")


@pytest.mark.parametrize(
    "fence",
    ["```mermaid", "> ```mermaid", "- ~~~ mermaid", "```mermaid mermaid", "```\u00a0Mermaid"],
)
def test_no_fence_becomes_a_diagram(fence: str, exporter: HTMLExporter) -> None:
    notebook = nbformat.v4.new_notebook(cells=[sanitize_cell(cell(f"{fence}\nPWN"))])
    page, _ = exporter.from_notebook_node(notebook)
    assert '<pre class="mermaid">' not in page


def test_a_language_of_spaces_does_not_stop_the_page(exporter: HTMLExporter) -> None:
    with pytest.raises(IndexError):
        active(exporter, cell("```&Tab;"))
    assert active(exporter, sanitize_cell(cell("```&Tab;"))) == []


@pytest.mark.parametrize(
    "formula",
    [
        "&#36;&#92;href{javascript:PWN()}{x}&#36;",
        "&dollar;&bsol;href{javascript:PWN()}{x}$",
        "$\\mmlToken{mi}[href='javascript:PWN()']{x}$",
        "$\\bbox[background:url(PWN)]{x}$",
    ],
)
def test_no_disguise_makes_a_formula_a_link(formula: str) -> None:
    shown = markdown2html_mistune(sanitize_text(formula))
    assert re.search(r"\\(?:href|mmlToken|bbox)", markdown2html_mistune(formula))
    assert not re.search(r"\\(?:href|mmlToken|bbox)", shown)


def test_raw_cells_become_text(exporter: HTMLExporter) -> None:
    raw = cell("<script>PWN()</script>", "raw")
    raw.metadata = NotebookNode(raw_mimetype="text/html")
    assert sanitize_cell(raw).cell_type == "markdown"
    assert active(exporter, raw) == []


def test_attachments_are_pictures(exporter: HTMLExporter) -> None:
    given = cell("![a](attachment:a.png) ![b](attachment:b.png)")
    given.attachments = {
        "a.png": {"image/png": PNG, "text/html": "<script>PWN()</script>"},
        "b.png": {"image/svg+xml": "PWN"},
        'c"onload=PWN': {"image/png": PNG},
        "d": 5,
        "e.png": {'image/png" onerror="PWN()': "x"},
    }
    assert sanitize_cell(given).attachments == {"a.png": {"image/png": PNG}}
    assert active(exporter, given) == []


OUTPUTS: dict[str, Any] = {
    "html": {"output_type": "display_data", "data": {"text/html": "<script>PWN()</script>"}},
    "javascript": {
        "output_type": "display_data",
        "data": {"application/javascript": "PWN()"},
    },
    "svg": {
        "output_type": "display_data",
        "data": {"image/svg+xml": "<svg onload='PWN()'></svg>"},
    },
    "markdown": {
        "output_type": "display_data",
        "data": {"text/markdown": "<img src=x onerror=PWN()>"},
    },
    "latex": {
        "output_type": "display_data",
        "data": {"text/latex": "<img src=x onerror=PWN()>"},
    },
    "not a picture": {
        "output_type": "display_data",
        "data": {"image/png": '"><script>PWN()</script>'},
    },
    "size": {
        "output_type": "display_data",
        "data": {"image/png": PNG},
        "metadata": {"image/png": {"width": '1" onload="PWN()'}},
    },
}


@pytest.mark.parametrize("attack", OUTPUTS)
def test_outputs_are_harmless(attack: str, exporter: HTMLExporter) -> None:
    output = nbformat.from_dict({"metadata": {}, **OUTPUTS[attack]})
    given = nbformat.v4.new_code_cell("x", outputs=[output])
    if attack in ("html", "javascript", "markdown"):
        assert active(exporter, given), "the attack does not work even without the defence"
    assert active(exporter, sanitize_cell(given)) == []


def test_text_and_pictures_stay() -> None:
    outputs: list[Any] = [
        {"output_type": "stream", "name": "stderr", "text": ["careful", "!\n"]},
        {
            "output_type": "execute_result",
            "execution_count": 3,
            "metadata": {"a": 1},
            "data": {"text/plain": "tensor(1.)", "text/html": "<b>1</b>", "image/png": PNG + "\n"},
        },
        {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["a", 5]},
    ]
    stream, shown, error = sanitize_outputs(outputs)
    assert stream == {"output_type": "stream", "name": "stderr", "text": "careful!\n"}
    assert shown.data == {"text/plain": "tensor(1.)", "image/png": PNG}
    assert (shown.execution_count, shown.metadata) == (3, {})
    assert error.traceback == ["a", ""]
    nbformat.validate(
        nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell("x", outputs=[stream, shown, error])]
        )
    )


@pytest.mark.parametrize(
    "outputs",
    [
        [5, None, "text", {}],
        [{"output_type": ["stream"]}],
        [{"output_type": "comm", "data": 1}],
        [{"output_type": "display_data", "data": [1]}],
        [{"output_type": "stream"}],
        [{"output_type": "display_data", "data": {"image/png": 7, "image/jpeg": PNG}}],
    ],
)
def test_malformed_outputs_are_dropped(outputs: list[Any]) -> None:
    assert sanitize_outputs(outputs) == []


def test_long_texts_are_cut_and_say_so() -> None:
    (output,) = sanitize_outputs(
        [{"output_type": "stream", "name": "stdout", "text": "x" * (MOST_TEXT + 5)}]
    )
    assert output.text.endswith("[Output was cut here.]")
    assert len(output.text) < MOST_TEXT + 50


@pytest.mark.parametrize(
    "text",
    [
        "![" * 10**6,
        "\n" * 10**6,
        "`" * 10**6,
        "[" * 10**6 + "]" * 10**6,
        "<" * 10**6,
        "import " * 10**5,
        "from " * 10**5,
        "](" * 10**6,
        "\\" * 10**6,
        "![a](attachment:" * 10**5,
    ],
)
def test_long_texts_do_not_keep_the_grader_busy(text: str) -> None:
    def read() -> None:
        given = cell(text)
        given.attachments = {"a.png": {"image/png": PNG}}
        sanitize_cell(given)
        assert "softmax" not in names_bound_in(text)

    assert takes_less_than(2, read)


@pytest.mark.parametrize("opener", ["\\\\[", "\\\\(", "\\begin{a}", "["])
def test_formulas_without_an_end_keep_no_page_busy(opener: str, exporter: HTMLExporter) -> None:
    def page_of(source: NotebookNode) -> Callable[[], object]:
        return lambda: exporter.from_notebook_node(new_notebook(cells=[source]))

    text = opener * (2**13 // len(opener))
    attack, defended = cell(text), cell(text)
    sanitize_cell(defended)
    assert cpu_seconds(page_of(attack)) > 2 * least_cpu_seconds(page_of(defended))
    largest = cell(8 * text)
    assert len(largest.source) <= MOST_MARKDOWN
    sanitize_cell(largest)
    # The longest notebook has so many of them, as the next test shows; its page may take 15 s.
    assert takes_less_than(15 / (MOST_MARKDOWN_OF_ALL // MOST_MARKDOWN), page_of(largest))


def test_a_notebooks_text_is_cut_where_it_is_a_book() -> None:
    cells = [cell("x" * MOST_MARKDOWN) for _ in range(20)]
    known = cell("known")
    sanitize_cells([*cells, known], known=["known"])
    lengths = [len(c.source) for c in cells]
    assert sum(lengths) < MOST_MARKDOWN_OF_ALL + 20 * len(cells[-1].source)
    assert lengths.count(MOST_MARKDOWN) == MOST_MARKDOWN_OF_ALL // MOST_MARKDOWN
    assert (cells[-1].source, known.source) == ("[This text was cut here.]", "known")


def test_many_attachments_take_one_look_at_the_text() -> None:
    text = ("![a" + "x" * 100 + "\n") * 500 + "![a](attachment:a1.png)"
    names = [f"a{n}.png" for n in range(20_000)]
    assert sanitize_text(text, names).endswith("![a](attachment:a1.png)")
    assert takes_less_than(5, lambda: sanitize_text(text, names))


def shown_pictures(size: tuple[int, int], number: int) -> int:
    """How many of such pictures a notebook shows: half of them printed, half attached."""
    data = {"text/plain": "<Figure>", "image/png": png_of(*size)}
    output = {"output_type": "display_data", "data": data, "metadata": {}}
    code = NotebookNode(cell_type="code", source="", outputs=[output] * (number // 2))
    names = [f"{n}.png" for n in range(number // 2)]
    words = " ".join(f"![a](attachment:{name})" for name in names)
    bundles = {name: {"image/png": png_of(*size)} for name in names}
    text = NotebookNode(cell_type="markdown", source=words, attachments=bundles)
    sanitize_cells([code, text], ())
    assert len(code.outputs) == number // 2, "the words of an output stay"
    kept = text.get("attachments", {})
    assert text.source.count("](attachment:") == len(kept)
    return sum("image/png" in one["data"] for one in code.outputs) + len(kept)


def test_pictures_fill_no_page_with_pixels():
    """Two browsers' worth of memory in a file of some kilobytes."""
    assert shown_pictures((800, 600), 90) == 90
    assert shown_pictures((8064, 6048), 4) == 4, "photos of a telephone"
    assert shown_pictures((30_000, 30_000), 4) == 0
    assert 0 < shown_pictures((8064, 6048), 40) < 10


def test_text_that_is_not_shown_is_not_searched_either():
    """One such text takes a tenth of a second, and a notebook has room for three hundred."""
    hostile = "[a](" * (MOST_MARKDOWN // 4)
    one = cpu_seconds(lambda: sanitize_text(hostile))

    def all_of_them() -> None:
        cells = [NotebookNode(cell_type="markdown", source=hostile) for _ in range(200)]
        sanitize_cells(cells, ())

    assert takes_less_than(40 * one, all_of_them)
