"""
Wikipedia: texts and pictures, against canonical correlations
=============================================================

2,866 articles with a picture each. Topics of both are searched: pictures with texts, texts with pictures. Canonical correlation analysis is the
classical alternative; it needs dense features and says nothing that a person can read.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cross_decomposition import CCA
from sklearn.decomposition import TruncatedSVD

from coview import LinkPLSA
from coview.datasets import load_wikipedia
from coview.metrics import mean_average_precision, similarity

views, is_test = load_wikipedia(return_split=True)
train, test = views[np.flatnonzero(~is_test)], views[np.flatnonzero(is_test)]
text, image = views.names
print(views)

# %%
# Topics: each view of the test documents folded in alone, so that no query knows its answer.

model = LinkPLSA(20, random_state=0).fit(train)
topics = {name: model.transform(test.select(name)) for name in views.names}

# %%
# Canonical correlations of the same counts, texts reduced to 100 dimensions first.

reduce = TruncatedSVD(100, random_state=0)
train_text = reduce.fit_transform(np.sqrt(train.matrices[text]))
test_text = reduce.transform(np.sqrt(test.matrices[text]))
dense = {part: np.sqrt(part.matrices[image].toarray()) for part in (train, test)}
cca = CCA(20, max_iter=2000).fit(train_text, dense[train])
projected = dict(zip((text, image), cca.transform(test_text, dense[test]), strict=True))

# %%

scores = {}
for name, found, metric in (("topics", topics, "hellinger"), ("CCA", projected, "cosine")):
    for query, answer in ((text, image), (image, text)):
        matrix = similarity(found[query], found[answer], metric=metric)
        labels = np.asarray(test.labels)
        scores[name, query] = mean_average_precision(matrix, labels, labels)

fig, ax = plt.subplots(figsize=(5.2, 3.0), layout="constrained")
for shift, (name, color) in enumerate((("CCA", "#E69F00"), ("topics", "#0072B2"))):
    values = [scores[name, text], scores[name, image]]
    bars = ax.bar(
        [x + 0.36 * (shift - 0.5) for x in range(2)], values, 0.34, label=name, color=color
    )
    ax.bar_label(bars, fmt="%.2f", padding=2)
ax.set_xticks(range(2), ["asked with text", "asked with image"])
ax.set_ylabel("mean average precision")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
