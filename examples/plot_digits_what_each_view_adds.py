"""
Digits: what each view adds
===========================

Handwritten digits are described in five ways: pixels, and profiles, strokes and the like made from them. Is a
model of all views better than the best single one, and which views matter? The answer needs no labels; here there are
labels, to see whether it is right.
"""

# %%
# The data come with scikit-learn.

import matplotlib.pyplot as plt

import coview
from coview import PLSA, LinkPLSA
from coview.datasets import load_digits_views
from coview.metrics import nmi_max

views = load_digits_views()
print(views)

# %%
# Which views can be trusted, without labels: how far clusters by one half of a view's features agree with those by
# the other half, and with those by other views.

reliability = coview.view_reliability(views, 10)
print(reliability)

# %%
# One model for each view alone, one for all of them, and one for all but one.


def score(model):
    return 100 * nmi_max(views.labels, model.labels_)


alone = {
    name: score(PLSA(10, max_iter=500, random_state=0).fit(views.select(name)))
    for name in views.names
}
everything = score(LinkPLSA(10, random_state=0).fit(views))
without = {
    name: score(
        LinkPLSA(10, random_state=0).fit(views.select(*(n for n in views.names if n != name)))
    )
    for name in views.names
}

# %%
# Views that say little alone may still add something to the others; a view whose absence costs nothing is one that
# others replace.

fig, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
places = range(len(views.names))
ax.barh(
    [p + 0.2 for p in places], list(alone.values()), height=0.36, label="alone", color="#0072B2"
)
ax.barh(
    [p - 0.2 for p in places],
    list(without.values()),
    height=0.36,
    label="all others",
    color="#E69F00",
)
ax.axvline(everything, color="#333333", linestyle="--", label="all views")
ax.set_yticks(list(places), views.names)
ax.set_xlabel("NMI with the digits, %")
ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
