"""A model of paper 001 that coview does not have: MGGM with the graph of one view."""

from __future__ import annotations

from typing import Any

from coview import MGGM


def one_graph(n_components: int, random_state: Any = None, *, view: str, **params: Any) -> Any:
    """Return MGGM smoothed over the graph of one view (MGGM_SV); all views are modeled."""
    model = _OneGraph(n_components, random_state=random_state, **params)
    model.graph_view = view
    return model


class _OneGraph(MGGM):
    graph_view = ""

    def _graphs(self, data):
        return {self.graph_view: super()._graphs(data)[self.graph_view]}
