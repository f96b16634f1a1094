"""The penalty on disagreeing views and its step against a solver that knows no closed form."""

import numpy as np
import pytest

from coview.em.loop import fold_in
from coview.em.penalties.base import Penalty
from coview.em.penalties.divergence import DivergenceAgreement
from coview.em.simplex import limits, pad_topics, row_normalize
from coview.em.step import em_step
from tests.planted import make_case, serial, stochastic
from tests.reference import divergence_coplsa as reference

N_DOCS, N_TOPICS = 6, 4

divergences = pytest.mark.parametrize("divergence", reference.DIVERGENCES)
n_views = pytest.mark.parametrize("n_views", [2, 3, 4])
strengths = pytest.mark.parametrize("strength", [1e-3, 0.1, 0.5, 3.0, 1e3])  # of the counts
zeros = pytest.mark.parametrize("zeros", [False, True])
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


class Setting:
    """Counts and old mixtures of a few documents, as m_step gets them."""

    def __init__(self, rng, n_views=2, n_docs=N_DOCS, n_topics=N_TOPICS, zeros=False, absent=False):
        self.thetas = tuple(stochastic(rng, n_docs, n_topics) for _ in range(n_views))
        common = 5 * stochastic(rng, n_docs, n_topics) + 0.2
        self.counts = tuple(
            rng.gamma(common) * rng.uniform(5, 50, (n_docs, 1)) for _ in range(n_views)
        )
        self.present = np.ones((n_docs, n_views), bool)
        if absent:
            self.present[np.arange(n_docs) % 3 == 1, 0] = False
            self.present[np.arange(n_docs) % 3 == 2, -1] = False
            for v, c in enumerate(self.counts):
                c[~self.present[:, v]] = 0
        if zeros:
            for v, c in enumerate(self.counts):
                c[np.arange(n_docs), (np.arange(n_docs) + v) % n_topics] = 0
                c[::2, 1] = 0  # a topic that no view has

    @property
    def mass(self):
        return sum(c.sum(axis=1) for c in self.counts)

    def penalty(self, divergence, strength=1.0):
        return DivergenceAgreement(divergence, strength * self.mass)

    def m_step(self, penalty, dtype=np.float64, pinned=None):
        counts = tuple(c.astype(dtype) for c in self.counts)
        thetas = tuple(t.astype(dtype) for t in self.thetas)
        return penalty.m_step(counts, thetas, self.present, pinned)

    def document(self, d, arrays):
        return np.array([a[d] for a in arrays], dtype=float)

    def values(self, penalty, thetas):
        """F of each document; shares of 0 as the penalty takes them."""
        kept = [np.maximum(t, limits(np.float64).tiny) for t in thetas]
        values = []
        for d, lam in enumerate(penalty.strengths):
            counts, rows = self.document(d, self.counts), self.document(d, kept)
            known = lam, penalty.divergence, self.present[d]
            values.append(reference.document_value(counts, rows, *known))
        return np.array(values)

    def best(self, penalty):
        """The mixtures that the reference finds, brought to sum one exactly."""
        rows = [
            reference.joint_step(self.document(d, self.counts), lam, penalty.divergence)
            for d, lam in enumerate(penalty.strengths)
        ]
        rows = np.array(rows).transpose(1, 0, 2)
        return tuple(rows / rows.sum(axis=2, keepdims=True))


def on_simplex(thetas, atol=1e-12):
    for theta in thetas:
        assert (theta >= 0).all()
        np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=0, atol=atol)


def equal(ones, others):
    for a, b in zip(ones, others, strict=True):
        np.testing.assert_array_equal(a, b)


def close(ones, others, atol):
    for a, b in zip(ones, others, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=atol)


# --- the value -------------------------------------------------------------------------------


@divergences
@n_views
@pytest.mark.parametrize("absent", [False, True])
def test_the_value_is_the_sum_over_present_pairs(rng, divergence, n_views, absent):
    setting = Setting(rng, n_views, absent=absent)
    penalty = setting.penalty(divergence)
    expected = sum(
        reference.penalty(setting.document(d, setting.thetas), lam, divergence, setting.present[d])
        for d, lam in enumerate(penalty.strengths)
    )
    assert penalty.value(setting.thetas, setting.present) == pytest.approx(expected, rel=1e-12)


