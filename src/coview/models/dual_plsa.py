r"""DualPLSA: document clusters over feature topics (Yoo & Choi, 2009; Zhuang et al., 2012).

Model. A document d is a mixture of clusters z, a cluster a mixture of feature topics y, a feature
topic a distribution over words w:

    p(w | d) = sum_z sum_y  p(w | y)  p(y | z)  p(z | d)                       (1)

Objective (to be maximized)

    L = sum_{d,w}  n(d, w)  log p(w | d)                                       (2)

Updates. With the ratio  r(d,w) = n(d,w) / p(w|d),

    p(w|y)  ∝  p(w|y)  sum_z p(y|z)  sum_d r(d,w) p(z|d)                         (3)
    p(y|z)  ∝  p(y|z)  sum_w p(w|y)  sum_d r(d,w) p(z|d)                         (4)
    p(z|d)  ∝  p(z|d)  sum_w r(d,w)  sum_y p(w|y) p(y|z)                         (5)

The equations are numbered here; (1) is Eq. 2 of Zhuang et al. without p(d). The inner sum over d is
the gradient that PLSA needs as well, so the extra factor costs two small dense products and no
further pass over the data. With as many feature topics as clusters, or more, the likelihoods that
can be reached are those of PLSA; only the path of EM differs.

In the code: (3), (4) are `em.emissions.FactoredTopics.m_step`; (5) is
`em.penalties.base.Penalty.m_step`.
"""

from typing import Any, Literal

import numpy as np

from coview.base import BaseViewsModel
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.starts import Start
from coview.models._shared import (
    check_feature_topics,
    factor_attributes,
    factored_topics,
    one_mixture,
)
from coview.models.mvplsa import MVPLSA
from coview.params import by_view, check_int


class DualPLSA(BaseViewsModel):
    """PLSA of one view with feature topics between clusters and words.

    Parameters
    ----------
    n_feature_topics : int, default=20
        Feature topics, of which the topics are mixtures.
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
    PLSA : without feature topics.

    Notes
    -----
    `as_published` is the model as Zhuang et al. (2012) run it: 150 iterations, 128 feature topics
    (20 Newsgroups; 12 on WebKB), which begin at random, mixtures at the clusters of k-means or,
    with labels, at naive Bayes. Left open is how clusters that are 0 or 1 can change in EM, which
    never leaves a 0: here they are smoothed.

    References
    ----------
    F. Zhuang, G. Karypis, X. Ning, Q. He, Z. Shi. Multi-view learning via probabilistic latent
    semantic analysis. Information Sciences, 2012.

    Examples
    --------
    >>> from coview import DualPLSA
    >>> counts = [[4, 2, 0, 0], [3, 3, 0, 1], [0, 0, 5, 2], [0, 1, 2, 4]]
    >>> model = DualPLSA(n_components=2, n_feature_topics=3, random_state=0).fit(counts)
    >>> model.topic_links_["X"].shape, model.feature_topics_["X"].shape
    ((2, 3), (3, 4))
    """

    _one_view = True
    _published = MVPLSA._published

    def __init__(
        self,
        n_components: int = 10,
        n_feature_topics: int = 20,
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
        check_int("n_feature_topics", self.n_feature_topics, 1)
        check_feature_topics(self.n_feature_topics, self.feature_topics_init)

    def _feature_topics(self, data: Prepared) -> list[int]:
        return by_view("n_feature_topics", self.n_feature_topics, data.names)

    def _problem(self, data: Prepared, start: Start, rng: np.random.Generator) -> Problem:
        topics = factored_topics(start, self.n_feature_topics, data, rng, self.feature_topics_init)
        return one_mixture(data, topics, start)

    def _own_attributes(self, problem: Problem, data: Prepared) -> dict[str, Any]:
        return factor_attributes(problem, data)
