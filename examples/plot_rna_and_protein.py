"""
RNA and proteins, there and back
================================

Cells in which RNA and proteins were counted, as a ``MuData`` object: read it, find programs that both share, write them back for
scanpy and muon. The cells are generated, a quarter of them without proteins, so this needs no download.
"""

import anndata
import matplotlib.pyplot as plt
import mudata
import numpy as np

import coview
from coview import Views
from coview.datasets import make_views
from coview.metrics import nmi_max

# %%
# Six kinds of cells, 300 genes, 40 proteins.

planted = make_views(600, 6, {"rna": 300, "prot": 40}, random_state=0)
rna = anndata.AnnData(planted.matrices["rna"].astype(np.float32))
prot = anndata.AnnData(planted.matrices["prot"].astype(np.float32))
rna.obs_names = prot.obs_names = [f"cell{i}" for i in range(600)]
rna.var_names = [f"gene{i}" for i in range(300)]
prot.var_names = [f"protein{i}" for i in range(40)]
has_proteins = np.random.default_rng(0).random(600) > 0.25
data = mudata.MuData({"rna": rna, "prot": prot[has_proteins].copy()})

# %%
# From ``MuData`` to views, to a model, and back.

views = Views.from_mudata(data)
print(views)
model = coview.auto(views, 6, verbose=False)
kinds = planted.labels[[int(name.removeprefix("cell")) for name in views.ids]]
print(f"NMI with the planted kinds: {100 * nmi_max(kinds, model.labels_):.0f} %")

result = coview.to_mudata(model, views)
print(result)

# %%
# Which genes and proteins make a program.

for topic, (genes, proteins) in enumerate(zip(*model.top_terms(4).values(), strict=True)):
    print(f"{topic}: {' '.join(genes):36} {' '.join(proteins)}")

fig, ax = plt.subplots(figsize=(5.2, 3.2), layout="constrained")
cells = np.argsort(kinds, kind="stable")
image = ax.imshow(model.doc_topic_[cells].T, aspect="auto", cmap="cividis", vmin=0, vmax=1)
ax.set_xlabel("cells, sorted by their planted kind")
ax.set_ylabel("program")
fig.colorbar(image, label="share of the cell")
plt.show()
