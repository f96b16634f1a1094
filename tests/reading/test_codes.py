"""What codes are called: visual words by captions and pictures."""

import numpy as np
import pytest

from coview import PLSA, LinkPLSA, Views, load
from coview.inspection import read_for_display
from coview.reading.codes import recipes_with_titles
from coview.reading.images import ImageWordsRecipe
from coview.reporting import summarize_topics
from tests.cli.command import working

QUICK = {"init": "random", "max_iter": 10, "tol": 0.0, "random_state": 0}
COUNTS = np.array([[9, 1, 0], [8, 0, 1], [0, 7, 0], [1, 9, 0], [0, 0, 0]])
CAPTIONS = ["sea sand", "sea", "cat", "cat paw", "cat sea"]


def pictures(**parts):
    recipe = ImageWordsRecipe("image", np.eye(3, 128, dtype=np.float32))
    features = {"image": recipe.features}
    return Views({"image": COUNTS}, features=features, recipes={"image": recipe}, **parts)


def with_captions():
    own = pictures(ids=["a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg"])
    text = Views.from_texts({"caption": CAPTIONS}, languages=None)
    return Views(
        {**own.matrices, **text.matrices},
        ids=own.ids,
        features={**own.features, **text.features},
        recipes={**own.recipes, **text.recipes},
    )


def test_visual_words_are_called_by_captions_and_pictures():
    titles = recipes_with_titles(with_captions())["image"].titles
    assert titles[0] == "word 0: sea, sand (as in a.jpg, b.jpg, d.jpg)"
    assert titles[1].startswith("word 1: cat, paw (as in c.jpg, d.jpg, a.jpg")


def test_without_captions_they_are_called_by_pictures_alone():
    titles = recipes_with_titles(pictures(ids=list("abcde")))["image"].titles
    assert titles == ("word 0: as in a, b, d", "word 1: as in c, d, a", "word 2: as in b")
    numbered = recipes_with_titles(pictures())["image"].titles
    assert numbered[2] == "word 2: as in document 1"


def test_the_first_two_words_follow_the_naive_score():
    """Relevance .6 of terms by how many documents of a code have them, by explicit loops."""
    views = with_captions()
    has = views["caption"].toarray() > 0
    shares = COUNTS / np.maximum(COUNTS.sum(axis=1, keepdims=True), 1)
    names = views.features["caption"]
    for code in range(2):
        meets = np.array([sum(shares[d, code] * has[d, w] for d in range(5)) for w in range(4)])
        p, p_w = meets / meets.sum(), has.sum(axis=0) / has.sum()
        with np.errstate(divide="ignore"):
            score = 0.6 * np.log(p) + 0.4 * np.log(p / p_w)
        best = ", ".join(names[np.argsort(-score, kind="stable")[:2]])
        assert recipes_with_titles(views)["image"].titles[code].startswith(f"word {code}: {best} (")


def test_titles_are_shown_and_kept_but_the_names_of_features_stay(tmp_path):
    views = with_captions()
    model = LinkPLSA(2, **QUICK).fit(views)
    assert model.feature_names_["image"].tolist() == ["word_0000", "word_0001", "word_0002"]
    titles = model.recipes_["image"].titles
    shown = {term for terms in model.top_terms(3)["image"] for term in terms}
    assert shown <= set(titles)
    assert not views.recipes["image"].titles  # the views are as they were
    model.save(tmp_path / "m.coview")
    assert load(tmp_path / "m.coview").recipes_["image"].titles == titles
    assert read_for_display(tmp_path / "m.coview").recipes_["image"].titles == titles
    assert summarize_topics(load(tmp_path / "m.coview"), 3) == summarize_topics(model, 3)
    assert "; word" in working("topics", tmp_path / "m.coview", "--json") or "as in" in working(
        "topics", tmp_path / "m.coview"
    )


def test_views_without_codes_keep_their_recipes():
    views = Views.from_texts({"en": ["the cat", "the dog"]})
    assert recipes_with_titles(views)["en"] is views.recipes["en"]
    model = PLSA(1, **QUICK).fit(Views([[1, 2], [2, 1]]))
    assert model.recipes_ == {"X": None}


@pytest.mark.parametrize("titles", [["a"], "abc", [1, 2, 3]])
def test_titles_of_a_damaged_file_are_refused(titles):
    settings, arrays = ImageWordsRecipe("image", np.eye(3, 128, dtype=np.float32)).as_data()
    with pytest.raises(ValueError, match="titles"):
        ImageWordsRecipe.from_data({**settings, "titles": titles}, arrays, np.arange(3))
