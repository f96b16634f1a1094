"""
20newsgroups: words and dense vectors as codes
==============================================

Encoders give each document a dense vector with negative values. As codes (the nearest of some hundred k-means centers) such a vector becomes a view
with terms that can be read: each code is called by the words that go with it. Here the vectors are made from the words themselves (latent
semantic analysis), so that the example needs no encoder; put those of yours in their place.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer

from coview import LinkPLSA, Views
from coview.datasets import load_20newsgroups
from coview.metrics import nmi_max

posts = load_20newsgroups()
groups = np.unique(posts.labels)[::3]
has_words = posts.present[:, 0]
rows = np.concatenate([np.flatnonzero((posts.labels == g) & has_words)[:200] for g in groups])
words = posts[np.sort(rows)]
words = words.select(words.names[0])
print(words)

# %%
# Vectors of 50 numbers, and codes made of them.

tfidf = TfidfTransformer(sublinear_tf=True).fit_transform(words.matrices[words.names[0]])
vectors = TruncatedSVD(50, random_state=0).fit_transform(tfidf)
views = Views.from_embeddings(vectors, views=words)
print(views)

# %%
# A model of both. Codes have names made of words, so its topics can be read in both views.

model = LinkPLSA(len(groups), random_state=0).fit(views)
for topic, (first, codes) in enumerate(zip(*model.top_terms(4).values(), strict=True)):
    print(f"{topic}: {' '.join(first)}\n   {'; '.join(codes[:2])}")

# %%
# Words alone, codes alone, and both, against the groups.

scores = {"both": 100 * nmi_max(words.labels, model.labels_)}
for name in views.names:
    alone = LinkPLSA(len(groups), random_state=0).fit(views.select(name))
    scores[name] = 100 * nmi_max(words.labels, alone.labels_)
fig, ax = plt.subplots(figsize=(5.2, 2.2), layout="constrained")
bars = ax.barh(
    list(scores), list(scores.values()), color=["#0072B2", "#56B4E9", "#E69F00"], height=0.6
)
ax.bar_label(bars, fmt="%.0f", padding=3)
ax.set_xlabel("NMI with the groups, %")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
