"""
Docstrings and code: search one with the other
==============================================

3,426 functions of installed Python packages, each seen as its docstring and as its code. A model of both finds functions by what they
are for, or explains code by words.
"""

import matplotlib.pyplot as plt
import numpy as np

from coview import LinkPLSA, SearchIndex
from coview.datasets import load_python_api
from coview.metrics import match_ranks

views = load_python_api()
print(views)

# %%
# Two thirds of the functions to fit, one third to search.

order = np.random.default_rng(0).permutation(len(views))
train, test = (
    views[np.sort(order[: len(views) * 2 // 3])],
    views[np.sort(order[len(views) * 2 // 3 :])],
)
model = LinkPLSA(50, random_state=0).fit(train)

for topic, (doc, code) in enumerate(zip(*model.top_terms(5).values(), strict=True)):
    if topic < 5:
        print(f"{topic}: {' '.join(doc):40}  {' '.join(code)}")

# %%
# How far down the list is a function's own code, if it is searched by its docstring? The answers are 1,142 functions that the model
# has not seen.


def ranks(metric):
    known = train if metric == "evidence" else None
    index = SearchIndex(model, in_view="code", views=test, training_views=known, metric=metric)
    queries = test.select("doc")
    found, scores = index.query_many(queries, len(test))
    matrix = np.full((len(test), len(test)), -1.0)
    np.put_along_axis(matrix, found, scores, axis=1)
    return match_ranks(matrix)


fig, ax = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
looks = {
    "hellinger": ("topics", "--", "#E69F00"),
    "evidence": ("all evidence", "-", "#0072B2"),
}
for metric, (name, style, color) in looks.items():
    found = np.sort(ranks(metric))
    ax.plot(found, np.arange(1, len(found) + 1) / len(found), style, color=color, label=name)
ax.set_xscale("log")
ax.set_xlabel("answers looked at")
ax.set_ylabel("share of functions found")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
