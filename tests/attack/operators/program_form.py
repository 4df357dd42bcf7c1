"""One call of an operator as an exported program: the JSON that torch.export writes, with the arguments as inputs and
constants. A list of results is taken for one of two."""

import json

from cases import TensorCase

NUMBERS = {"uint8": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "float16": 6, "float32": 7, "float64": 8,
           "complex64": 10, "complex128": 11, "bool": 12, "bfloat16": 13}
FORMATS = {"contiguous_format": 1, "channels_last": 2, "channels_last_3d": 3, "preserve_format": 4}
LAYOUTS = {"sparse_coo": 1, "strided": 7}


def describe(case):
    return {"dtype": NUMBERS[case.dtype], "sizes": [{"as_int": n} for n in case.sizes], "requires_grad": False,
            "device": {"type": "cpu", "index": None}, "strides": [{"as_int": n} for n in case.strides],
            "storage_offset": {"as_int": case.offset}, "layout": 7}


LEAF = {"type": None, "context": None, "children_spec": []}


def node(kind, children, context="null"):
    return {"type": f"builtins.{kind}", "context": context, "children_spec": children}


def spec(kind, children):
    return json.dumps([1, node(kind, children)])


class ProgramMaker:
    def __init__(self):
        self.inputs = []  # TensorCases
        self.tensors = {}

    def tensor(self, case):
        name = f"x{len(self.inputs)}"
        self.inputs.append(case)
        self.tensors[name] = describe(case)
        return {"name": name}

    def argument(self, value, kind):
        if value is None:
            return {"as_none": True}
        if isinstance(value, TensorCase):
            return {"as_tensor": self.tensor(value)}
        if isinstance(value, list):
            return self.list_argument(value)
        if isinstance(value, bool):
            return {"as_bool": value}
        if isinstance(value, int):
            return {"as_int": value}
        if isinstance(value, float):
            return {"as_float": value}
        if isinstance(value, complex):
            return {"as_complex": {"real": value.real, "imag": value.imag}}
        if kind.name == "ScalarType" and value in NUMBERS:
            return {"as_scalar_type": NUMBERS[value]}
        if kind.name == "MemoryFormat" and value in FORMATS:
            return {"as_memory_format": FORMATS[value]}
        if kind.name == "Layout" and value in LAYOUTS:
            return {"as_layout": LAYOUTS[value]}
        if kind.name == "Device":
            return {"as_device": {"type": value, "index": None}}
        return {"as_string": value}

    def list_argument(self, values):
        if any(isinstance(v, TensorCase) for v in values) and all(isinstance(v, TensorCase) for v in values):
            return {"as_tensors": [self.tensor(v) for v in values]}
        if any(isinstance(v, TensorCase) or v is None for v in values):
            return {"as_optional_tensors": [
                {"as_tensor": self.tensor(v)} if isinstance(v, TensorCase) else {"as_none": True} for v in values]}
        if all(isinstance(v, bool) for v in values) and values:
            return {"as_bools": values}
        if all(isinstance(v, int) for v in values):
            return {"as_ints": [int(v) for v in values]}
        if all(isinstance(v, (int, float)) for v in values):
            return {"as_floats": [float(v) for v in values]}
        return {"as_strings": [str(v) for v in values]}

    def result(self, index, kind):
        name = f"y{index}"
        if kind.is_list:
            for suffix in "ab":
                self.tensors[name + suffix] = describe(TensorCase("float32", [1], [1], 0, 0))
            return {"as_tensors": [{"name": name + "a"}, {"name": name + "b"}]}
        if kind.name == "Tensor":
            self.tensors[name] = describe(TensorCase("float32", [1], [1], 0, 0))
            return {"as_tensor": {"name": name}}
        form = {"bool": "as_sym_bool", "float": "as_sym_float"}.get(kind.name, "as_sym_int")
        return {form: {"as_name": name}}


def make_program(schema, positional, named):
    """The text of the program, and its inputs."""
    maker = ProgramMaker()
    kinds = {argument.name: argument.type for argument in schema.arguments}
    given = [(a.name, value) for a, value in zip(schema.arguments, positional)] + list(named.items())
    keywords = {argument.name for argument in schema.arguments if argument.is_keyword}
    arguments = [{"name": name, "arg": maker.argument(value, kinds[name]), "kind": 2 if name in keywords else 1}
                 for name, value in given]
    results = [maker.result(i, kind) for i, kind in enumerate(schema.returns)]
    namespace, _, name = schema.name.partition("::")
    operator, _, overload = name.partition(".")
    inputs = [{"as_tensor": {"name": f"x{i}"}} for i in range(len(maker.inputs))]
    outputs = [r for r in results if "as_tensors" not in r]
    numbers = lambda form: {r[form]["as_name"]: {"as_int": 0} for r in results if form in r}
    graph = {
        "inputs": inputs, "outputs": outputs,
        "nodes": [{"target": f"torch.ops.{namespace}.{operator}.{overload or 'default'}", "inputs": arguments,
                   "outputs": results, "metadata": {}, "is_hop_single_tensor_return": None}],
        "tensor_values": maker.tensors, "sym_int_values": numbers("as_sym_int"), "sym_bool_values": numbers("as_sym_bool"),
        "sym_float_values": numbers("as_sym_float"), "is_single_tensor_return": False, "custom_obj_values": {}}
    signature = {"input_specs": [{"user_input": {"arg": i}} for i in inputs],
                 "output_specs": [{"user_output": {"arg": o}} for o in outputs]}
    calls = [{"fqn": "", "signature": {
        "inputs": [], "outputs": [], "forward_arg_names": [],
        "in_spec": spec("tuple", [node("tuple", [LEAF] * len(inputs)), node("dict", [], "[]")]),
        "out_spec": spec("tuple", [LEAF] * len(outputs))}}]
    program = {"graph_module": {"graph": graph, "signature": signature, "module_call_graph": calls, "metadata": {},
                                "treespec_namedtuple_fields": {}},
               "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": {"major": 8, "minor": 8},
               "verifiers": [], "torch_version": "2.8.0", "guards_code": []}
    return json.dumps(program).encode(), maker.inputs

