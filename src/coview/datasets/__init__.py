"""Data sets: built from what is installed, or drawn with planted topics."""

from coview.datasets.digits import load_digits_views
from coview.datasets.python_api import load_python_api
from coview.datasets.synthetic import make_views

__all__ = ["load_digits_views", "load_python_api", "make_views"]
