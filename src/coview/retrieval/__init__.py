"""Search of one view with another, over the mixtures of a fitted model."""

from coview.retrieval.index import SearchIndex
from coview.retrieval.one_call import search
from coview.retrieval.query import Doc
from coview.retrieval.results import Hit, Reason, SearchResults

__all__ = ["Doc", "Hit", "Reason", "SearchIndex", "SearchResults", "search"]
