"""Writes the golden files of the current format: run once when `FORMAT_VERSION` goes up.

    python tests/golden/write.py

An existing folder is never overwritten: what a released version wrote must stay readable.
"""

import json
from pathlib import Path

import numpy as np

from coview import LinkPLSA, TopicClassifier
from coview.datasets import make_views
from coview.models import MODEL_NAMES, ONE_VIEW, model_class
from coview.store import FORMAT_VERSION


def main() -> None:
    folder = Path(__file__).parent / f"format_{FORMAT_VERSION}"
    folder.mkdir()
    views = make_views(24, 2, [8, 6], random_state=1, missing=0.1)
    for name in MODEL_NAMES:
        data = views.concat() if name in ONE_VIEW else views
        model = model_class(name)(2, random_state=0, max_iter=10, tol=0)
        write(folder / name, model.fit(data), data[:5])
    classifier = TopicClassifier(LinkPLSA(random_state=0, max_iter=10, tol=0))
    write(
        folder / "classifier", classifier.fit(views, np.array(["a", "b"])[views.labels]), views[:5]
    )


def write(stem: Path, model, views) -> None:
    model.save(stem.with_suffix(".coview"))
    expected = {
        "class": type(model).__name__,
        "views": {name: matrix.toarray().tolist() for name, matrix in views.matrices.items()},
        "transform": model.predict_proba(views).tolist(),
        "predict": model.predict(views).tolist(),
    }
    stem.with_suffix(".json").write_text(json.dumps(expected))


if __name__ == "__main__":
    main()
