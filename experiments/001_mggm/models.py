"""A model of paper 001 that coview does not have: MGGM with the graph of one view."""

from __future__ import annotations

from typing import Any

from coview import MGGM
from coview.em.prepared import Prepared


def one_graph(n_components: int, random_state: Any = None, *, view: str, **params: Any) -> Any:
    """Return MGGM smoothed over the graph of one view (MGGM_SV); all views are modeled."""
    model = _OneGraph(n_components, random_state=random_state, **params)
    model.graph_view = view
    return model


class _OneGraph(MGGM):
    graph_view = ""

    def _graphs(self, data: Prepared) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return the graph of one view, and what it takes to find neighbors of new documents."""
        graphs, points = super()._graphs(data)
        own = self.graph_view
        return {own: graphs[own]}, {own: points[own]} if own in points else {}
