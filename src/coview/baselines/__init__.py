"""Baselines: the methods that the papers compare with, as estimators of `Views`.

Clusterers have `fit(views)`, `labels_`, `fit_predict` and, where it is defined, `predict`;
classifiers `fit(views, y)` with -1 (or None) for unlabeled documents, `predict` and
`predict_proba`. `BASELINES` lists all of them by short name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from coview._lazy import lazy_names

# The module of each class; imported on first use, so that a list of names costs nothing.
_HOMES = {
    "BestView": "single",
    "CCAClustering": "cca",
    "CoRegSpectral": "spectral",
    "CoTraining": "naive_bayes",
    "Concatenated": "single",
    "FusionLM": "late_fusion",
    "KMeansViews": "kmeans",
    "MVC": "late_fusion",
    "NaiveBayesViews": "naive_bayes",
    "OneView": "single",
    "SCM": "cca",
    "SpectralConcat": "spectral",
}

__all__ = [*_HOMES, "BASELINES", "Baseline"]

if TYPE_CHECKING:
    from coview.baselines.cca import SCM as SCM
    from coview.baselines.cca import CCAClustering as CCAClustering
    from coview.baselines.kmeans import KMeansViews as KMeansViews
    from coview.baselines.late_fusion import MVC as MVC
    from coview.baselines.late_fusion import FusionLM as FusionLM
    from coview.baselines.naive_bayes import CoTraining as CoTraining
    from coview.baselines.naive_bayes import NaiveBayesViews as NaiveBayesViews
    from coview.baselines.single import BestView as BestView
    from coview.baselines.single import Concatenated as Concatenated
    from coview.baselines.single import OneView as OneView
    from coview.baselines.spectral import CoRegSpectral as CoRegSpectral
    from coview.baselines.spectral import SpectralConcat as SpectralConcat


__getattr__, __dir__ = lazy_names(__name__, _HOMES, __all__)


@dataclass(frozen=True)
class Baseline:
    """A factory of one baseline: call it with the number of clusters and a seed.

    Attributes
    ----------
    cls : str
        Name of the class.
    task : {"clustering", "classification", "retrieval"}
        The last two need labels in `fit`.
    params : mapping
        Parameters of the class that make it this baseline.
    inner : str
        For the classes of `single`: the estimator to wrap, as "module:class".
    wrapper_params : tuple of str
        Parameters that go to the wrapper; the others go to the inner estimator.

    Examples
    --------
    >>> BASELINES["kmeans-best"](3, random_state=0, n_init=5)
    BestView(estimator=KMeansViews(n_components=3, n_init=5, random_state=0))
    """

    cls: str
    task: str = "clustering"
    params: Mapping[str, Any] = field(default_factory=dict)
    inner: str = ""
    wrapper_params: tuple[str, ...] = ()

    def __call__(self, n_components: int = 10, random_state: Any = None, **params: Any) -> Any:
        """Return the estimator, not fitted.

        Parameters
        ----------
        n_components : int, default=10
            Clusters; not used by classifiers, which learn the number of classes in `fit`.
        random_state : int, Generator, RandomState or None, default=None
        **params
            Further parameters of the estimator.
        """
        cls, params = __getattr__(self.cls), {**self.params, **params}
        if self.inner:
            outer = {n: params.pop(n) for n in self.wrapper_params if n in params}
            module, name = self.inner.split(":")
            make = getattr(import_module(module), name)
            return cls(make(n_components, random_state=random_state, **params), **outer)
        known = signature(cls).parameters
        given = {"n_components": n_components, "random_state": random_state}
        return cls(**{n: v for n, v in given.items() if n in known}, **params)


_KMEANS, _PLSA = "coview.baselines.kmeans:KMeansViews", "coview.models.plsa:PLSA"
_LTM, _CHOICE = "coview.models.ltm:LTM", ("oracle", "criterion")

BASELINES: dict[str, Baseline] = {
    "kmeans": Baseline("KMeansViews"),
    "kmeans-best": Baseline("BestView", inner=_KMEANS, wrapper_params=_CHOICE),
    "plsa-concat": Baseline("Concatenated", inner=_PLSA),
    "plsa-best": Baseline("BestView", inner=_PLSA, wrapper_params=_CHOICE),
    "ltm-concat": Baseline("Concatenated", inner=_LTM),
    "ltm-best": Baseline("BestView", inner=_LTM, wrapper_params=_CHOICE),
    "spectral": Baseline("SpectralConcat"),
    "cca": Baseline("CCAClustering"),
    "coreg-pairwise": Baseline("CoRegSpectral", params={"kind": "pairwise"}),
    "coreg-centroid": Baseline("CoRegSpectral", params={"kind": "centroid"}),
    "nb": Baseline("NaiveBayesViews", "classification", {"combine": "product"}),
    "nb-ensemble": Baseline("NaiveBayesViews", "classification", {"combine": "mean"}),
    "cotraining": Baseline("CoTraining", "classification"),
    "mvc": Baseline("MVC"),
    "fusion-lm": Baseline("FusionLM"),
    "scm": Baseline("SCM", "retrieval"),
}
