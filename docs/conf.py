"""Configuration of the documentation: `make docs` builds it without a network.

The source of the site is the whole tree, so that links between docs, experiments and the files
beside README.md are the same in a checkout and on the site; `include_patterns` says what belongs
to it.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import coview  # noqa: E402

project = "coview"
author = "coview developers"
copyright = "coview developers"
version = release = coview.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]

root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "experiments/**.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
]
exclude_patterns = [
    "docs/_build",
    "docs/gallery/**.ipynb",
    "docs/gallery/**.py",
    "docs/gallery/**.md5",
    "experiments/*/deviations.md",  # parts of the README.md beside them
    "experiments/*/findings.md",
    "experiments/defaults/what_did_not_work.md",
    "experiments/defaults/labels.md",
    "experiments/defaults/states.md",
    "**/node_modules",
    ".venv*",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

# -- Markdown --------------------------------------------------------------------------------------

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]  # shell sessions with their output

# -- API -------------------------------------------------------------------------------------------

autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": True}

# -- gallery ---------------------------------------------------------------------------------------

# examples called plot_data_*.py read the papers' data: run where COVIEW_DATA names the folder
HAS_DATA = bool(os.environ.get("COVIEW_DATA"))
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "docs/gallery",
    "filename_pattern": r"/plot_" if HAS_DATA else r"/plot_(?!data_)",
    "ignore_pattern": r"__init__\.py",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,  # times of this machine say nothing
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
    "copyfile_regex": r".*\.csv$",
    "image_scrapers": ("matplotlib",),
}

# -- HTML ------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "coview"
html_static_path = ["_static"]
html_extra_path = ["_extra"]
html_css_files = ["coview.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def skip_foreign(app, what, name, member, skip, options):
    """Leave out methods of scikit-learn, whose docstrings refer to its own site."""
    module = getattr(member, "__module__", None) or ""
    foreign = module.startswith("sklearn.") or name.endswith("_request")
    return True if foreign else None


def setup(app):
    """Connect the handler."""
    app.connect("autodoc-skip-member", skip_foreign)
