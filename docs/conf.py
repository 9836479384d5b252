"""How the site is built: `make docs`, which also makes the pages of docs/_made. Warnings are errors."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import made_pages  # noqa: E402  it lies beside this file

import hinge  # noqa: E402

project, author, version = "hinge", "the hinge authors", hinge.__version__
copyright = author
extensions = ["myst_parser", "sphinx-mathjax-offline"]
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
html_theme, html_title = "furo", "hinge"
html_static_path, html_css_files = ["_static"], ["site.css"]
maximum_signature_line_length, toc_object_entries_show_parents = 88, "hide"
smartquotes = False
exclude_patterns = ["_build"]

made_pages.write(HERE / "_made")
