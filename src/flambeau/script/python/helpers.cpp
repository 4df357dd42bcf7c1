#include "flambeau/script/python/helpers.h"

#include <array>

namespace flambeau::script {

namespace {

constexpr auto kPythonHelpers = std::to_array<PythonHelper>({
    {"decode", "base64", "", R"python(
def decode(text, dtype, sizes, strides=None):
    """A tensor of the bytes that the text stands for."""
    data = bytearray(base64.b64decode(text))
    tensor = torch.frombuffer(data, dtype=dtype).reshape(sizes) if data else torch.empty(sizes, dtype=dtype)
    return tensor if strides is None else torch.empty_strided(sizes, strides, dtype=dtype).copy_(tensor)
)python"},
    {"make_object", "", "", R"python(
def make_object(kind, **attributes):
    """An object whose attributes are given, in place of made by __init__."""
    made = kind.__new__(kind)
    for name, value in attributes.items():
        setattr(made, name, value)
    return made
)python"},
    {"make_native", "", "", R"python(
def make_native(kind, state):
    """An object of a class of PyTorch's own, from the state that files keep of it."""
    made = torch._C.ScriptObject.__new__(torch._C.ScriptObject)
    made.__setstate__((state, kind))
    return made
)python"},
    {"dtype_of", "", "", R"python(
DTYPES = {
    0: torch.uint8, 1: torch.int8, 2: torch.int16, 3: torch.int32, 4: torch.int64, 5: torch.float16, 6: torch.float32,
    7: torch.float64, 8: torch.complex32, 9: torch.complex64, 10: torch.complex128, 11: torch.bool, 12: torch.qint8,
    13: torch.quint8, 14: torch.qint32, 15: torch.bfloat16, 16: torch.quint4x2, 17: torch.quint2x4,
    23: torch.float8_e5m2, 24: torch.float8_e4m3fn, 25: torch.float8_e5m2fnuz, 26: torch.float8_e4m3fnuz,
    27: torch.uint16, 28: torch.uint32, 29: torch.uint64,
}


def dtype_of(number):
    """TorchScript knows data types as numbers."""
    return DTYPES[number] if type(number) is int else number
)python"},
    {"dtype_number", "", "dtype_of", R"python(
def dtype_number(dtype):
    return next(number for number, known in DTYPES.items() if known == dtype)
)python"},
    {"layout_of", "", "", R"python(
LAYOUTS = [torch.strided, torch.sparse_coo, torch.sparse_csr, torch._mkldnn, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc]


def layout_of(number):
    """TorchScript knows layouts as numbers."""
    return LAYOUTS[number] if type(number) is int else number
)python"},
    {"layout_number", "", "layout_of", R"python(
def layout_number(layout):
    return LAYOUTS.index(layout)
)python"},
    {"memory_format_of", "", "", R"python(
def memory_format_of(number):
    """TorchScript knows memory formats as numbers."""
    formats = [torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d]
    return formats[number] if type(number) is int else number
)python"},
    {"divide", "math", "", R"python(
def divide(a, b):
    """Numbers are divided as processors do it: by zero, too."""
    if b != 0:
        return a / b
    if isinstance(a, complex) or isinstance(b, complex):
        return complex(math.nan, math.nan)
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
)python"},
    {"unwrap", "", "", R"python(
def unwrap(value):
    if value is None:
        raise RuntimeError("Unwrapping null optional")
    return value
)python"},
    {"as_text", "math", "", R"python(
def as_text(value):
    """Text as TorchScript makes it: 1. and 0.10000000000000001 where Python writes 1.0 and 0.1."""
    if isinstance(value, float):
        if math.isinf(value) or math.isnan(value):
            return str(value)
        return "%d." % value if abs(value) < 2**63 and value == int(value) else "%.17g" % value
    if isinstance(value, list):
        return "[" + ", ".join(map(as_text, value)) + "]"
    if type(value) is tuple:
        return "(" + ", ".join(map(as_text, value)) + (",)" if len(value) == 1 else ")")
    if isinstance(value, dict):
        return "{" + ", ".join(as_text(key) + ": " + as_text(held) for key, held in value.items()) + "}"
    return str(value)
)python"},
    {"format_text", "", "as_text", R"python(
def format_text(text, *values):
    """Each {} is a value; there is nothing else in TorchScript's format()."""
    parts = text.split("{}")
    made = parts[0]
    for i, part in enumerate(parts[1:]):
        made += (as_text(values[i]) if i < len(values) else "{}") + part
    return made
)python"},
    {"percent_text", "", "as_text", R"python(
def percent_text(text, *values):
    return text % tuple(value if isinstance(value, (int, float, str)) else as_text(value) for value in values)
)python"},
    {"is_instance", "typing", "", R"python(
def is_instance(value, kind):
    """Whether a value is of a type as TorchScript has it: a bool is no int, and lists know what they hold."""
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any or kind is None:
        return kind is Any or value is None
    if origin is Union:
        return any(is_instance(value, each) for each in inside)
    if origin is list:
        return isinstance(value, list) and all(is_instance(item, inside[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            is_instance(key, inside[0]) and is_instance(held, inside[1]) for key, held in value.items()
        )
    if origin is tuple:
        return isinstance(value, tuple) and len(value) == len(inside) and all(map(is_instance, value, inside))
    return type(value) is kind if kind in (int, float, bool, str, complex) else isinstance(value, kind)
)python"},
});

}  // namespace

std::span<const PythonHelper> python_helpers() { return kPythonHelpers; }

}  // namespace flambeau::script
