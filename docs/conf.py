"""Settings of the documentation site: `make docs` builds it from the Markdown pages of this repository.

The source folder is the top of the repository, so that a link from one page to another is the same path here, on
GitHub and on disk. `site_builder` adds what is generated: the tree of pages, the API, the command line, the papers.
"""

from __future__ import annotations

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "unweave"
author = "the unweave authors"
version = release = installed("unweave")

extensions = ["myst_parser", "site_builder"]
source_suffix = {".md": "markdown", ".ipynb": "markdown"}
root_doc = "docs/index"
include_patterns = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/**", "examples/notebooks/*.ipynb"]
exclude_patterns = [".*", "benchmarks", "build", "dist", "runs", "src", "tests", "**/.*", "**/__pycache__"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 6

suppress_warnings = ["ref.python"]  # two classes of one name, as unweave.Study and unweave.study.Study

smartquotes = False  # options begin with two dashes

toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "unweave"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"
pygments_style = "tango"
pygments_dark_style = "monokai"
