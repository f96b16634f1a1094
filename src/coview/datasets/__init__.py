"""Data sets as `Views`: from installed packages, generated, or those of the papers.

What is where:

* `digits`, `python_api`: data sets made from what is installed, without any download;
* `synthetic`: `make_views`, generated documents with planted topics;
* `papers`, `newsgroups`: loaders of the papers' data sets;
* `registry`: what is known of these, `DATASETS`; `folders`: where they are on this machine.
"""

from typing import TYPE_CHECKING

from coview._lazy import lazy_names

# The modules of the public names, imported on first use: scikit-learn alone takes a second, which
# `coview data list` should not.
_HOMES = {
    "load_digits_views": "digits",
    "load_python_api": "python_api",
    "make_views": "synthetic",
    "DATASETS": "registry",
    "Dataset": "registry",
    "data_home": "folders",
    "load_dataset": "papers",
    "load_documents": "papers",
    "load_mfeat": "papers",
    "load_reuters1200": "papers",
    "load_reuters": "papers",
    "load_20newsgroups": "papers",
    "load_newsgv2": "newsgroups",
    "load_newsgv4": "newsgroups",
    "load_webkb": "papers",
    "load_cora": "papers",
    "load_wikipedia": "papers",
    "load_msrcv1": "papers",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from coview.datasets.digits import load_digits_views as load_digits_views
    from coview.datasets.folders import data_home as data_home
    from coview.datasets.newsgroups import load_newsgv2 as load_newsgv2
    from coview.datasets.newsgroups import load_newsgv4 as load_newsgv4
    from coview.datasets.papers import load_20newsgroups as load_20newsgroups
    from coview.datasets.papers import load_cora as load_cora
    from coview.datasets.papers import load_dataset as load_dataset
    from coview.datasets.papers import load_documents as load_documents
    from coview.datasets.papers import load_mfeat as load_mfeat
    from coview.datasets.papers import load_msrcv1 as load_msrcv1
    from coview.datasets.papers import load_reuters as load_reuters
    from coview.datasets.papers import load_reuters1200 as load_reuters1200
    from coview.datasets.papers import load_webkb as load_webkb
    from coview.datasets.papers import load_wikipedia as load_wikipedia
    from coview.datasets.python_api import load_python_api as load_python_api
    from coview.datasets.registry import DATASETS as DATASETS
    from coview.datasets.registry import Dataset as Dataset
    from coview.datasets.synthetic import make_views as make_views


__getattr__, __dir__ = lazy_names(__name__, _HOMES, __all__)
