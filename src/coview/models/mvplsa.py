r"""MVPLSA: one clustering of documents seen through several views (Zhuang et al., 2012).

Model. A document d has one mixture over clusters z, whatever the view v; a cluster emits feature
topics y of each view, which emit features w:

    p(w | d, v) = sum_z sum_y  p(w | y, v)  p(y | z, v)  p(z | d)                     (3)

Objective (to be maximized; p(d) and p(v) are constants), with a weight alpha_v for each view,

    L = sum_v alpha_v sum_{d,w}  n_v(d, w)  log p(w | d, v)                           (4)

Updates. With the E-step's ratio  r(d,w,v) = n_v(d,w) / p(w|d,v)  instead of the posterior (9),

    p(w|y,v)  ∝  p(w|y,v)  sum_z p(y|z,v)  sum_d r(d,w,v) p(z|d)                      (15)
    p(y|z,v)  ∝  p(y|z,v)  sum_w p(w|y,v)  sum_d r(d,w,v) p(z|d)                      (16)
    p(z|d)    ∝  p(z|d)    sum_v alpha_v sum_w r(d,w,v) sum_y p(w|y,v) p(y|z,v)       (17)

and labels are argmax_z p(z|d) (18). Labeled documents keep one-hot mixtures, and still contribute
to (15) and (16). The inner sum over d does not depend on y, so the cost is O(nnz K + W Y K) where
the paper's E-step is O(nnz Y K).

With as many feature topics as clusters, or more, any topics p(w|z,v) can be reached: the
likelihoods are then those of LinkPLSA, and only the path of EM differs.

The paper starts from the clusters of MVC (Long et al., 2008), or with labels from naive Bayes, and
from random feature topics: `init="mvc"` or `"naive_bayes"` with `feature_topics_init="random"`. The
clusters are smoothed, since EM never leaves a probability of 0.

In the code: (15), (16) are `em.emissions.FactoredTopics.m_step`; (17) is the one slot of all views
in `_problem`, and `em.penalties.base.Penalty.m_step`; (18) is `assign="argmax"`, in every model.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from coview.base import BaseViewsModel
from coview.em.emissions import Emission, FactoredTopics
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.starts import Start
from coview.models._shared import (
    check_feature_topics,
    factor_attributes,
    factored_topics,
    one_mixture,
)
from coview.params import by_view


class MVPLSA(BaseViewsModel):
    """Clusters shared by several views, each with feature topics of its own.

    Parameters
    ----------
    n_feature_topics : int or dict of int, default=20
        Feature topics of each view.
    feature_topics_init : {"topics", "random"}, default="topics"
        Where feature topics begin: close to the topics of the start, or at random as in the
        papers, so that only the mixtures of the start matter.
    %(common_parameters)s

    Attributes
    ----------
    feature_topics_ : dict of ndarray of shape (n_feature_topics, terms)
        p(w|y) of each view.
    topic_links_ : dict of ndarray of shape (n_components, n_feature_topics)
        p(y|z) of each view.
    %(common_attributes)s

    See Also
    --------
    LinkPLSA : without feature topics.
    TopicClassifier : classification from a few labels, with any model.

    Notes
    -----
    `as_published`: 150 iterations, 128 feature topics (20 Newsgroups; 12 on WebKB), which begin at
    random, mixtures at the clusters of MVC or, with labels, at an ensemble of naive Bayes. Left
    open is how clusters that are 0 or 1 can change in EM, which never leaves a 0: here they are
    smoothed. Counts are tf or tf-idf, which the paper does not decide.

    References
    ----------
    F. Zhuang, G. Karypis, X. Ning, Q. He, Z. Shi. Multi-view learning via probabilistic latent
    semantic analysis. Information Sciences, 2012.

    Examples
    --------
    >>> from coview import MVPLSA
    >>> from coview.datasets import make_views
    >>> views = make_views(100, 3, [50, 40], random_state=0)
    >>> model = MVPLSA(3, n_feature_topics={"view_0": 6, "view_1": 4}, random_state=0).fit(views)
    >>> model.topic_links_["view_1"].shape
    (3, 4)
    """

    _streams = True
    _published: Mapping[str, Any] = {
        "n_feature_topics": 128,
        "feature_topics_init": "random",
        "init": "mvc",
        "max_iter": 150,
        "tol": 0.0,
    }
    feature_topics_: dict[str, np.ndarray]
    topic_links_: dict[str, np.ndarray]

    def __init__(
        self,
        n_components: int = 10,
        n_feature_topics: int | dict[str, int] = 20,
        *,
        feature_topics_init: Literal["topics", "random"] = "topics",
        init: Any = "auto",
        seeds: Any = None,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-5,
        acceleration: Literal["squarem"] | None = None,
        doc_topic_prior: float = 1.0,
        topic_word_prior: float = 1.0,
        view_weights: Any = "learn",
        ensemble: Any = "auto",
        scaling: str | None = "auto",
        assign: str = "argmax",
        fold_in_max_iter: int = 200,
        fold_in_tol: float = 1e-4,
        dtype: Any = "float32",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(
            n_components,
            init=init,
            seeds=seeds,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            acceleration=acceleration,
            doc_topic_prior=doc_topic_prior,
            topic_word_prior=topic_word_prior,
            view_weights=view_weights,
            ensemble=ensemble,
            scaling=scaling,
            assign=assign,
            fold_in_max_iter=fold_in_max_iter,
            fold_in_tol=fold_in_tol,
            dtype=dtype,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.n_feature_topics = n_feature_topics
        self.feature_topics_init = feature_topics_init

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_feature_topics(self.n_feature_topics, self.feature_topics_init)

    def _feature_topics(self, data: Prepared) -> list[int]:
        return by_view("n_feature_topics", self.n_feature_topics, data.names)

    def _problem(self, data: Prepared, start: Start, rng: np.random.Generator) -> Problem:
        topics = factored_topics(
            start, self.n_feature_topics, data, rng, self.feature_topics_init
        )  # (3)
        return one_mixture(data, topics, start)  # one p(z|d) for all views: (17)

    def _emissions(self, dtype: Any) -> list[Emission]:
        factors = ((self.topic_links_[n], self.feature_topics_[n]) for n in self.view_names_)
        return [FactoredTopics.from_rows(*pair, dtype) for pair in factors]

    def _own_attributes(self, problem: Problem, data: Prepared) -> dict[str, Any]:
        return factor_attributes(problem, data)
