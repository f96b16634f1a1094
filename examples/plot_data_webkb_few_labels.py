"""
WebKB: a handful of labels
==========================

Pages of four universities, seen as words and as links, in five classes. How good is a classifier that knows one to ten pages of each class?
"""

import matplotlib.pyplot as plt
import numpy as np

from coview import LinkPLSA, TopicClassifier
from coview.baselines import NaiveBayesViews
from coview.datasets import load_webkb

universities = ("cornell", "texas", "washington", "wisconsin")
pages = {name: load_webkb(name) for name in universities}
print(pages["cornell"])


# %%
# The mean over the universities, each with three draws of labels.


def accuracy(make, views, n_labels, seed):
    """Fit with some labels a class; accuracy on all other pages."""
    y, rng = np.asarray(views.named_labels), np.random.default_rng(seed)
    known = np.concatenate(
        [rng.permutation(np.flatnonzero(y == c))[:n_labels] for c in np.unique(y)]
    )
    given = np.full(len(y), "", dtype=object)  # without a label
    given[known] = y[known]
    rest = given == ""
    model = make(seed).fit(views, given)
    return 100 * np.mean(model.predict(views)[rest] == y[rest])


methods = {
    "topics": (lambda seed: TopicClassifier(LinkPLSA(random_state=seed)), "#0072B2", "o"),
    "naive Bayes": (lambda seed: NaiveBayesViews(), "#E69F00", "s"),
}
counts = [1, 2, 5, 10]
fig, ax = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
for name, (make, color, marker) in methods.items():
    scores = np.array(
        [
            [
                np.mean([accuracy(make, views, n, seed) for views in pages.values()])
                for seed in range(3)
            ]
            for n in counts
        ]
    )
    ax.errorbar(
        counts,
        scores.mean(axis=1),
        scores.std(axis=1, ddof=1) / np.sqrt(3),
        color=color,
        marker=marker,
        label=name,
    )
ax.set_xscale("log")
ax.set_xticks(counts, counts)
ax.set_xlabel("labels of each class")
ax.set_ylabel("accuracy on the other pages, %")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
