"""Generated views of the shape of NUS-WIDE-Object, for the times of Fig. 8 of paper 001."""

from __future__ import annotations

from coview.datasets import make_views
from coview.views.container import Views

COLUMNS = {"color": 226, "edges": 74, "texture": 129}
CLASSES = 31


def nus_shape(n_docs: int) -> Views:
    """Generate documents in 31 classes: three views of 226, 74 and 129 columns, nearly dense."""
    lengths = {name: 5.0 * width for name, width in COLUMNS.items()}
    return make_views(
        n_docs,
        CLASSES,
        COLUMNS,
        doc_length=lengths,
        concentration=0.3,
        term_concentration=1.0,
        random_state=0,
    )
