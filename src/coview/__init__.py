"""coview: multi-view topic models.

The same things seen several ways: cluster them, classify them from a handful of labels, search
one view with another, with topics a person can read.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0.dev0"

# Where the public names live. They are imported on first use: scikit-learn alone takes over a
# second, and `coview --help` or `import coview` should not.
_HOMES = {
    "Views": ".data.views",
    "DataWarning": ".data.validate",
    "PLSA": ".models.plsa",
    "DualPLSA": ".models.dual_plsa",
    "LTM": ".models.ltm",
    "LinkPLSA": ".models.link_plsa",
    "VotedPLSA": ".models.voted_plsa",
    "PairwiseCoPLSA": ".models.pairwise_coplsa",
    "DivergenceCoPLSA": ".models.divergence_coplsa",
    "MVPLSA": ".models.mvplsa",
    "MGGM": ".models.mggm",
    "TopicClassifier": ".classifier",
    "Checkpoint": ".em.checkpoint",
    "DamagedFile": ".store",
    "load": ".io",
    "search": ".retrieval",
    "SearchIndex": ".retrieval",
    "Doc": ".retrieval",
    "to_mudata": ".data.mudata",
    "edge_graph": ".data.links",
    "top_terms": ".report",
}
_SUBMODULES = ("baselines", "compare", "datasets", "metrics")

__all__ = [*_HOMES, *_SUBMODULES, "__version__"]

if TYPE_CHECKING:
    from . import baselines as baselines
    from . import compare as compare
    from . import datasets as datasets
    from . import metrics as metrics
    from .classifier import TopicClassifier as TopicClassifier
    from .data.links import edge_graph as edge_graph
    from .data.mudata import to_mudata as to_mudata
    from .data.validate import DataWarning as DataWarning
    from .data.views import Views as Views
    from .em.checkpoint import Checkpoint as Checkpoint
    from .io import load as load
    from .models.divergence_coplsa import DivergenceCoPLSA as DivergenceCoPLSA
    from .models.dual_plsa import DualPLSA as DualPLSA
    from .models.link_plsa import LinkPLSA as LinkPLSA
    from .models.ltm import LTM as LTM
    from .models.mggm import MGGM as MGGM
    from .models.mvplsa import MVPLSA as MVPLSA
    from .models.pairwise_coplsa import PairwiseCoPLSA as PairwiseCoPLSA
    from .models.plsa import PLSA as PLSA
    from .models.voted_plsa import VotedPLSA as VotedPLSA
    from .report import top_terms as top_terms
    from .retrieval import Doc as Doc
    from .retrieval import SearchIndex as SearchIndex
    from .retrieval import search as search
    from .store import DamagedFile as DamagedFile


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(_HOMES[name], __name__), name)
    if name in _SUBMODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
