"""The one list of operators that are claimed to be native on the device.

A claim names an OpInfo of torch's `op_db` ("add", or "name.variant" such as
"div.floor_rounding") and the dtypes that it holds for; of these, it holds for
the ones that the CPU's operator supports. A claim is a promise that the
operator gives the CPU's results, forward and backward, in-place and with
`out=` where torch has them, without a CPU round trip. test_claims.py checks
every one of them; docs/operators.md shows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch

FLOATS = (torch.float32, torch.float16, torch.bfloat16)
INTS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
BOOL = (torch.bool,)
NUMERIC = FLOATS + INTS
INTEGRAL = INTS + BOOL
ALL = NUMERIC + BOOL


@dataclass(frozen=True)
class Claim:
    name: str
    dtypes: tuple[torch.dtype, ...]
    # Why the backward pass is not claimed.
    forward_only: str = ""
    # Why values cannot be compared (random numbers, uninitialised memory);
    # shapes, dtypes, strides and the absence of fallbacks still are.
    structure_only: str = ""


CLAIMS: dict[str, Claim] = {}


def claim(
    name: str,
    dtypes: Iterable[torch.dtype],
    *,
    forward_only: str = "",
    structure_only: str = "",
) -> None:
    if name in CLAIMS:
        raise ValueError(f"{name} is claimed twice")
    CLAIMS[name] = Claim(name, tuple(dtypes), forward_only, structure_only)


# create, copy
claim("clone", ALL)
claim("contiguous", ALL)
claim("empty", ALL, structure_only="uninitialised memory")
claim("empty_like", ALL, structure_only="uninitialised memory")
claim("empty_strided", ALL, structure_only="uninitialised memory")
claim("empty_permuted", ALL, structure_only="uninitialised memory")
claim("new_empty", ALL, structure_only="uninitialised memory")
claim("new_empty_strided", ALL, structure_only="uninitialised memory")
claim("zeros", ALL)
claim("zeros_like", ALL)
claim("new_zeros", ALL)
claim("ones", ALL)
claim("ones_like", ALL)
claim("new_ones", ALL)
claim("full", ALL)
claim("full_like", ALL)
claim("new_full", ALL)
claim("fill", ALL)
claim("zero_", ALL)
claim("resize_", ALL, structure_only="uninitialised memory")
claim("resize_as_", ALL)
claim("scalar_tensor", ALL)
claim("item", ALL)
claim("bfloat16", ALL)
claim("bool", ALL)
claim("byte", ALL)
claim("char", ALL)
claim("float", ALL)
claim("half", ALL)
claim("int", ALL)
claim("long", ALL)
claim("short", ALL)
claim("as_strided", ALL)
claim("as_strided.partial_views", ALL)

# pointwise
claim("add", ALL)
claim("__rsub__", NUMERIC)
claim("rsub", NUMERIC)
claim("sub", NUMERIC)
claim("mul", ALL)
claim("div.no_rounding_mode", ALL)
claim("div.trunc_rounding", NUMERIC)
claim("div.floor_rounding", NUMERIC)
claim("true_divide", ALL)
claim("remainder", NUMERIC)
claim("fmod", NUMERIC)
claim("neg", NUMERIC)
claim("positive", NUMERIC)
claim("pow", NUMERIC)
claim("__radd__", ALL)
claim("__rmul__", ALL)
claim("__rdiv__", ALL)
claim("__rmod__", NUMERIC)
claim("__rpow__", NUMERIC)
claim("sqrt", ALL)
claim("rsqrt", ALL)
claim("reciprocal", ALL)
claim("square", ALL)
claim("abs", NUMERIC)
claim("sign", ALL)
claim("sgn", ALL)
claim("signbit", ALL)
claim("copysign", ALL)
claim("exp", ALL)
claim("exp2", ALL)
claim("expm1", ALL)
claim("log", ALL)
claim("log2", ALL)
claim("log10", ALL)
claim("log1p", ALL)
claim("sin", ALL)
claim("cos", ALL)
claim("tan", ALL)
claim("asin", ALL)
claim("acos", ALL)
claim("atan", ALL)
claim("atan2", ALL)
claim("sinh", ALL)
claim("cosh", ALL)
claim("tanh", ALL)
claim("asinh", ALL)
claim("acosh", ALL)
claim("atanh", ALL)
claim("sigmoid", ALL)
claim("erf", ALL)
claim("erfc", ALL)
claim("erfinv", ALL)
claim("lgamma", ALL)
claim("hypot", FLOATS)
claim("clamp", NUMERIC)
claim("clamp_min", NUMERIC)
claim("clamp_max", NUMERIC)
claim("round", NUMERIC)
claim("floor", NUMERIC)
claim("ceil", NUMERIC)
claim("trunc", NUMERIC)
claim("frac", FLOATS)
claim("minimum", ALL)
claim("maximum", ALL)
claim("min.binary", ALL)
claim("max.binary", ALL)
claim("fmin", ALL)
claim("fmax", ALL)
claim("where", ALL)
claim("masked_fill", ALL)
claim("lerp", FLOATS)
claim("addcmul", NUMERIC)
claim("addcdiv", FLOATS)
claim("isnan", ALL)
claim("isinf", ALL)
claim("isfinite", ALL)
claim("isposinf", ALL)
claim("isneginf", ALL)
claim("isreal", ALL)
claim("isclose", ALL)
claim("deg2rad", ALL)
claim("logit", ALL)
claim("xlogy", ALL)
claim("special.xlog1py", ALL)
claim("rad2deg", ALL)

# activation
claim("nn.functional.relu", NUMERIC)
claim("nn.functional.relu6", NUMERIC)
claim("nn.functional.leaky_relu", FLOATS)
claim("nn.functional.prelu", FLOATS)
claim("nn.functional.elu", FLOATS)
claim("nn.functional.celu", FLOATS)
claim("nn.functional.selu", FLOATS)
claim("nn.functional.gelu", FLOATS)
claim("nn.functional.silu", FLOATS)
claim("nn.functional.mish", FLOATS)
claim("nn.functional.glu", FLOATS)
claim("nn.functional.softplus", FLOATS)
claim("nn.functional.softsign", NUMERIC)
claim("nn.functional.softshrink", FLOATS)
claim("nn.functional.logsigmoid", FLOATS)
claim("nn.functional.threshold", NUMERIC)
claim("nn.functional.hardtanh", NUMERIC)
claim("nn.functional.hardswish", FLOATS)
claim("nn.functional.hardsigmoid", FLOATS)
claim("nn.functional.hardshrink", FLOATS)
claim("nn.functional.tanhshrink", NUMERIC)

# compare, logic, bits
claim("eq", ALL)
claim("ne", ALL)
claim("lt", ALL)
claim("le", ALL)
claim("gt", ALL)
claim("ge", ALL)
claim("logical_and", ALL)
claim("logical_or", ALL)
claim("logical_xor", ALL)
claim("logical_not", ALL)
claim("bitwise_and", INTEGRAL)
claim("bitwise_or", INTEGRAL)
claim("bitwise_xor", INTEGRAL)
claim("bitwise_not", INTEGRAL)
claim("bitwise_left_shift", INTS)
claim("bitwise_right_shift", INTS)
claim("__rand__", INTEGRAL)
claim("__ror__", INTEGRAL)
claim("__rxor__", INTEGRAL)
claim("any", ALL)
claim("all", ALL)
claim("equal", ALL)

# reduce, scan, sort
claim("sum", ALL)
claim("nansum", ALL)
claim("mean", FLOATS)
claim("nanmean", FLOATS)
claim("prod", ALL)
claim("amax", ALL)
claim("amin", ALL)
claim("aminmax", ALL)
claim("max.reduction_no_dim", ALL)
claim("max.reduction_with_dim", ALL)
claim("min.reduction_no_dim", ALL)
claim("min.reduction_with_dim", ALL)
claim("argmax", NUMERIC)
claim("argmin", NUMERIC)
claim("var", FLOATS)
claim("var.unbiased", FLOATS)
claim("std", FLOATS)
claim("std.unbiased", FLOATS)
claim("var_mean", FLOATS)
claim("var_mean.unbiased", FLOATS)
claim("std_mean", FLOATS)
claim("std_mean.unbiased", FLOATS)
claim("norm", FLOATS)
claim("norm.fro", FLOATS)
claim("norm.inf", FLOATS)
claim("linalg.vector_norm", FLOATS)
claim("logsumexp", ALL)
claim("cumsum", NUMERIC)
claim("cumprod", NUMERIC)
claim("cummax", ALL)
claim("cummin", ALL)
claim("count_nonzero", ALL)
claim("sum_to_size", ALL)

# shape, index
claim("view", ALL)
claim("view_as", ALL)
claim("reshape", ALL)
claim("reshape_as", ALL)
claim("flatten", ALL)
claim("unflatten", ALL)
claim("ravel", ALL)
claim("permute", ALL)
claim("transpose", ALL)
claim("t", ALL)
claim("T", ALL)
claim("mT", ALL)
claim("movedim", ALL)
claim("unsqueeze", ALL)
claim("squeeze", ALL)
claim("squeeze.multiple", ALL)
claim("split", ALL)
claim("split.list_args", ALL)
claim("split_with_sizes", ALL)
claim("chunk", ALL)
claim("tensor_split", ALL)
claim("unbind", ALL)
claim("slice", ALL)
claim("select", ALL)
claim("narrow", ALL)
claim("expand", ALL)
claim("expand_as", ALL)
claim("broadcast_to", ALL)
claim("broadcast_tensors", ALL)
claim("repeat", ALL)
claim("tile", ALL)
claim("unfold", ALL)
claim("diagonal", ALL)
claim("diag_embed", ALL)
claim("diag", ALL)
claim("nn.functional.pad.constant", ALL)
claim("constant_pad_nd", ALL)
claim("nn.functional.pad.circular", ALL)
claim("atleast_1d", ALL)
claim("atleast_2d", ALL)
claim("atleast_3d", ALL)
claim("meshgrid.variadic_tensors", ALL)
claim("meshgrid.list_of_tensors", ALL)
claim("select_scatter", ALL)
claim("slice_scatter", ALL)
claim("diagonal_scatter", ALL)

# linear algebra, attention
claim("mm", NUMERIC)
claim("addmm", NUMERIC)
claim("addmm.decomposed", NUMERIC)
claim("bmm", NUMERIC)
claim("baddbmm", NUMERIC)
claim("addbmm", NUMERIC)
claim("matmul", NUMERIC)
claim("__rmatmul__", NUMERIC)
claim("nn.functional.linear", NUMERIC)
claim("nn.functional.bilinear", NUMERIC)
claim("dot", NUMERIC)
claim("vdot", NUMERIC)
claim("mv", NUMERIC)
claim("addmv", NUMERIC)
claim("outer", ALL)
claim("addr", ALL)
claim("inner", NUMERIC)
claim("kron", ALL)
claim("einsum", NUMERIC)
claim("tensordot", NUMERIC)
claim("linalg.vecdot", FLOATS)
claim("linalg.multi_dot", NUMERIC)

# normalise, loss
claim("softmax", FLOATS)
claim("log_softmax", FLOATS)
claim("nn.functional.softmin", FLOATS)
claim("nn.functional.layer_norm", FLOATS)
# Its statistics are float32 for every dtype, as on CUDA; the CPU rounds them.
claim("native_layer_norm", (torch.float32,))
claim("nn.functional.rms_norm", FLOATS)
claim("nn.functional.group_norm", FLOATS)
claim("native_group_norm", FLOATS)
claim("nn.functional.normalize", FLOATS)
claim("nn.functional.cosine_similarity", FLOATS)
claim("nn.functional.l1_loss", FLOATS)
claim("nn.functional.mse_loss", FLOATS)
claim("nn.functional.smooth_l1_loss", FLOATS)
claim("nn.functional.huber_loss", FLOATS)
claim("nn.functional.binary_cross_entropy", FLOATS)
claim("nn.functional.binary_cross_entropy_with_logits", FLOATS)
claim("nn.functional.nll_loss", FLOATS)
claim("nn.functional.cross_entropy", FLOATS)
claim("nn.functional.kl_div", FLOATS)
claim("nn.functional.soft_margin_loss", FLOATS)

# convolve, pool, resize
claim("nn.functional.pixel_shuffle", ALL)
claim("nn.functional.pixel_unshuffle", ALL)

# index
claim("cat", ALL)
claim("stack", ALL)
claim("hstack", ALL)
claim("vstack", ALL)
claim("dstack", ALL)
claim("index_select", ALL)
claim("gather", ALL)
claim("take", ALL)
claim("take_along_dim", ALL)
claim("__getitem__", ALL)
claim("index_put", ALL)
claim("index_add", ALL)
claim("index_copy", ALL)
claim(
    "index_fill",
    ALL,
    forward_only="the gradient of a value that is a tensor needs unique",
)
claim("put", ALL)
claim("scatter", ALL)
claim("scatter_add", ALL)
claim("scatter_reduce.sum", ALL)
claim("scatter_reduce.prod", ALL)
claim("scatter_reduce.mean", NUMERIC)
claim("scatter_reduce.amax", ALL)
claim("scatter_reduce.amin", ALL)
claim("masked_select", ALL)
claim("masked_scatter", ALL)
claim("nonzero", ALL)
claim("argwhere", ALL)
claim("repeat_interleave", ALL)
claim("nn.functional.embedding", FLOATS)
claim("nn.functional.one_hot", INTS)

# create, shape
claim("arange", NUMERIC)
claim("linspace", NUMERIC)
claim("eye", ALL)
claim("tril", ALL)
claim("triu", ALL)
claim("flip", ALL)
claim("fliplr", ALL)
claim("flipud", ALL)
claim("rot90", ALL)
claim("roll", ALL)

# random
for _name in (
    "uniform",
    "normal",
    "normal.in_place",
    "normal.number_mean",
    "log_normal",
    "exponential",
    "cauchy",
    "bernoulli",
    "randn",
    "randn_like",
    "rand_like",
    "nn.functional.dropout",
    "nn.functional.dropout2d",
    "nn.functional.dropout3d",
    "nn.functional.alpha_dropout",
    "nn.functional.feature_alpha_dropout.with_train",
):
    claim(_name, FLOATS, structure_only="random numbers")
for _name in ("geometric", "randint", "randint_like"):
    claim(_name, NUMERIC, structure_only="random numbers")
claim("nn.functional.feature_alpha_dropout.without_train", ALL)
claim("native_dropout_backward", ALL)

# What torch composes of the above.
for _name in """
    H _chunk_cat _unsafe_masked_index _unsafe_masked_index_put_accumulate
    alias_copy as_strided_copy as_strided_scatter block_diag cartesian_prod
    column_stack combinations conj diagflat diagonal_copy diff dsplit
    expand_copy fft.fftshift fft.ifftshift hsplit ldexp linalg.diagonal mH
    masked.prod masked.sum nn.functional.cosine_embedding_loss permute_copy
    real resolve_conj resolve_neg special.ndtr split_with_sizes_copy
    squeeze_copy t_copy torch.ops.aten._safe_softmax.default transpose_copy
    unbind_copy unfold_copy unsafe_chunk unsafe_split unsqueeze_copy
    view_copy vsplit
