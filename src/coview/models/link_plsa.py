r"""LinkPLSA: several views that share each document's mixture (Cohn & Hofmann, 2001).

Model. A document d has one mixture over topics z, whatever the view v; a topic has a distribution
over the terms of each view:

    p(w | d, v) = sum_z  p(w | z, v)  p(z | d)

Objective (to be maximized), with a weight alpha_v for each view,

    L = sum_v alpha_v sum_{d,w}  n_v(d, w)  log p(w | d, v)

Updates. With the ratio  r(d,w,v) = n_v(d,w) / p(w|d,v),

    p(w|z,v)  ∝  p(w|z,v)  sum_d  r(d,w,v) p(z|d)                               (1)
    p(z|d)    ∝  p(z|d)    sum_v alpha_v sum_w  r(d,w,v) p(w|z,v)               (2)

A document that lacks a view has no count there, so the view drops out of its sum in (2). Not the
same as PLSA on concatenated views, where the share of each view in a topic is a free parameter.

Where the code is: the one slot in `_problem` makes the kernel add the views' counts for (2); (1) is
`Topics.m_step` of each view.
"""

import numpy as np

from coview.base import BaseViewsModel
from coview.em.emissions import Topics
from coview.em.prepared import Prepared
from coview.em.problem import Problem
from coview.em.starts import Start


class LinkPLSA(BaseViewsModel):
    """Topics over several views, with one mixture a document.

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
    PLSA : one view.

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

    def _problem(self, data: Prepared, start: Start, rng: np.random.Generator) -> Problem:
        topics = (Topics.from_rows(p, data.dtype) for p in start.p_w_z)
        return Problem.of(data, topics, thetas=(start.theta,), slots=(0,) * len(data.names))
