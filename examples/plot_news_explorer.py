"""
News with gaps: from a table to the explorer
============================================

A table of short news texts in English and German; in some rows one of them is missing. From it to topics, to a report that says whether they
are any good, and to one HTML file to look at: search across languages, where they disagree, and what a missing text would say.
"""

# sphinx_gallery_thumbnail_number = 2

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import coview
from coview import Views
from coview.plot import CoverageDisplay, TermsDisplay

table = Path("news.csv") if Path("news.csv").exists() else Path("examples/news.csv")
views = Views.from_table(table, text=["en", "de"], id="id", label="topic")
print(views)

# %%
# Which texts are there.

CoverageDisplay.from_views(views)
plt.show()

# %%
# ``auto`` chooses a model and says why.

model = coview.auto(views, 6)

# %%
# The topics, in both languages.

report = coview.report(model, views)
TermsDisplay.from_estimator(model, report, n_topics=3, n_terms=6)
plt.show()

# %%
# Is it any good?

for sentence in report.sentences.values():
    print("*", sentence)

# %%
# What would the German text of a document say that has none?

lacking = int((~views.present[:, 1]).argmax())
print(views.ids[lacking])
print(model.predict_terms(views[[lacking]], in_view="de", top=8))

# %%
# The explorer: everything about the model and its documents in one page that needs no network. With a path as second argument it is written to
# a file; in a notebook, and here, it is shown in a frame.

texts = pd.read_csv(table)
model.explore(views, texts={name: texts[name].fillna("").tolist() for name in ("en", "de")})
