"""coview: multi-view topic models.

The same things seen several ways: cluster them, classify them from a handful of labels, search
one view with another, with topics a person can read.
"""

__version__ = "0.1.0.dev0"