@divergences
def test_the_value_is_zero_where_views_agree(rng, divergence):
    setting = Setting(rng, 3)
    agreeing = (setting.thetas[0],) * 3
    assert setting.penalty(divergence).value(agreeing, setting.present) == 0


@divergences
@dtypes
def test_the_value_of_shares_of_zero_is_finite(rng, divergence, dtype):
    setting = Setting(rng)
    thetas = tuple(np.eye(N_TOPICS, dtype=dtype)[np.arange(N_DOCS) % (3 + v)] for v in range(2))
    assert 0 < setting.penalty(divergence).value(thetas, setting.present) < np.inf


# --- the step --------------------------------------------------------------------------------


@divergences
@n_views
@strengths
@zeros
def test_the_step_is_the_joint_maximum(rng, divergence, n_views, strength, zeros):
    setting = Setting(rng, n_views, n_docs=3, zeros=zeros)
    penalty = setting.penalty(divergence, strength)
    new, best = setting.m_step(penalty), setting.best(penalty)
    on_simplex(new)
    short = setting.values(penalty, best) - setting.values(penalty, new)
    assert (short <= 1e-12 * (setting.mass + penalty.strengths)).all()
    if not (zeros and divergence == "l1"):  # where several points can be best
        close(new, best, atol=1e-10 * max(1, strength))


@divergences
@n_views
@strengths
@zeros
@dtypes
def test_the_step_never_lowers_the_objective(rng, divergence, n_views, strength, zeros, dtype):
    setting = Setting(rng, n_views, n_docs=40, zeros=zeros, absent=True)
    penalty = setting.penalty(divergence, strength)
    before = setting.values(penalty, setting.thetas)
    for _ in range(3):
        setting.thetas = setting.m_step(penalty, dtype)
        after = setting.values(penalty, setting.thetas)
        slack = 0 if dtype == np.float64 else 1e-6 * setting.mass  # of the counts
        assert (after >= before - 1e-13 * np.abs(after) - slack).all()
        before = after


@divergences
@dtypes
def test_no_strength_is_the_plain_step_to_the_bit(rng, divergence, dtype):
    setting = Setting(rng, 3, zeros=True, absent=True)
    pinned = np.arange(N_DOCS) == 3
    plain = setting.m_step(Penalty(), dtype, pinned)
    equal(setting.m_step(DivergenceAgreement(divergence, np.zeros(N_DOCS)), dtype, pinned), plain)


@divergences
def test_documents_without_strength_take_the_plain_step_among_others(rng, divergence):
    setting = Setting(rng)
    lam = setting.mass * (np.arange(N_DOCS) % 2)
    new = setting.m_step(DivergenceAgreement(divergence, lam))
    plain = setting.m_step(Penalty())
    for a, b in zip(new, plain, strict=True):
        np.testing.assert_array_equal(a[::2], b[::2])
        assert (a[1::2] != b[1::2]).any(axis=1).all()


@divergences
@pytest.mark.parametrize("strength", [1e5, 1e8, 1e12, 1e100])
@dtypes
def test_a_large_strength_makes_the_step_of_a_shared_mixture(rng, divergence, strength, dtype):
    setting = Setting(rng, 3, zeros=True)
    shared = row_normalize(sum(setting.counts), setting.thetas[0])
    close(setting.m_step(setting.penalty(divergence, strength), dtype), (shared,) * 3, atol=1e-3)


def test_l1_agrees_exactly_from_the_mean_mass_of_a_view_on(rng):
    setting = Setting(rng, 3, zeros=True)
    shared = row_normalize(sum(setting.counts), setting.thetas[0])
    new = setting.m_step(setting.penalty("l1", 1 / 3))
    equal(new[1:], (new[0],) * 2)
    close(new, (shared,) * 3, atol=1e-14)


