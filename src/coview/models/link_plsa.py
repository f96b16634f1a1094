r"""LinkPLSA: several views that share each document's mixture (Cohn & Hofmann, 2001).

Model. A document d has one mixture over topics z, whatever the view v; a topic has a distribution
over the terms of each view:

    p(w | d, v) = sum_z  p(w | z, v)  p(z | d)                                  (1)

Objective (to be maximized), with a weight alpha_v for each view,

    L = sum_v alpha_v sum_{d,w}  n_v(d, w)  log p(w | d, v)                     (2)

Updates. With the ratio  r(d,w,v) = n_v(d,w) / p(w|d,v),

    p(w|z,v)  ∝  p(w|z,v)  sum_d  r(d,w,v) p(z|d)                               (3)
    p(z|d)    ∝  p(z|d)    sum_v alpha_v sum_w  r(d,w,v) p(w|z,v)               (4)

The equations are numbered here. A document that lacks a view has no counts there, so the view drops
out of its sum in (4). This is not PLSA on concatenated views, where the share of each view in a
topic is a free parameter.

In the code: (3) is `em.emissions.Topics.m_step` of each view; all views share one slot, in which
`em.step.sweep_block` adds up their counts for (4), `em.penalties.base.Penalty.m_step`.
"""

import numpy as np

from coview.base import BaseViewsModel
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.starts import Start
from coview.models._shared import free_topics, one_mixture


class LinkPLSA(BaseViewsModel):
    """Topics over several views that share the mixture of each document.

    Parameters
    ----------
    %(common_parameters)s

    Attributes
    ----------
    %(common_attributes)s

    See Also
    --------
    PLSA : one view.

    Notes
    -----
    `as_published` is the model as Wang et al. (2016) compare with it: every view has weight 1, on
    documents normalized to one token a view, which is yours to do
    (`sklearn.preprocessing.normalize` with norm="l1"). The paper itself has a weight alpha of words
    against links, tuned on each collection: `view_weights`. Left open are the start and when to
    stop.

    References
    ----------
    D. Cohn, T. Hofmann. The missing link: a probabilistic model of document content and hypertext
    connectivity. NIPS 2001.

    Examples
    --------
    >>> from coview import LinkPLSA, Views
    >>> views = Views({
    ...     "words": [[4, 2, 0, 0], [3, 3, 0, 1], [0, 0, 5, 2], [0, 1, 2, 4]],
    ...     "links": [[2, 0], [3, 0], [0, 0], [0, 4]],
    ... })
    >>> model = LinkPLSA(n_components=2, random_state=0).fit(views)
    >>> sorted(model.components_)
    ['links', 'words']
    >>> int(model.predict({"links": [[0, 7]]})[0]) == int(model.labels_[3])
    True
    """

    _streams = True

    def _problem(self, data: Prepared, start: Start, rng: np.random.Generator) -> Problem:
        return one_mixture(data, free_topics(start, data), start)  # one p(z|d): (4)
