"""How each library is run: as its users do, watched after each pass, its own stopping switched off.

A method is a class: `__init__(corpus, n_topics, seed)` brings the corpus (scipy.sparse.csr_matrix
of counts) into the form that the library wants, which is not timed, and `fit(observer)` is.
Libraries are imported in `__init__`, since each environment has one of them. Peers run until the
observer ends them, coview until it stops by itself.
"""

import tempfile
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np

FOREVER = 100_000


class Coview:
    """coview's PLSA with all defaults, the start and the work after the last pass included."""

    options: ClassVar = {}

    def __init__(self, corpus, n_topics, seed):
        from coview import PLSA

        self.corpus = corpus
        self.model = PLSA(n_topics, random_state=seed, n_jobs=1, **self.options)

    def fit(self, observer):
        """Fit until it stops by itself."""
        from coview.em.restarts import FitCallbacks

        # not `fit(on_iteration=...)`: that copies the mixtures after each pass
        passes = 0

        def after_iteration(callbacks, attributes):
            nonlocal passes
            if callbacks._about["estimator"] is self.model:
                passes += 1
                observer.after(passes, lambda: first(attributes()["components_"]))
            return False

        FitCallbacks.after_iteration = after_iteration
        self.model.fit(self.corpus)
        observer.end(first(self.model.components_))


class CoviewRandom(Coview):
    """The same from random topics."""

    options: ClassVar = {"init": "random"}


def first(components):
    """Return the topics of the only view."""
    return next(iter(components.values())) if isinstance(components, dict) else components


class SklearnNMF:
    """scikit-learn's NMF with the Kullback-Leibler loss: the objective of PLSA."""

    def __init__(self, corpus, n_topics, seed):
        from sklearn.decomposition import NMF

        self.corpus = corpus.astype(np.float32)  # halves its time and memory
        loss = {"beta_loss": "kullback-leibler", "solver": "mu", "tol": 0.0}
        self.model = NMF(n_topics, init="random", max_iter=FOREVER, random_state=seed, **loss)

    def fit(self, observer):
        """Fit, watched where H is updated."""
        from sklearn.decomposition import _nmf

        update, passes = _nmf._multiplicative_update_h, 0

        def watched(*args, **kwargs):
            nonlocal passes
            h = update(*args, **kwargs)
            passes += 1
            observer.after(passes, lambda: h)
            return h

        _nmf._multiplicative_update_h = watched
        try:
            self.model.fit(self.corpus)
        finally:
            _nmf._multiplicative_update_h = update


class SklearnLDA:
    """scikit-learn's variational LDA."""

    options: ClassVar = {"learning_method": "batch"}

    def __init__(self, corpus, n_topics, seed):
        from sklearn.decomposition import LatentDirichletAllocation

        self.corpus = corpus.astype(np.float32)
        self.model = LatentDirichletAllocation(
            n_topics, max_iter=FOREVER, random_state=seed, **self.options
        )

    def fit(self, observer):
        """Fit, watched after each step: a pass, or a mini-batch."""
        step, done = self.model._em_step, 0

        def watched(X, *args, **kwargs):
            nonlocal done
            step(X, *args, **kwargs)
            done += X.shape[0]
            observer.after(done / self.corpus.shape[0], lambda: self.model.components_)

        self.model._em_step = watched
        self.model.fit(self.corpus)


class SklearnLDAOnline(SklearnLDA):
    """The same in mini-batches."""

    options: ClassVar = {"learning_method": "online"}


class Gensim:
    """gensim's LdaModel, on one core."""

    def __init__(self, corpus, n_topics, seed):
        self.n_terms, self.n_topics, self.seed = corpus.shape[1], n_topics, seed
        ends = pairwise(corpus.indptr)
        indices, data = corpus.indices.tolist(), corpus.data.tolist()
        self.corpus = [list(zip(indices[a:b], data[a:b], strict=True)) for a, b in ends]

    def fit(self, observer):
        """Fit, watched after each chunk of documents."""
        from gensim.models import LdaModel

        n_docs, done = len(self.corpus), 0

        class Watched(LdaModel):
            def do_mstep(self, rho, other, extra_pass=False):
                nonlocal done
                done += other.numdocs
                super().do_mstep(rho, other, extra_pass)
                observer.after(done / n_docs, self.get_topics)

        words = {i: str(i) for i in range(self.n_terms)}
        options = {"id2word": words, "num_topics": self.n_topics, "random_state": self.seed}
        Watched(self.corpus, passes=FOREVER, eval_every=None, **options)