""".split():
    claim(_name, ALL)
for _name in """
    corrcoef cumulative_trapezoid gradient linalg.vander
    linspace.tensor_overload masked.amax masked.amin masked.argmax
    masked.argmin masked.cumprod masked.cumsum masked.std masked.var
    nn.functional.margin_ranking_loss nn.functional.pairwise_distance
    nn.functional.poisson_nll_loss nn.functional.triplet_margin_loss
    nn.functional.triplet_margin_with_distance_loss trapezoid trapz
""".split():
    claim(_name, NUMERIC)
for _name in """
    _softmax_backward_data allclose bmm.triton_optimized dist logcumsumexp
    masked.log_softmax masked.mean masked.norm masked.normalize
    masked.softmax masked.softmin nn.functional.gaussian_nll_loss
    nn.functional.hinge_embedding_loss
    nn.functional.multi_head_attention_forward
    nn.functional.multilabel_soft_margin_loss
    nn.functional.scaled_dot_product_attention signal.windows.bartlett
    signal.windows.blackman signal.windows.cosine signal.windows.exponential
    signal.windows.gaussian signal.windows.general_cosine
    signal.windows.general_hamming signal.windows.hamming
    signal.windows.hann signal.windows.nuttall view_as_complex
""".split():
    claim(_name, FLOATS)
# In half types the roundings of their steps add up to more than the tolerance.
claim("cov", (torch.float32, *INTS))
claim("nn.functional.linear_cross_entropy", (torch.float32,))
claim("nn.functional.linear_cross_entropy.chunked", (torch.float32,))
claim("nn.functional.linear_cross_entropy.chunked_none", (torch.float32,))
