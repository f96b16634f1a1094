r"""PLSA: probabilistic latent semantic analysis (Hofmann, 1999).

Model. A document d is a mixture of topics z, a topic a distribution over words w:

    p(w | d) = sum_z  p(w | z)  p(z | d)                                       (1)

Objective (to be maximized; p(d), whose estimate is constant, is left out)

    L = sum_{d,w}  n(d, w)  log p(w | d)                                       (2)

Updates. With the ratio  r(d,w) = n(d,w) / p(w|d)  of the E-step,

    p(w|z)  ∝  p(w|z)  sum_d  r(d,w) p(z|d)                                     (3)
    p(z|d)  ∝  p(z|d)  sum_w  r(d,w) p(w|z)                                     (4)

both from the same old parameters: this is EM, and L never falls. The equations are numbered here.

In the code: the ratio and the sums are in `kernels.sweep`; (2) is `em.step.Values.objective`; (3)
is `em.emissions.Topics.m_step`; (4) is `em.penalties.base.Penalty.m_step`.
"""

import numpy as np

from coview.base import BaseViewsModel
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.starts import Start
from coview.models._shared import free_topics, one_mixture


class PLSA(BaseViewsModel):
    """Probabilistic latent semantic analysis of one view.

    Parameters
    ----------
    %(common_parameters)s

    Attributes
    ----------
    %(common_attributes)s

    See Also
    --------
    LinkPLSA : the same for several views that share a document's mixture.
    DualPLSA : topics that share feature topics.

    Notes
    -----
    `as_published` is plain EM from random topics. Hofmann's tempered EM is not implemented. The
    paper leaves open how topics are drawn (here the corpus distribution, perturbed; mixtures
    uniform) and when to stop.

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
    _streams = True

    def _problem(self, data: Prepared, start: Start, rng: np.random.Generator) -> Problem:
        return one_mixture(data, free_topics(start, data), start)
