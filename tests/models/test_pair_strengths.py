"""A strength for each pair of views: PairwiseCoPLSA and DivergenceCoPLSA."""

import numpy as np
import pytest

from coview import DivergenceCoPLSA, PairwiseCoPLSA, load
from coview.datasets import make_views

FIXED = {"tol": 0.0, "max_iter": 8, "dtype": "float64", "random_state": 0, "init": "random"}
MODELS = [(PairwiseCoPLSA, {}), (DivergenceCoPLSA, {"step": "paper"})]
models = pytest.mark.parametrize(("cls", "options"), MODELS)


@pytest.fixture(scope="module")
def views():
    return make_views(60, 3, {"en": 40, "de": 30, "fr": 20}, missing=0.2, random_state=4)


def every_pair(en_de, en_fr, de_fr):
    return {("en", "de"): en_de, "fr,en": en_fr, ("de", "fr"): de_fr}


@models
def test_equal_strengths_of_all_pairs_are_one_strength(views, cls, options):
    one = cls(3, strength=2.0, **options, **FIXED).fit(views)
    pairs = cls(3, strength=every_pair(2.0, 2.0, 2.0), **options, **FIXED).fit(views)
    np.testing.assert_allclose(pairs.doc_topic_, one.doc_topic_, atol=1e-9)
    assert pairs.objective_ == pytest.approx(one.objective_)


@models
def test_a_pair_left_out_has_no_strength(views, cls, options):
    without = cls(3, strength={("en", "de"): 3.0}, **options, **FIXED).fit(views)
    zero = cls(3, strength=every_pair(3.0, 0.0, 0.0), **options, **FIXED).fit(views)
    np.testing.assert_array_equal(without.doc_topic_, zero.doc_topic_)
    none = cls(3, strength={}, **options, **FIXED).fit(views)
    plain = cls(3, strength=0.0, **options, **FIXED).fit(views)
    np.testing.assert_allclose(none.doc_topic_, plain.doc_topic_, atol=1e-12)


@pytest.mark.parametrize("divergence", ["skl", "l2", "l1"])
def test_only_views_with_a_strength_come_together(views, divergence):
    model = DivergenceCoPLSA(
        3, divergence=divergence, strength={("en", "de"): 20.0}, step="paper", **FIXED
    ).fit(views)
    en, de, fr = (model.view_doc_topic_[name] for name in ("en", "de", "fr"))
    all_views = views.present.all(axis=1)
    assert np.abs(en - de)[all_views].mean() < 0.2 * np.abs(en - fr)[all_views].mean()


@models
def test_a_model_with_strengths_of_pairs_is_saved_and_takes_some_views(
    tmp_path, views, cls, options
):
    model = cls(3, strength=every_pair(1.0, 2.0, 0.5), **options, **FIXED).fit(views)
    model.save(tmp_path / "model.coview")
    again = load(tmp_path / "model.coview")
    assert again.strength == model.strength
    some = views.select("fr", "en")
    np.testing.assert_array_equal(again.transform(some), model.transform(some))
    assert model.transform(views.select("de")).shape == (60, 3)


@models
@pytest.mark.parametrize(
    ("strength", "message"),
    [
        ({("en", "it"): 1.0}, "no pair of two views"),
        ({("en", "en"): 1.0}, "no pair of two views"),
        ({"en": 1.0}, "no pair of two views"),
        ({3: 1.0}, "no pair of two views"),
        ({("en", "de"): 1.0, ("de", "en"): 2.0}, "named twice"),
        ({("en", "de"): -1.0}, r"strength\[\('en', 'de'\)\] must be"),
        ({("en", "de"): "much"}, r"strength\[\('en', 'de'\)\] must be"),
        ("much", "strength must be"),
    ],
)
def test_bad_strengths_of_pairs(views, cls, options, strength, message):
    with pytest.raises(ValueError, match=message):
        cls(3, strength=strength, **options, **FIXED).fit(views)


def test_the_joint_step_has_one_strength(views):
    with pytest.raises(ValueError, match="needs step='paper'"):
        DivergenceCoPLSA(3, strength={("en", "de"): 1.0}).fit(views)
