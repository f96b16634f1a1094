"""coview: multi-view topic models.

Topic models for documents that have several views (a story in five languages, a page and its
links, a picture and its text): cluster them, classify them from a few labels, search one view with
another, and read the topics.
"""

from typing import TYPE_CHECKING

from ._lazy import lazy_names

__version__ = "0.1.0.dev0"

# Where the public names live. They are imported on first use: scikit-learn alone takes over a
# second, and `coview --help` or `import coview` should not.
_HOMES = {
    "auto": "automatic",
    "Views": "views.container",
    "ShardedViews": "shards.sharded",
    "open_shards": "shards.sharded",
    "convert_table": "shards.tables",
    "write_shards": "shards.writing",
    "DataWarning": "views.checks",
    "PLSA": "models.plsa",
    "DualPLSA": "models.dual_plsa",
    "LTM": "models.ltm",
    "LinkPLSA": "models.link_plsa",
    "VotedPLSA": "models.voted_plsa",
    "PairwiseCoPLSA": "models.pairwise_coplsa",
    "DivergenceCoPLSA": "models.divergence_coplsa",
    "MVPLSA": "models.mvplsa",
    "MGGM": "models.mggm",
    "TopicClassifier": "classifier",
    "Checkpoint": "em.checkpoint",
    "DamagedFile": "store",
    "load": "io",
    "search": "retrieval.one_call",
    "SearchIndex": "retrieval.index",
    "Doc": "retrieval.query",
    "to_mudata": "reading.mudata",
    "edge_graph": "graphs.adjacency",
    "report": "reporting",
    "top_terms": "reporting",
    "suggest_labels": "guidance",
    "view_reliability": "ensemble.reliability",
    "strength_path": "strength",
    "StrengthPath": "strength",
    "topic_tree": "tree",
    "TopicTree": "tree",
    "select_topics": "selection.topics",
    "TopicSelection": "selection.topics",
    "baselines": "baselines",
    "compare": "compare",
    "datasets": "datasets",
    "metrics": "metrics",
}

__all__ = [*_HOMES, "__version__"]

if TYPE_CHECKING:
    from . import baselines as baselines
    from . import compare as compare
    from . import datasets as datasets
    from . import metrics as metrics
    from .automatic import auto as auto
    from .classifier import TopicClassifier as TopicClassifier
    from .em.checkpoint import Checkpoint as Checkpoint
    from .ensemble.reliability import view_reliability as view_reliability
    from .graphs.adjacency import edge_graph as edge_graph
    from .guidance import suggest_labels as suggest_labels
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
    from .reading.mudata import to_mudata as to_mudata
    from .reporting import report as report
    from .reporting import top_terms as top_terms
    from .retrieval.index import SearchIndex as SearchIndex
    from .retrieval.one_call import search as search
    from .retrieval.query import Doc as Doc
    from .selection.topics import TopicSelection as TopicSelection
    from .selection.topics import select_topics as select_topics
    from .shards.sharded import ShardedViews as ShardedViews
    from .shards.sharded import open_shards as open_shards
    from .shards.tables import convert_table as convert_table
    from .shards.writing import write_shards as write_shards
    from .store import DamagedFile as DamagedFile
    from .strength import StrengthPath as StrengthPath
    from .strength import strength_path as strength_path
    from .tree import TopicTree as TopicTree
    from .tree import topic_tree as topic_tree
    from .views.checks import DataWarning as DataWarning
    from .views.container import Views as Views

__getattr__, __dir__ = lazy_names(__name__, _HOMES, __all__)
