"""
Reuters in five languages: where the languages disagree
=======================================================

1,200 news stories in five languages (machine translations). Each language is folded in alone; how far do they put a story in different topics, beyond
what short texts do by chance?
"""

import matplotlib.pyplot as plt
import numpy as np

import coview
from coview.datasets import load_reuters1200

views = load_reuters1200()
print(views)
model = coview.auto(views, 6, verbose=False)
report = coview.report(model, views)
for sentence in report.sentences.values():
    print(sentence)

# %%
# How much of what its own topics explain of a language is lost with the topics of another language? The shorter a text, the more by chance alone: documents
# drawn from the model, with the same lengths and one mixture for all languages, lose some as well.

found = report.disagreement
known = np.isfinite(found.beyond)
fig, ax = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
edges = np.linspace(0, max(found.value[known].max(), found.chance[known].max()), 30)
ax.hist(found.chance[known], edges, color="#BBBBBB", label="by chance")
ax.hist(found.value[known], edges, histtype="step", color="#0072B2", linewidth=2, label="measured")
ax.set_xlabel("share lost with the topics of another language")
ax.set_ylabel("stories")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The stories on which they disagree most are where to look for a wrong translation, or for a story about two things.

print(np.argsort(-np.nan_to_num(found.beyond, nan=-np.inf))[:10])
