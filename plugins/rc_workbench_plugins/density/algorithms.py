"""Algorithms whose computational density is known, as formulas of the local store `alpha` and the element size `s`.

eta is "the number of operations possible with alpha bytes of data" (Steffen 2007, section 3): the store is filled
once, and all computations possible with just that data are done. `operations` (Z) and `problem_bytes` (M) of a whole
problem are formulas of its size `n`; with them rho is held at Z/M once the store takes the problem in.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.api.models import COUNT, NOT_NEGATIVE, SHARE, Domain


@dataclass(frozen=True)
class Algorithm:
    """A known algorithm. `inputs` are its parameters and their defaults; n, the problem's size, has none. `domains` say
    what values they may take: whole numbers from 1 unless said."""

    title: str
    operation: str
    eta: str
    operations: str
    problem_bytes: str
    source: str
    inputs: Mapping[str, float] = field(default_factory=dict)
    shares: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()

    @property
    def domains(self) -> Mapping[str, Domain]:
        others = dict.fromkeys(self.shares, SHARE) | dict.fromkeys(self.sizes, NOT_NEGATIVE)
        return dict.fromkeys(("n", *self.inputs), COUNT) | others


ALGORITHMS: Mapping[str, Algorithm] = {
    "dot_product": Algorithm(
        "Dot product",
        "multiply-add",
        "alpha / (2 * s)",
        "n",
        "2 * n * s",
        "Steffen, Eq. 3: alpha holds n pairs of operands, each used once, so rho is 1/(2s) whatever alpha is.",
    ),
    "matrix_multiply": Algorithm(
        "Matrix multiply",
        "multiply-add",
        "(alpha / (2 * s)) ** 1.5",
        "n ** 3",
        "2 * n ** 2 * s",
        "Steffen, Eq. 4: alpha = 2 n^2 s holds a block of each operand, n^3 multiply-adds are possible with them (the "
        "paper's n^2 (n - 1) is erratum S6).",
    ),
    "all_to_all": Algorithm(
        "All-to-all interaction",
        "interaction",
        "alpha ** 2 / (2 * s ** 2)",
        "n * (n - 1) / 2",
        "n * s",
        "Steffen, Eq. 5: alpha = n s holds n points with about n^2/2 pairs; n (n - 1) / 2 exactly (erratum S5).",
    ),
    "fft": Algorithm(
        "FFT, radix 2",
        "butterfly",
        "alpha / (2 * s) * log2(max(alpha / s, 1))",
        "n / 2 * log2(n)",
        "n * s",
        "alpha holds w = alpha/s complex points: a transform of w points is w/2 log2(w) butterflies. Blocks of w "
        "points take log(n)/log(w) passes over the data, optimal up to a factor (Hong and Kung, STOC 1981).",
    ),
    "stencil_2d": Algorithm(
        "2-D stencil, repeated",
        "point update",
        "(alpha / s) ** 1.5 / (6 * radius)",
        "n ** 2 * steps",
        "n ** 2 * s",
        "alpha holds a tile of w x w points. Each step can update the points whose neighbours within `radius` are "
        "known: the sum over t of (w - 2 radius t)^2 is about w^3 / (6 radius).",
        {"radius": 1, "steps": 1},
    ),
    "stencil_3d": Algorithm(
        "3-D stencil, repeated",
        "point update",
        "(alpha / s) ** (4 / 3) / (8 * radius)",
        "n ** 3 * steps",
        "n ** 3 * s",
        "As in two dimensions, with a cube of w^3 points: the sum over t of (w - 2 radius t)^3 is about "
        "w^4 / (8 radius).",
        {"radius": 1, "steps": 1},
    ),
    "sort": Algorithm(
        "Sort by comparison",
        "comparison",
        "alpha / s * log2(max(alpha / s, 1))",
        "n * log2(n)",
        "n * s",
        "alpha holds w = alpha/s keys, sorted or merged w ways with w log2(w) comparisons; a whole sort takes "
        "log(n)/log(w) such passes (Aggarwal and Vitter, CACM 31(9), 1988).",
    ),
    "sparse_matrix_vector": Algorithm(
        "Sparse matrix times vector",
        "multiply-add",
        "density * ((sqrt(s ** 2 + 4 * density * (s + index_bytes) * alpha) - s)"
        " / (2 * density * (s + index_bytes))) ** 2",
        "density * n ** 2",
        "density * n ** 2 * (s + index_bytes) + n * s",
        "alpha holds a block of w columns and rows: density w^2 entries, each a value of s bytes and its index, and w "
        "elements of the vector. Solving density w^2 (s + index_bytes) + w s = alpha for w gives eta = density w^2; "
        "rho rises to 1/(s + index_bytes), since an entry is used once.",
        {"index_bytes": 4, "density": 0.01},
        shares=("density",),
        sizes=("index_bytes",),
    ),
    "convolution": Algorithm(
        "2-D convolution",
        "multiply-add",
        "taps ** 2 * max(sqrt(max(alpha / s - taps ** 2, 0)) - taps + 1, 0) ** 2",
        "taps ** 2 * (n - taps + 1) ** 2",
        "(n ** 2 + taps ** 2) * s",
        "alpha holds the filter of taps x taps and a tile of w x w points, which give (w - taps + 1)^2 results of "
        "taps^2 multiply-adds each; rho rises to taps^2/s.",
        {"taps": 3},
    ),
}
