"""What Sphinx needs to know; `make docs` (docs/make_site.py) runs it."""

project = "Attention Labs"
project_copyright = "2026, Attention Labs. Code: BSD-3-Clause. Texts and pictures: CC BY 4.0"
extensions = ["myst_parser"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "Attention Labs"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
