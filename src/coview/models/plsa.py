r"""PLSA: probabilistic latent semantic analysis (Hofmann, 1999).

Model. A document d is a mixture of topics z, a topic a distribution over words w:

    p(w | d) = sum_z  p(w | z)  p(z | d)                                       (1)

Objective (to be maximized; p(d), whose estimate is constant, is left out)

    L = sum_{d,w}  n(d, w)  log p(w | d)                                       (2)

Updates. With the ratio  r(d,w) = n(d,w) / p(w|d)  of the E-step,

    p(w|z)  ∝  p(w|z)  sum_d  r(d,w) p(z|d)                                     (3)
    p(z|d)  ∝  p(z|d)  sum_w  r(d,w) p(w|z)                                     (4)

both from the same old parameters: this is EM, and L never falls.

Where the code is: the ratio and the two sums are `kernels.sweep`; (3) is `Topics.m_step`, (4) the
`m_step` of an absent `Penalty`.
"""

import numpy as np

from coview.base import BaseViewsModel
from coview.em.emissions import Topics
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.starts import Start


class PLSA(BaseViewsModel):
    """Probabilistic latent semantic analysis of one view.

    Parameters
    ----------
    n_components : int, default=10
        Topics, which are also the clusters of documents.
    init, n_init, max_iter, tol, view_weights, scaling, assign, dtype, random_state, n_jobs, verbose
        As in every model: see :class:`coview.base.BaseViewsModel`.

    Attributes
    ----------
    components_, doc_topic_, view_doc_topic_, labels_, objective_, n_iter_, trace_, ...
        As in every model: see :class:`coview.base.BaseViewsModel`.

    See Also
    --------
    LinkPLSA : the same for several views that share a document's mixture.
    DualPLSA : topics that share feature topics.

    References
    ----------
    T. Hofmann. Probabilistic latent semantic analysis. UAI 1999.

    Examples
    --------
    >>> from coview import PLSA
    >>> counts = [[4, 2, 0, 0], [3, 3, 0, 1], [0, 0, 5, 2], [0, 1, 2, 4]]
    >>> model = PLSA(n_components=2, random_state=0).fit(counts)
    >>> model.predict([[2, 1, 0, 0]]) == model.labels_[0]
    array([ True])
    >>> model.transform(counts).shape
    (4, 2)
    """

    _one_view = True

    def _problem(self, data: Prepared, start: Start, rng: np.random.Generator) -> Problem:
        topics = (Topics.from_rows(p, data.dtype) for p in start.p_w_z)
        return Problem.of(data, topics, thetas=(start.theta,), slots=(0,))
