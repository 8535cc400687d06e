"""Names of operations: what `x.softmax(-1)`, `F.softmax(x, dim=-1)` and `np.f(x, axis=-1)` share.

Tables only. A method, a function of torch or numpy and an operator with one meaning have one
name. Required parameters are positional in the order of `PARAMETERS`; the others are keywords.
"""

import ast


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "bitand",
    ast.BitOr: "bitor",
    ast.BitXor: "bitxor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
    ast.Not: "not",
}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.In: "in",
    ast.NotIn: "not_in",
    ast.Is: "is",
    ast.IsNot: "is_not",
}

# Modules whose functions and whose array methods are one vocabulary; longest prefix first.
NAMESPACES = (
    "torch.nn.functional.",
    "torch.special.",
    "torch.Tensor.",
    "torch._C._nn.",
    "torch.",
    "numpy.",
    "operator.",
)

# Spelled otherwise: method, function or operator name -> canonical name.
ALIASES = {
    "absolute": "abs",
    "fabs": "abs",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "truediv": "div",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "power": "pow",
    "negative": "neg",
    "bitwise_and": "bitand",
    "and_": "bitand",
    "bitwise_or": "bitor",
    "or_": "bitor",
    "bitwise_xor": "bitxor",
    "xor": "bitxor",
    "bitwise_not": "invert",
    "bitwise_left_shift": "lshift",
    "bitwise_right_shift": "rshift",
    "equal_": "eq",
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "clip": "clamp",
    "clamp_min": "clamp",
    "clamp_max": "clamp",
    "concat": "cat",
    "concatenate": "cat",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "adjoint": "mT",
    "T": "t",
    "expand_dims": "unsqueeze",
    "type_as": "to",
    "astype": "to",
    "arccos": "acos",
    "arcsin": "asin",
    "arctan": "atan",
    "take_along_dim": "gather",
    "masked_fill_": "masked_fill",
    "moveaxis": "movedim",
    "repeat_kv": "repeat_kv",
    "getitem": "getitem",
    "contains": "contains",
}

# `x.float()` and kin are `to` with a data type.
CASTS = {
    "float": "torch:float32",
    "double": "torch:float64",
    "half": "torch:float16",
    "bfloat16": "torch:bfloat16",
    "int": "torch:int32",
    "long": "torch:int64",
    "short": "torch:int16",
    "char": "torch:int8",
    "byte": "torch:uint8",
    "bool": "torch:bool",
}

# Required parameters by name, in order. The first is the receiver of the method.
PARAMETERS: dict[str, tuple[str, ...]] = {
    "add": ("input", "other"),
    "sub": ("input", "other"),
    "mul": ("input", "other"),
    "div": ("input", "other"),
    "floordiv": ("input", "other"),
    "mod": ("input", "other"),
    "pow": ("input", "exponent"),
    "matmul": ("input", "other"),
    "mm": ("input", "mat2"),
    "bmm": ("input", "mat2"),
    "eq": ("input", "other"),
    "ne": ("input", "other"),
    "lt": ("input", "other"),
    "le": ("input", "other"),
    "gt": ("input", "other"),
    "ge": ("input", "other"),
    "isin": ("elements", "test_elements"),
    "where": ("condition", "input", "other"),
    "topk": ("input", "k"),
    "gather": ("input", "dim", "index"),
    "scatter": ("input", "dim", "index", "src"),
    "scatter_add": ("input", "dim", "index", "src"),
    "index_select": ("input", "dim", "index"),
    "index_add": ("input", "dim", "index", "source"),
    "index_copy": ("input", "dim", "index", "source"),
    "masked_fill": ("input", "mask", "value"),
    "repeat_interleave": ("input", "repeats"),
    "unsqueeze": ("input", "dim"),
    "linear": ("input", "weight"),
    "embedding": ("input", "weight"),
    "one_hot": ("input",),
    "transpose": ("input", "dim0", "dim1"),
    "cumsum": ("input", "dim"),
    "cumprod": ("input", "dim"),
    "unflatten": ("input", "dim", "sizes"),
    "split": ("input", "split_size_or_sections"),
    "chunk": ("input", "chunks"),
    "full": ("size", "fill_value"),
    "full_like": ("input", "fill_value"),
    "cat": ("tensors",),
    "stack": ("tensors",),
    "roll": ("input", "shifts"),
    "flip": ("input", "dims"),
    "bucketize": ("input", "boundaries"),
    "searchsorted": ("sorted_sequence", "input"),
    "einsum": ("equation",),
}

# Optional parameters that are often passed by position, in order after the required ones.
OPTIONAL: dict[str, tuple[str, ...]] = {
    "softmax": ("dim",),
    "log_softmax": ("dim",),
    "sum": ("dim", "keepdim"),
    "mean": ("dim", "keepdim"),
    "prod": ("dim", "keepdim"),
    "max": ("dim", "keepdim"),
    "min": ("dim", "keepdim"),
    "amax": ("dim", "keepdim"),
    "amin": ("dim", "keepdim"),
    "argmax": ("dim", "keepdim"),
    "argmin": ("dim", "keepdim"),
    "all": ("dim", "keepdim"),
    "any": ("dim", "keepdim"),
    "var": ("dim",),
    "std": ("dim",),
    "logsumexp": ("dim", "keepdim"),
    "topk": ("dim", "largest", "sorted"),
    "sort": ("dim", "descending"),
    "argsort": ("dim", "descending"),
    "clamp": ("min", "max"),
    "squeeze": ("dim",),
    "cat": ("dim",),
    "stack": ("dim",),
    "split": ("dim",),
    "chunk": ("dim",),
    "repeat_interleave": ("dim",),
    "flatten": ("start_dim", "end_dim"),
    "to": ("dtype",),
    "one_hot": ("num_classes",),
    "linear": ("bias",),
    "norm": ("p", "dim", "keepdim"),
    "normalize": ("p", "dim", "eps"),
    "roll": ("dims",),
    "softplus": ("beta", "threshold"),
    "triu": ("diagonal",),
    "tril": ("diagonal",),
    "round": ("decimals",),
    "unbind": ("dim",),
    "gelu": ("approximate",),
}

