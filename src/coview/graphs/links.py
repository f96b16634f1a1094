"""Links between documents (citations, hyperlinks) as a view, and as a graph for smoothing.

As a view a document is the documents it links to, each a term: the links of Cohn & Hofmann (2001).
As a graph (`edge_graph`) links hold mixtures together, in `LTM` and `MGGM`. In both, a link from a
document to itself is dropped, and links that occur several times are summed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import scipy.sparse as sp

from coview.graphs.neighbors import check_graph
from coview.reading.links import directed_links


def edge_graph(edges: Any, ids: Iterable[Any], *, unknown: str = "error") -> sp.csr_array:
    """Links as an undirected graph over documents, for ``LTM(graph=...)`` and ``MGGM(graphs=...)``.

    Of the weights of two directions the larger one holds.

    Parameters
    ----------
    edges : path, or iterable of (source, target) or (source, target, weight)
        As in `Views.from_graph`.
    ids : sequence of str
        The documents, in the order of the views to be fitted (``views.ids``).
    unknown : {"error", "ignore"}, default="error"
        What to do with links from or to documents that `ids` does not list.

    Returns
    -------
    csr_array of shape (n_docs, n_docs)
        Symmetric, without a diagonal.

    Examples
    --------
    >>> edge_graph([("a", "b"), ("b", "a"), ("b", "b"), ("c", "b", 2)], ["a", "b", "c"]).toarray()
    array([[0., 1., 0.],
           [1., 0., 2.],
           [0., 2., 0.]])
    """
    links, names = directed_links(edges, ids, unknown=unknown)
    return check_graph(links.maximum(sp.csr_array(links.T)), len(names))