class Tomotopy:
    """tomotopy's LDA: a collapsed Gibbs sampler in C++."""

    def __init__(self, corpus, n_topics, seed):
        import tomotopy

        self.n_terms = corpus.shape[1]
        self.model = tomotopy.LDAModel(k=n_topics, seed=seed)
        for a, b in pairwise(corpus.indptr):
            words = np.repeat(corpus.indices[a:b], corpus.data[a:b].astype(int))
            if len(words):
                self.model.add_doc([str(w) for w in words])

    def fit(self, observer):
        """Sweep."""
        passes = 0
        while True:
            n = observer.next_passes(passes)
            self.model.train(n, workers=1)
            passes += n
            observer.after(passes, self.topics)

    def topics(self):
        """Return p(w|z) with terms in the corpus's order."""
        found = np.zeros((self.model.k, self.n_terms))
        words = np.array([int(w) for w in self.model.used_vocabs])
        for topic in range(self.model.k):
            found[topic, words] = self.model.get_topic_word_dist(topic)
        return found


class Enstop:
    """enstop's PLSA, in numba: its E-step and its M-step, as its `plsa_fit_inner` calls them."""

    def __init__(self, corpus, n_topics, seed):
        import enstop.plsa

        self.plsa = enstop.plsa
        self.corpus, self.n_topics, self.seed = corpus, n_topics, seed

    def fit(self, observer):
        """Fit without its tests of convergence, which would sweep more often."""
        random = np.random.RandomState(self.seed)
        theta, phi = self.plsa.plsa_init(self.corpus, self.n_topics, init="random", rng=random)
        theta, phi = theta.astype(np.float32, order="C"), phi.astype(np.float32, order="C")
        x = self.corpus.tocoo().astype(np.float32)
        posterior = np.zeros((x.nnz, self.n_topics), dtype=np.float32)
        norm_w = np.zeros(self.n_topics, dtype=np.float32)
        norm_d = np.zeros(theta.shape[0], dtype=np.float32)
        triplets, threshold, passes = (x.row, x.col, x.data), np.float32(1e-32), 0
        while True:
            self.plsa.plsa_e_step(*triplets, phi, theta, posterior, threshold)
            self.plsa.plsa_m_step(*triplets, phi, theta, posterior, norm_w, norm_d)
            passes += 1
            observer.after(passes, lambda: phi)


class BigARTM:
    """BigARTM without regularizers, which is PLSA, offline; its batches are on disk."""

    def __init__(self, corpus, n_topics, seed):
        import artm

        self.folder = tempfile.TemporaryDirectory()
        place = Path(self.folder.name)
        with open(place / "docword.corpus.txt", "w") as out:
            out.write(f"{corpus.shape[0]}\n{corpus.shape[1]}\n{corpus.nnz}\n")
            for row, (a, b) in enumerate(pairwise(corpus.indptr), start=1):
                pairs = zip(corpus.indices[a:b] + 1, corpus.data[a:b], strict=True)
                out.writelines(f"{row} {term} {count:.0f}\n" for term, count in pairs)
        words = "\n".join(f"w{i}" for i in range(corpus.shape[1]))
        (place / "vocab.corpus.txt").write_text(words)
        self.batches = artm.BatchVectorizer(
            data_path=str(place),
            data_format="bow_uci",
            collection_name="corpus",
            target_folder=str(place / "batches"),
        )
        self.n_terms = corpus.shape[1]
        self.model = artm.ARTM(num_topics=n_topics, num_processors=1, seed=seed, cache_theta=False)

    def fit(self, observer):
        """Fit by passes over the whole collection."""
        self.model.initialize(dictionary=self.batches.dictionary)
        passes = 0
        while True:
            n = observer.next_passes(passes)
            self.model.fit_offline(self.batches, num_collection_passes=n)
            passes += n
            observer.after(passes, self.topics)

    def topics(self):
        """Return p(w|z) with terms in the corpus's order."""
        phi, tokens, _ = self.model.get_phi_dense()
        found = np.zeros((phi.shape[1], self.n_terms))
        found[:, [int(word[1:]) for _, word in tokens]] = phi.T  # (class, word)
        return found


METHODS = {
    "coview": Coview,
    "coview-random": CoviewRandom,
    "nmf": SklearnNMF,
    "lda": SklearnLDA,
    "lda-online": SklearnLDAOnline,
    "gensim": Gensim,
    "tomotopy": Tomotopy,
    "enstop": Enstop,
    "bigartm": BigARTM,
}
