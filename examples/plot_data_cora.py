"""
Cora: words and citations
=========================

2,708 papers on machine learning, each seen as the words of its abstract and as the papers that it cites. What do citations add to words?
"""

import matplotlib.pyplot as plt

import coview
from coview import PLSA
from coview.datasets import load_cora
from coview.metrics import nmi_max

views = load_cora()
print(views)
print(coview.view_reliability(views, 7))

# %%
# Each view by itself, both, and what ``auto`` makes of them.

models = {name: PLSA(7, random_state=0).fit(views.select(name)) for name in views.names}
models["both"] = coview.auto(views, 7, verbose=False)
scores = {name: 100 * nmi_max(views.labels, m.labels_) for name, m in models.items()}

fig, ax = plt.subplots(figsize=(5.2, 2.2), layout="constrained")
bars = ax.barh(
    list(scores), list(scores.values()), color=["#56B4E9", "#E69F00", "#0072B2"], height=0.6
)
ax.bar_label(bars, fmt="%.0f", padding=3)
ax.set_xlabel("NMI with the fields, %")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
