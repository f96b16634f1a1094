"""
Hiding 0 to 90 % of a view
==========================

Documents may lack views. How much does a model lose when more and more documents have only one of them? Nothing is imputed: a view that is
not there is in no sum.
"""

import matplotlib.pyplot as plt
import numpy as np

from coview import PLSA, LinkPLSA, Views
from coview.datasets import load_digits_views
from coview.metrics import nmi_max

digits = load_digits_views()
views = digits.select(*digits.names[:2])
print(views)

# %%
# From the second view more and more documents are taken away, at random. What is left of it still helps those that have it, and, through
# the topics, those that do not.


def hidden(views, share, seed):
    """Return the views with the second of them taken away from a share of the documents."""
    present = views.present.copy()
    rows = np.random.default_rng(seed).random(len(views)) < share
    present[rows, 1] = False
    matrices = {name: m.copy() for name, m in views.matrices.items()}
    second = matrices[views.names[1]].tolil()
    second[rows] = 0
    matrices[views.names[1]] = second.tocsr()
    return Views(matrices, present=present)


shares = np.array([0, 0.3, 0.6, 0.9])
seeds = range(3)
scores = np.array(
    [
        [
            100
            * nmi_max(
                digits.labels, LinkPLSA(10, random_state=s).fit(hidden(views, share, s)).labels_
            )
            for s in seeds
        ]
        for share in shares
    ]
)
alone = 100 * nmi_max(
    digits.labels, PLSA(10, random_state=0).fit(views.select(views.names[0])).labels_
)

# %%

fig, ax = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
ax.errorbar(
    100 * shares, scores.mean(axis=1), scores.std(axis=1, ddof=1), color="#0072B2", marker="o"
)
ax.axhline(alone, color="#333333", linestyle="--")
ax.annotate(f"{views.names[0]} alone", (0, alone), xytext=(2, 4), textcoords="offset points")
ax.set_xlabel(f"documents without {views.names[1]}, %")
ax.set_ylabel("NMI with the digits, %")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
