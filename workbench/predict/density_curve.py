"""The density of a model by memory size, as a curve."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.api.predictions import Layer, LayerModel
from workbench.model.diagnostic import WorkbenchError
from workbench.predict.formulas import Evaluation

_POINTS = 240
_SIZES_BYTES = [1e3, 1e6]  # of a model without layers


def rho_curve(
    of: LayerModel, values: Evaluation, layers: Sequence[Layer], least_bytes: float | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Memory sizes (bytes) around those of some layers, and the operations per byte at each. It begins at `least_bytes`
    where this is given and below the layers; at the smallest layer where the density has no value below it."""
    sizes_bytes = [float(layer.layer_bytes) for layer in layers] or _SIZES_BYTES
    smallest = min(sizes_bytes)
    least = smallest / 300 if least_bytes is None else min(least_bytes, smallest)
    alphas = np.geomspace(least, max(sizes_bytes) * 30, _POINTS)
    try:
        densities = of.rho(values, alphas)
    except WorkbenchError:  # a store that holds no element
        alphas = alphas[alphas >= smallest]
        densities = of.rho(values, alphas)
    return alphas, np.broadcast_to(np.asarray(densities, float), alphas.shape)
