"""A figure as inline SVG: it takes the page's text colour, and its parts can answer a hover.

A picture file has one background, so it is a white slab on a dark page. SVG inside the page has
none, and its text takes the page's colour. A part with a tip becomes a group with a ``<title>``,
which browsers show when the pointer rests on it. There is no script, and nothing is loaded.

A notebook that somebody else has run is not trusted, and JupyterLab takes tags and styles out of
its outputs, but not the text between the tags. So the drawing is `hidden`, a paragraph describes
it, and the style, where it is kept, shows the one and hides the other.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Mapping
from html import escape

import matplotlib as mpl
from matplotlib.figure import Figure

# JupyterLab and VS Code name the colours of their theme; a printed page is white.
_STYLE = (
    ".attnlab-figure{color:var(--jp-content-font-color1,var(--vscode-editor-foreground,#222222));"
    "max-width:100%;height:auto}"
    ".attnlab-figure .tip{pointer-events:all}"
    ".attnlab-figure .tip:hover>*{stroke:currentColor!important;stroke-width:1.5px!important}"
    "@media print{.attnlab-figure{color:#222222}}"
    ".attnlab-drawn{display:block!important}"
    ".attnlab-instead{display:none}"
)
_NOT_TRUSTED = "This notebook is not trusted, so the picture is not shown. Run the cell to see it."
_PIXELS_PER_POINT = 100 / 72  # a figure's inch is a hundred pixels of the page


def inline(figure: Figure, alt: str, tips: Mapping[str, str], colours: Mapping[str, str]) -> str:
    """The figure as an ``<svg>`` element for a page, and a paragraph for pages that show none.

    Args:
        figure: the figure.
        alt: a description for readers who cannot see it.
        tips: by the gid of an artist, the text that a browser shows when the pointer is on it.
        colours: by a colour of the figure, the CSS colour that replaces it.
    """
    file = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "attnlab"}):
        figure.savefig(
            file,
            format="svg",
            bbox_inches="tight",
            transparent=True,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    text = file.getvalue()
    body = text[text.index("<defs>") : text.rindex("</svg>")]
    for ours, theirs in colours.items():
        body = re.sub(ours, theirs, body, flags=re.IGNORECASE)
    for gid, tip in tips.items():
        body = body.replace(f'<g id="{gid}">', f'<g class="tip"><title>{escape(tip)}</title>')
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)
    assert size is not None, "matplotlib always writes a viewBox"
    width, height = (float(number) for number in size.groups())
    head = (
        f'<svg class="attnlab-figure" role="img" aria-label="{escape(alt)}" '
        f'width="{width * _PIXELS_PER_POINT:.0f}" viewBox="0 0 {width:g} {height:g}" '
        'xmlns:xlink="http://www.w3.org/1999/xlink">'
    )
    return (
        f'<div><style>{_STYLE}</style><p class="attnlab-instead">{escape(alt)} ({_NOT_TRUSTED})</p>'
        f'<div class="attnlab-drawn" hidden="">{head}{_with_own_names(body)}</svg></div></div>'
    )


def _with_own_names(body: str) -> str:
    """The same drawing with names that no other figure of the page has."""
    own = "f" + hashlib.blake2s(body.encode(), digest_size=4).hexdigest()
    body = re.sub(r'\bid="', f'id="{own}-', body)
    return re.sub(r'(url\(#|xlink:href="#)', rf"\g<1>{own}-", body)
