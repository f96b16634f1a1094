"""Baselines on the papers' datasets, where COVIEW_DATA has them."""

import numpy as np

from coview import Views
from coview.baselines import BASELINES
from coview.metrics import clustering_accuracy, mean_average_precision, similarity


def test_spectral_clustering_finds_the_digits(papers_data):
    views = Views.load(papers_data / "mfeat", views=["pix", "fou", "fac", "zer", "mor"])
    found = BASELINES["spectral"](10, 0).fit_predict(views)
    assert clustering_accuracy(views.labels, found) > 0.95


def test_co_training_beats_naive_bayes_on_course_pages(papers_data):
    views = Views.load(papers_data / "webkb_cornell", views=["content", "cites"])
    links = views["cites"] + views["cites"].T
    course = (views.labels == views.label_names.index("course")).astype(int)
    views = Views({"content": views["content"], "links": links})
    right = {"nb-ensemble": [], "cotraining": []}
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(views))
        taught = np.concatenate([order[course[order] == 1][:2], order[course[order] == 0][:6]])
        few = np.full(len(views), -1)
        few[taught] = course[taught]
        for name, values in right.items():
            found = BASELINES[name](2, seed).fit(views, few).labels_
            values.append((found == course).mean())
    assert np.mean(right["cotraining"]) > np.mean(right["nb-ensemble"]) > 0.75


def test_semantic_matching_searches_pictures_with_text(papers_data):
    views = Views.load(papers_data / "wikipedia", views=["text_words", "image_sift128"])
    is_test = np.load(papers_data / "wikipedia" / "is_test.npy").astype(bool)
    train, test = views[~is_test], views[is_test]
    model = BASELINES["scm"](10, 0).fit(train, train.labels)
    text, image = (model.transform({n: test[n]}) for n in test.names)
    center = tuple(model.means_[n] for n in test.names)
    scores = similarity(text, image, metric="correlation", center=center)
    chance = mean_average_precision(scores[::-1], test.labels, test.labels)
    assert mean_average_precision(scores, test.labels, test.labels) > 0.2 > 1.5 * chance
