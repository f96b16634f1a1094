"""The models on the papers' datasets, where COVIEW_DATA has them."""

import numpy as np
import pytest

from coview import MGGM, DivergenceCoPLSA, LinkPLSA, Views
from coview.metrics import clustering_accuracy, normalized_mutual_info

VIEWS = {
    "mfeat": ["pix", "fou", "fac", "zer", "mor"],
    "reuters1200": None,
    "cora": ["content", "cites"],
    "webkb_cornell": ["content", "cites"],
    "webkb_washington": ["content", "cites"],
    "wikipedia": ["text_words", "image_sift128"],
}


def load(folder, name):
    return Views.load(folder / name, views=VIEWS[name])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:10 topics, but fewer terms")  # view mor has six columns
def test_mggm_with_its_defaults_finds_the_digits(papers_data):
    views = load(papers_data, "mfeat")
    for seed in (0, 1, 2):  # most views cannot tell 6 from 9
        model = MGGM(10, random_state=seed).fit(views)
        assert clustering_accuracy(views.labels, model.labels_) >= 0.95
        assert normalized_mutual_info(views.labels, model.labels_) >= 0.90


@pytest.mark.slow
@pytest.mark.parametrize("name", ["reuters1200", "cora", "wikipedia"])
def test_link_plsa_with_its_defaults_beats_a_random_start(papers_data, name):
    views = load(papers_data, name)
    n_classes = len(np.unique(views.labels))
    found = LinkPLSA(n_classes, random_state=0).fit(views)
    random = LinkPLSA(n_classes, random_state=0, init="random").fit(views)
    nmi = normalized_mutual_info(views.labels, found.labels_)
    assert nmi > normalized_mutual_info(views.labels, random.labels_)
    assert nmi > 0.3


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("divergence", ["skl", "l2", "l1"])
@pytest.mark.slow
def test_divergence_coplsa_rises_on_every_dataset(papers_data, name, divergence):
    views = load(papers_data, name)
    model = DivergenceCoPLSA(
        5, divergence=divergence, strength=0.3, init="kmeans", random_state=0, max_iter=5, tol=0.0
    ).fit(views)
    values = [model.trace_.start_objective, *model.trace_.objective]
    assert (np.diff(values) > -1e-6 * abs(values[-1])).all()
    for mixture in model.view_doc_topic_.values():
        np.testing.assert_allclose(mixture.sum(axis=1), 1, rtol=1e-4)