KEYWORDS = {"axis": "dim", "axes": "dim", "keepdims": "keepdim", "a_min": "min", "a_max": "max"}

# `values, indices` results, so that `.indices`, `[1]` and unpacking are one access.
PAIRS = frozenset({"topk", "sort", "max", "min", "median", "mode", "kthvalue", "cummax", "cummin"})
PAIR_FIELDS = {"values": 0, "indices": 1}

# Methods that every array has; on other receivers they are calls of an unknown object.
ARRAY_METHODS = frozenset(
    set(PARAMETERS)
    | set(OPTIONAL)
    | set(ALIASES)
    | set(CASTS)
    | words(
        """abs acos all amax amin any asin atan ceil clone contiguous copy cos cosh cpu cuda cumsum
        detach dim div dot element_size erf exp expand expand_as expm1 flatten float_power floor
        fmod frac ger item log log10 log1p log2 logical_and logical_not logical_or logical_xor
        logit masked_select matmul maximum mean median minimum mul mv narrow neg new_full new_ones
        new_zeros nonzero norm numel numpy outer permute prod ravel reciprocal relu repeat reshape
        reshape_as rot90 round rsqrt select sigmoid sign silu sin sinh size softmax sqrt square
        squeeze std sub sum t take tan tanh tolist transpose trunc unbind unfold unique unsqueeze
        var view view_as zero_ fill_ copy_ add_ mul_ normal_ uniform_"""
    )
)

# The result is not determined by the arguments.
RANDOM = words(
    """randn rand randint randperm randn_like rand_like randint_like normal normal_ uniform
    uniform_ bernoulli multinomial empty empty_like random random_ choice shuffle sample gauss
    exponential_ new_empty"""
)

# Touch the world outside or run text: a slice with one of these is refused by that name.
REFUSED = words(
    "open eval exec compile __import__ input globals locals vars breakpoint setattr delattr"
)

# Passing through one of these keeps what a value is, for "which side is production's".
ACCESS = words(
    """getattr getitem to clone contiguous detach cpu cuda numpy tolist item view reshape flatten
    squeeze unsqueeze t transpose copy list tuple builtins.list builtins.tuple builtins.str
    builtins.int builtins.float builtins.sorted builtins.len builtins.set builtins.dict
    builtins.repr builtins.next builtins.iter builtins.zip builtins.enumerate
    builtins.reversed element strip read read_text split keys values items
    splitlines decode stack cat asarray array tensor"""
)


# Operations that compute: what two places have in common says something only if it is of these.
COMPUTING = (
    frozenset(BINARY.values())
    | {"neg", "invert"}
    | frozenset(PARAMETERS)
    | frozenset(OPTIONAL)
    | words(
        """abs acos asin atan bincount binary_cross_entropy binary_cross_entropy_with_logits bitcast
        bmm ceil ceil_div conv1d conv2d conv3d cos cosh cosine_similarity cross_entropy cummax
        cummin diff div einsum elu erf exp exp2 expm1 eye fill floor fmod frac gelu glu
        group_norm hardswish hardtanh histc kl_div l1_loss layer_norm leaky_relu log log10 log1p
        log2 logit masked_select maximum mean median minimum mish mse_loss narrow nll_loss norm
        nonzero outer pad prod rad2deg reciprocal relu relu6 rms_norm round round_down round_up
        rsqrt scaled_dot_product_attention scatter_reduce select selu sigmoid sign silu sin sinh
        smooth_l1_loss sqrt square std tan tanh trunc unique var view_as_complex bit_length gcd
        lcm hypot isclose isnan isinf isfinite fromhex"""
    )
) - words(
    """to cat stack split chunk unsqueeze squeeze transpose flatten full full_like where
    eq ne lt le gt ge"""
)
# Several operations under one name.
COMPOSITE = words("round_up round_down softplus silu")


def canonical_method(name: str) -> str:
    """The operation of a method or of a torch/numpy function: `mul_` is `mul`, `clip` `clamp`."""
    name = ALIASES.get(name, name)
    if name.endswith("_") and not name.endswith("__") and len(name) > 2:
        name = name[:-1]
    return ALIASES.get(name, name)


def canonical_function(dotted: str) -> str:
    """The operation of a dotted function: `torch.nn.functional.softmax` is `softmax`.

    Functions outside `NAMESPACES` keep their dotted name.
    """
    for prefix in NAMESPACES:
        if dotted.startswith(prefix):
            name = dotted[len(prefix) :]
            return name if "." in name else canonical_method(name)
    return dotted
