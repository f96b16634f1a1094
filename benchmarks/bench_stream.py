"""Held-out perplexity of streams against one fit of all documents.

    python benchmarks/bench_stream.py [--data generated 20newsgroups reuters1200 wikipedia cora
        python_api] [--models plsa link mvplsa divergence] [--batches 10 50 200] [--epochs 1]
        [--seeds 0 1 2] [--forgetting 1] [--max-iter 3] [--first-docs auto] [--docs 5000] [--learn]

A fifth of the documents is held out. The others are fitted at once, and given to `partial_fit` in
batches, in a random order, one epoch after the other. A row tells the perplexity of held-out words
of both (`model.perplexity`) after an epoch, and by how much the stream's is above that of the fit,
with CPU times. Batches of fewer than 18 documents are left out. Weights of views are balanced and
dense views not scaled, so that both maximize the same; `--learn` leaves them at the model's
defaults. Real data are read from `$COVIEW_DATA`; PLSA gets the first view, and
20newsgroups, which has one, is dealt into two by its columns for the models of several views.
"""

import argparse
import csv
import sys
import time
import warnings
from functools import partial

import numpy as np

from coview.models import model_class

TOPICS = {"generated": 20, "20newsgroups": 20, "reuters1200": 6, "wikipedia": 10}
TOPICS |= {"cora": 7, "python_api": 10}
LEAST_DOCS = 18  # of a batch


def load(name, n_docs):
    from coview import Views
    from coview.datasets import load_dataset, load_python_api, make_views

    if name == "generated":
        views = make_views(6000, 20, [3000, 2000], doc_length=80, missing=0.1, random_state=0)
    elif name == "python_api":
        views = load_python_api()
    else:
        views = load_dataset(name)
    if name == "20newsgroups":
        words = views["words"].tocsc()
        views = Views({"even": words[:, ::2].tocsr(), "odd": words[:, 1::2].tocsr()})
    if name == "wikipedia":
        views = views.select("text_words", "image_sift128")
    order = np.random.default_rng(0).permutation(views.n_docs)
    return views if n_docs is None else views[np.sort(order[:n_docs])]


def split(views, seed):
    """Return training documents in a random order, and held-out ones."""
    order = np.random.default_rng(seed).permutation(views.n_docs)
    n_held = views.n_docs // 5
    return views[order[n_held:]], views[order[:n_held]]


def stream(model, train, n_batches, **options):
    """Give all documents to a model once."""
    for rows in np.array_split(np.arange(train.n_docs), n_batches):
        model.partial_fit(train[rows], **options)


def measured(work):
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def compare(data, name, views, seed, arguments):
    """Yield a row for each number of batches and epochs: a stream against one fit."""
    make, n_topics = model_class(name), TOPICS[data]
    train, held = split(views, seed)
    options = {"random_state": seed, "n_jobs": 1, "init": arguments.init}
    if not arguments.learn:
        options |= {"scaling": None, "view_weights": "balanced"}
    given = {"forgetting": arguments.forgetting, "max_iter": arguments.max_iter}
    given |= {"first_docs": arguments.first_docs}
    fitted, fit_cpu = measured(lambda: make(n_topics, **options).fit(train))
    best = fitted.perplexity(held)
    for n_batches in arguments.batches:
        if train.n_docs < LEAST_DOCS * n_batches:
            continue
        model, cpu = make(n_topics, **options), 0.0
        for epoch in range(1, arguments.epochs + 1):
            learn = partial(stream, model, train, n_batches, **given)
            cpu += measured(learn)[1]
            found = model.perplexity(held)
            yield {
                "data": data,
                "model": name,
                "seed": seed,
                "batches": n_batches,
                "epochs": epoch,
                "fit": round(best, 2),
                "stream": round(found, 2),
                "above": f"{found / best - 1:+.2%}",
                "fit_cpu": round(fit_cpu, 1),
                "stream_cpu": round(cpu, 1),
            }


def load_single(data, views):
    return views.concat() if data == "20newsgroups" else views.select(views.names[0])


def _number_or_auto(text):
    return text if text == "auto" else int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(TOPICS))
    names = ["plsa", "link", "mvplsa", "divergence"]
    parser.add_argument("--models", nargs="+", default=names)
    parser.add_argument("--batches", type=int, nargs="+", default=[10, 50, 200])
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--docs", type=int, help="at most so many documents of each data set")
    parser.add_argument("--forgetting", type=float, default=1.0)
    parser.add_argument("--max-iter", type=int, default=3)
    parser.add_argument("--first-docs", type=_number_or_auto, default="auto")
    parser.add_argument("--learn", action="store_true", help="weights of views and scaling, too")
    parser.add_argument("--init", default="auto")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    writer = None
    for data in arguments.data:
        views = load(data, arguments.docs)
        for name in arguments.models:
            own = load_single(data, views) if name == "plsa" else views
            for seed in arguments.seeds:
                for row in compare(data, name, own, seed, arguments):
                    if writer is None:
                        writer = csv.DictWriter(sys.stdout, list(row))
                        writer.writeheader()
                    writer.writerow(row)
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