@divergences
@pytest.mark.parametrize("strength", [1e-9, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_the_scale_of_the_counts_plays_no_part(rng, divergence, strength, scale):
    setting = Setting(rng, 3, zeros=True)
    new = setting.m_step(setting.penalty(divergence, strength))
    setting.counts = tuple(scale * c for c in setting.counts)
    close(setting.m_step(setting.penalty(divergence, strength)), new, atol=1e-9)


@divergences
def test_a_present_view_without_counts_follows_the_other(rng, divergence):
    setting = Setting(rng)
    setting.counts[1][:] = 0
    new = setting.m_step(setting.penalty(divergence, 0.3))
    plain = row_normalize(setting.counts[0].copy(), setting.thetas[0])
    close(new, (plain, plain), atol=1e-10)


@divergences
@strengths
@pytest.mark.parametrize("n_empty", [1, 2])
def test_views_without_counts_pull_at_the_others(rng, divergence, strength, n_empty):
    setting = Setting(rng, 4, n_docs=2)
    for c in setting.counts[:n_empty]:
        c[:] = 0
    penalty = setting.penalty(divergence, strength)
    new, best = setting.m_step(penalty), setting.best(penalty)
    on_simplex(new)
    short = setting.values(penalty, best) - setting.values(penalty, new)
    assert (short <= 1e-12 * (setting.mass + penalty.strengths)).all()
    if divergence != "l1":
        close(new, best, atol=1e-6)


@divergences
def test_a_document_without_counts_or_without_views_keeps_its_mixtures(rng, divergence):
    setting = Setting(rng, 3, absent=True)
    setting.present[0] = False
    for c in setting.counts:
        c[:2] = 0
    new = setting.m_step(DivergenceAgreement(divergence, np.ones(N_DOCS)))
    equal([n[:2] for n in new], [t[:2] for t in setting.thetas])


@divergences
def test_pinned_documents_keep_their_mixtures(rng, divergence):
    setting = Setting(rng, 3, absent=True)
    pinned = np.arange(N_DOCS) % 2 == 0
    new = setting.m_step(setting.penalty(divergence), pinned=pinned)
    equal([n[pinned] for n in new], [t[pinned] for t in setting.thetas])
    free = setting.m_step(setting.penalty(divergence))
    equal([n[~pinned] for n in new], [f[~pinned] for f in free])


@divergences
@dtypes
def test_old_shares_of_zero_do_no_harm(rng, divergence, dtype):
    setting = Setting(rng)
    new = setting.m_step(setting.penalty(divergence), dtype)
    setting.thetas = tuple(np.eye(N_TOPICS)[np.arange(N_DOCS) % (2 + v)] for v in range(2))
    equal(setting.m_step(setting.penalty(divergence), dtype), new)


@dtypes
def test_a_topic_without_counts_gets_the_least_share_with_skl_and_none_otherwise(rng, dtype):
    setting = Setting(rng, zeros=True)
    for divergence, least in [("skl", limits(dtype).tiny), ("l2", 0), ("l1", 0)]:
        for theta in setting.m_step(setting.penalty(divergence), dtype):
            np.testing.assert_array_equal(theta[::2, 1], dtype(least))


@divergences
@pytest.mark.parametrize("smallest", [1e-12, 1e-60, 1e-300])
def test_tiny_counts_do_no_harm(rng, divergence, smallest):
    setting = Setting(rng, 3, n_docs=2, n_topics=8)
    for v, c in enumerate(setting.counts):
        c[:, v : v + 4] *= smallest
    penalty = setting.penalty(divergence, 0.05)
    new, best = setting.m_step(penalty), setting.best(penalty)
    on_simplex(new)
    short = setting.values(penalty, best) - setting.values(penalty, new)
    assert (short <= 1e-12 * setting.mass).all()


# --- absent views ----------------------------------------------------------------------------


@divergences
@n_views
def test_an_absent_view_gets_what_is_closest_to_the_present_ones(rng, divergence, n_views):
    setting = Setting(rng, n_views, absent=True)
    new = setting.m_step(setting.penalty(divergence, 0.05))
    on_simplex(new)
    for d in np.flatnonzero(~setting.present.all(axis=1)):
        rows, here = setting.document(d, new), setting.present[d]
        filled = reference.fill_absent(rows, 1.0, divergence, here)
        for v in np.flatnonzero(~here):
            apart = [
                sum(reference.divergence(r[v], rows[w], divergence) for w in np.flatnonzero(here))
                for r in (rows, filled)
            ]
            assert apart[0] <= apart[1] + 1e-10
            if divergence != "l1":
                np.testing.assert_allclose(rows[v], filled[v], rtol=0, atol=1e-6)


@divergences
@dtypes
def test_one_present_view_takes_the_plain_step_and_the_others_copy_it(rng, divergence, dtype):
    setting = Setting(rng, 3)
    setting.present[:] = [False, True, False]
    plain = setting.m_step(Penalty(), dtype)[1]
    for v in (0, 2):
        setting.counts[v][:] = 0
    new = setting.m_step(setting.penalty(divergence), dtype)
    equal(new, (plain,) * 3)


@divergences
@dtypes
def test_a_document_does_not_depend_on_its_neighbors(rng, divergence, dtype):
    setting = Setting(rng, 3, n_docs=300, zeros=True, absent=True)
    penalty = setting.penalty(divergence, 0.05)
    together = setting.m_step(penalty, dtype)
    some = np.array([1, 5, 17, 256, 299])
    few = Setting(rng, 3)
    few.counts = tuple(c[some] for c in setting.counts)
    few.thetas = tuple(t[some] for t in setting.thetas)
    few.present = setting.present[some]
    equal(few.m_step(penalty.at(some), dtype), [t[some] for t in together])


@divergences
@dtypes
def test_padded_arrays_give_the_same_bits(rng, divergence, dtype):
    setting = Setting(rng, 3, n_docs=50, zeros=True, absent=True)
    penalty = setting.penalty(divergence, 0.05)
    padded = [
        tuple(pad_topics(a, dtype)[:, :N_TOPICS] for a in arrays)
        for arrays in (setting.counts, setting.thetas)
    ]
    equal(penalty.m_step(*padded, setting.present, None), setting.m_step(penalty, dtype))


@divergences
@strengths
def test_single_precision_is_close_to_double(rng, divergence, strength):
    setting = Setting(rng, 3, n_docs=50)
    penalty = setting.penalty(divergence, strength)
    single, double = (setting.m_step(penalty, t) for t in (np.float32, np.float64))
    assert all(s.dtype == np.float32 for s in single)
    on_simplex(single, atol=1e-6)
    close(single, double, atol=1e-6)


# --- in the engine ---------------------------------------------------------------------------


def problem_of(case, penalty, nonzeros=None, dtype=np.float64):
    n = len(case.Xs)
    thetas = tuple(pad_topics(case.theta, dtype) for _ in range(n))
    return case.problem(nonzeros, dtype, thetas=thetas, slots=tuple(range(n)), penalty=penalty)


def strengths_of(case, strength):
    return strength * sum(w * X.sum(axis=1) for w, X in zip(case.weights, case.Xs, strict=True))


@divergences
@pytest.mark.parametrize("widths", [(9, 7), (9, 7, 8)])
@pytest.mark.parametrize("strength", [0.03, 0.3, 30.0])
@pytest.mark.parametrize(("pins", "absent"), [(False, False), (True, True)])
def test_ten_iterations_are_those_of_the_reference(rng, divergence, widths, strength, pins, absent):
    case = make_case(rng, widths, n_docs=8, pins=pins, absent=absent)
    lam = strengths_of(case, strength)
    start = case.Xs, [case.theta] * len(widths), case.p_w_zs, 10, lam[:, None, None], divergence
    expected, values = reference.divergence_coplsa(*start, case.weights, case.present, case.pinned)
    problem = problem_of(case, DivergenceAgreement(divergence, lam), nonzeros=20)
    for (thetas, p_w_zs), value in zip(expected, values[1:], strict=True):
        for update in ("emissions", "thetas"):
            problem = em_step(problem, serial, update).problem
        now = em_step(problem, serial, "nothing").values
        assert now.objective == pytest.approx(value, rel=1e-11)
        for v, (theta, p_w_z) in enumerate(zip(thetas, p_w_zs, strict=True)):
            here = case.Xs[v].any(axis=1)  # without counts the reference is less exact
            close([problem.mixtures[v][here]], [theta[here]], atol=1e-9)
            close([problem.emissions[v].by_term[:, : problem.n_topics].T], [p_w_z], atol=1e-9)


@divergences
@dtypes
def test_new_documents_that_lack_views_are_folded_in(rng, divergence, dtype):
    case = make_case(rng, (9, 7, 8), absent=True)
    case.present[3:5] = [[True, False, False], [False, False, False]]
    for v, X in enumerate(case.Xs):
        X[~case.present[:, v]] = 0
    penalty = DivergenceAgreement(divergence, strengths_of(case, 0.2))
    done = fold_in(problem_of(case, penalty, nonzeros=25, dtype=dtype), serial, 40, 1e-4)
    on_simplex(done.mixtures, atol=1e-6 if dtype == np.float32 else 1e-12)
    close([m[3] for m in done.mixtures[1:]], [done.mixtures[0][3]] * 2, atol=1e-6)
    equal([m[4] for m in done.mixtures], [case.theta[4].astype(dtype)] * 3)
