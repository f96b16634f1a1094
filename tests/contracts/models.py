"""Every model the contracts hold for: a later model joins by adding one line."""

from dataclasses import dataclass

from coview import (
    LTM,
    MGGM,
    MVPLSA,
    PLSA,
    DivergenceCoPLSA,
    DualPLSA,
    LinkPLSA,
    PairwiseCoPLSA,
    VotedPLSA,
)


@dataclass(frozen=True)
class Entry:
    """A model class, what it needs beyond the common parameters, and what it promises."""

    cls: type
    options: tuple = ()
    one_view: bool = False
    monotone: bool = True

    def __call__(self, n_components=3, **params):
        defaults = {"random_state": 0, "dtype": "float64", "tol": 0.0, "max_iter": 12}
        defaults["init"] = "random"  # the quickest
        return self.cls(n_components, **{**defaults, **dict(self.options), **params})

    def __str__(self):
        return self.cls.__name__ + "".join(f"-{v}" for _, v in self.options)


MODELS = [
    Entry(PLSA, one_view=True),
    Entry(DualPLSA, (("n_feature_topics", 4),), one_view=True),
    Entry(LTM, one_view=True, monotone=False),
    Entry(LTM, (("step", "safe"),), one_view=True),
    Entry(LinkPLSA),
    Entry(VotedPLSA),
    Entry(PairwiseCoPLSA, (("pair_fraction", 1.0),)),  # all pairs: a sample depends on the order
    Entry(PairwiseCoPLSA, (("pair_fraction", 1.0), ("step", "paper")), monotone=False),
    Entry(DivergenceCoPLSA, (("divergence", "skl"),)),
    Entry(DivergenceCoPLSA, (("divergence", "l2"),)),
    Entry(DivergenceCoPLSA, (("divergence", "l1"),)),
    Entry(DivergenceCoPLSA, (("divergence", "skl"), ("step", "paper"))),
    Entry(MVPLSA, (("n_feature_topics", 4),)),
    Entry(MGGM, (("n_feature_topics", 4),), monotone=False),
]
