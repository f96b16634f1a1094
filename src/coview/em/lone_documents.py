"""Folding in of documents that nothing but their own counts and a prior moves.

Most models fold in like that. Then a document needs no step in Python: it is iterated to its end
in one kernel, to the same bits as by `em.loop`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coview.em.penalties.base import Penalty
from coview.em.prepared import Block
from coview.em.problem import Problem
from coview.em.simplex import limits


@dataclass(frozen=True)
class LoneDocuments:
    """The topics of all views below each other, and what the iteration of a document needs."""

    problem: Problem
    by_term: np.ndarray  # (terms of all views, padded topics)
    firsts: np.ndarray  # (views,) row of by_term at which each view begins

    @classmethod
    def of(cls, problem: Problem) -> LoneDocuments | None:
        """Return the documents of a problem, None if something else acts on their mixtures."""
        alone = type(problem.penalty) is Penalty and problem.prior.guess is None
        if not alone or len(problem.thetas) > 1 or problem.pinned is not None:
            return None
        parts = [e.by_term for e in problem.emissions]
        whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
        firsts = np.cumsum([0] + [len(p) for p in parts[:-1]])
        return cls(problem, whole, firsts)

    def fold_in(self, block: Block, max_iter: int, tol: float) -> list[np.ndarray]:
        """Return the mixtures of a block of documents, as `em.loop` finds them."""
        from coview.kernels.fold_in import fold_in_documents

        problem, theta = self.problem, self.problem.thetas[0][block.docs].copy()
        dtype = theta.dtype
        starts, indices, data = self._rows(block)
        fold_in_documents(
            starts,
            indices,
            data,
            self.by_term,
            np.array(problem.weights, dtype),
            dtype.type(limits(dtype).floor),
            float(problem.prior.doc_topic - 1),
            limits(dtype).tiny,
            max_iter,
            float(tol),
            problem.n_topics,
            theta,
        )
        return [theta]

    def _rows(self, block: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows of all views one after the other: where they start, terms, counts."""
        before = np.cumsum([0] + [len(part.data) for part in block.rows[:-1]]).astype(np.uint64)
        pairs = zip(block.rows, before, strict=True)
        starts = np.stack([part.indptr + first for part, first in pairs])
        if len(block.rows) == 1:
            return starts, block.rows[0].indices, block.rows[0].data
        wide = np.uint32 if len(self.by_term) < 2**32 else np.uint64
        shifted = zip(block.rows, self.firsts, strict=True)
        indices = np.concatenate([(part.indices + first).astype(wide) for part, first in shifted])
        data = np.concatenate([part.data for part in block.rows])
        for array in (indices, data):  # read-only, as those of a single view
            array.flags.writeable = False
        return starts, indices, data
