"""Models with a penalty, whose strength is given or chosen without labels."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview.base import BaseViewsModel
from coview.em.prepared import Prepared
from coview.strength import StrengthPath, path_of
from coview.views.container import Views


class PenalizedModel(BaseViewsModel):
    """A model whose parameter `strength` may be "auto".

    The strength of a fit is `data.strength`, in `_prepare_training` of a model and after it; in the
    fitted model it is `strength_`.
    """

    strength: Any
    strength_: Any
    _usual_strength: float  # the middle of the path of strengths that "auto" tries

    def _prepare_training(
        self, views: Views, labels: Any, rng: np.random.Generator
    ) -> tuple[Prepared, dict[str, Any]]:
        data, learned = super()._prepare_training(views, labels, rng)
        strength, path = self.strength, None
        if isinstance(strength, str):
            path = path_of(self, data, None, rng)
            strength = path.chosen
        learned |= {"strength_": strength, "strength_path_": path}
        return replace(data, strength=strength), learned

    def _strength_path(
        self, X: Any, labels: Any, strengths: Sequence[float] | None, rng: np.random.Generator
    ) -> StrengthPath:
        """Return the path of `coview.strength_path`, which checks the model."""
        self._check_parameters()
        views = self._training_views(X)
        return path_of(self, super()._prepare_training(views, labels, rng)[0], strengths, rng)

    def _given_graphs(self, n_docs: int) -> dict[str, sp.csr_array]:
        """Return graphs that were given as parameters, by name."""
        return {}

    def _with_graphs(self, graphs: dict[str, sp.csr_array]) -> dict[str, Any]:
        """Return the parameters by which a model takes these graphs instead."""
        return {}
