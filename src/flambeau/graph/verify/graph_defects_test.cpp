// The defects of graphs: one row, one defect. defects_test.cpp has the others and goes through all.
#include <gtest/gtest.h>

#include <limits>

#include "flambeau/graph/verify/test_defects.h"

namespace flambeau::graph {
namespace {

const Defect kGraphDefects[] = {
    // ---- values
    {"a name nothing gives", [](const Editor& e) { e.set("mul", 0, Argument::tensor(e.value("nope"))); },
     "undefined-value", "node 'mul'", "it uses 'nope', which nothing gives"},
    {"an output nothing gives",
     [](const Editor& e) { e.graph().add_output(Argument::tensor(e.value("nope"))); }, "undefined-value",
     "graph output 3", "it uses 'nope', which nothing gives"},
    {"a name in a list", [](const Editor& e) { e.set("while_loop", 2, tensors({&e.value("nope")})); },
     "undefined-value", "node 'while_loop'", "it uses 'nope', which nothing gives"},
    {"a subgraph that looks outside",
     [](const Editor& e) {
       Graph& inner = e.inner("cond", 1);
       Editor::node_in(inner, "inner").set_input(0, Argument::tensor(inner.value("linear")));
     },
     "undefined-value", "subgraph 'true_graph_0': node 'inner'",
     "it uses 'linear', which nothing gives; the graph around it does, but a subgraph sees its own inputs "
     "only"},
    {"a use before its definition",
     [](const Editor& e) { e.graph().move_before(e.node("mul"), &e.node("linear")); },
     "use-before-definition", "node 'mul'", "it uses 'linear' before node 'linear' gives it"},
    {"a node that uses what it gives",
     [](const Editor& e) { e.set("mul", 1, Argument::tensor(e.value("mul"))); }, "use-before-definition",
     "node 'mul'", "it uses 'mul' before node 'mul' gives it"},
    {"a value of two nodes",
     [](const Editor& e) {
       Node& node = e.graph().append("torch.ops.aten.sin.default");
       node.add_input("self", Argument::tensor(e.value("x")));
       node.add_output(Argument::tensor(e.value("mul")));
       node.name = "again";
     },
     "duplicate-value", "node 'again'", "it gives 'mul', which node 'mul' gives already"},
    {"a value that is an input too",
     [](const Editor& e) {
       Node& node = e.graph().append("torch.ops.aten.sin.default");
       node.add_input("self", Argument::tensor(e.value("x")));
       node.add_output(Argument::tensor(e.value("x")));
       node.name = "again";
     },
     "duplicate-value", "node 'again'", "it gives 'x', which an input of the graph gives already"},
    {"an input twice", [](const Editor& e) { e.graph().add_input(Argument::tensor(e.value("x"))); },
     "duplicate-value", "graph input 5", "it gives 'x', which an input of the graph gives already"},
    {"two nodes of one name", [](const Editor& e) { e.node("while_loop").name = "cond"; },
     "duplicate-node-name", "node 'cond'", "another node before it has the same name"},
    {"a node of another's name", [](const Editor& e) { e.node("split").name = "mul"; }, "duplicate-node-name",
     "node 'mul'", "its name is also that of a value which node 'mul' gives"},
    {"a node of a value's name", [](const Editor& e) { e.node("split").name = "x"; }, "duplicate-node-name",
     "node 'x'", "its name is also that of a value which an input of the graph gives"},
    {"a value without description",
     [](const Editor& e) { e.graph().set_meta(e.value("mul"), std::monostate()); }, "undescribed-value",
     "node 'mul'",
     "it gives 'mul', which the graph does not describe; expected an entry among the tensor values"},
    {"an input without description",
     [](const Editor& e) { e.graph().set_meta(e.value("x"), std::monostate()); }, "undescribed-value",
     "graph input 3",
     "it gives 'x', which the graph does not describe; expected an entry among the tensor values"},
    {"a description of nothing", [](const Editor& e) { e.graph().add_value("ghost", tensor_meta({2})); },
     "dead-description", "graph", "it describes the tensor 'ghost', which nothing gives"},
    {"a tensor described as a SymInt", [](const Editor& e) { e.graph().set_meta(e.value("mul"), SymInt(3)); },
     "kind-mismatch", "node 'mul'", "it gives 'mul' as a tensor, but the graph describes a SymInt"},
    {"a SymInt used as a tensor", [](const Editor& e) { e.set("mul", 1, Argument::tensor(e.value("add"))); },
     "kind-mismatch", "node 'mul'", "it uses 'add' as a tensor, but the graph describes a SymInt"},
    {"a tensor used as a SymInt", [](const Editor& e) { e.set("split", 1, Argument::sym_int(e.value("x"))); },
     "kind-mismatch", "node 'split'", "it uses 'x' as a SymInt, but the graph describes a tensor"},
    {"a list as an input of the graph", [](const Editor& e) { e.graph().add_input(tensors({})); },
     "graph-input-kind", "graph input 5",
     "it is as_tensors; expected a tensor, a SymInt, an object, or a constant"},
    {"a number as a symbol",
     [](const Editor& e) {
       e.graph().add_input(Argument::make<ArgumentKind::kSymInt>(SymArgument<int64_t>(int64_t{4})));
     },
     "graph-input-kind", "graph input 5", "it names no value"},
    {"a list as an output of the graph", [](const Editor& e) { e.graph().add_output(tensors({})); },
     "graph-output-kind", "graph output 3",
     "it is as_tensors; expected one tensor, symbol or object, or a constant"},
    {"one value out of three", [](const Editor& e) { e.graph().is_single_tensor_return = true; },
     "single-return", "graph", "it is marked to give one value by itself, but has 3 outputs"},
    {"an output that is a number",
     [](const Editor& e) {
       e.node("ge").add_output(Argument::make<ArgumentKind::kSymInt>(SymArgument<int64_t>(int64_t{4})));
     },
     "output-not-a-value", "node 'ge'", "an output of it is as_sym_int without a name; a node gives values"},
    {"a kind of a newer schema",
     [](const Editor& e) {
       e.set("mul", 1, Argument::make<ArgumentKind::kUnknown>(json::Member("as_quaternion", 1)));
     },
     "unknown-kind", "node 'mul'",
     "'as_quaternion' is a kind of argument of a newer schema, which cannot be checked"},
    // ---- descriptions
    {"a stride too few", [](const Editor& e) { e.meta("mul", [](TensorMeta& m) { m.strides.pop_back(); }); },
     "tensor-rank", "value 'mul'", "it has 2 sizes but 1 strides"},
    {"a negative size", [](const Editor& e) { e.meta("mul", [](TensorMeta& m) { m.sizes[1] = -4; }); },
     "negative-size", "value 'mul'", "its size 1 is -4; expected 0 or more"},
    {"a negative stride", [](const Editor& e) { e.meta("mul", [](TensorMeta& m) { m.strides[0] = -1; }); },
     "negative-stride", "value 'mul'", "its stride 0 is -1; expected 0 or more"},
    {"a negative offset",
     [](const Editor& e) { e.meta("mul", [](TensorMeta& m) { m.storage_offset = -8; }); }, "negative-offset",
     "value 'mul'", "its storage offset is -8; expected 0 or more"},
    {"more elements than 64 bits count",
     [](const Editor& e) {
       e.meta("c_scale", [](TensorMeta& m) {
         m.sizes = {int64_t{1} << 40, int64_t{1} << 40, 0};
         m.strides = {0, 0, 1};
       });
     },
     "tensor-too-large", "value 'c_scale'", "the number of its elements does not fit into 64 bits"},
    {"a type the format has not",
     [](const Editor& e) { e.meta("mul", [](TensorMeta& m) { m.dtype = DType::kQInt8; }); }, "tensor-dtype",
     "value 'mul'", "its type is qint8, which exported programs cannot have"},
    {"a gradient of integers",
     [](const Editor& e) {
       e.meta("mul", [](TensorMeta& m) {
         m.dtype = DType::kInt64;
         m.requires_grad = true;
       });
     },
     "requires-grad", "value 'mul'",
     "it is int64 and requires a gradient; only floating-point and complex tensors can"},
    {"no device", [](const Editor& e) { e.meta("mul", [](TensorMeta& m) { m.device.type = ""; }); }, "device",
     "value 'mul'", "'' is not the name of a kind of device"},
    {"a device of a negative number",
     [](const Editor& e) { e.meta("mul", [](TensorMeta& m) { m.device = {"cuda", -1}; }); }, "device",
     "value 'mul'", "the device 'cuda' has the index -1; expected 0 to 127"},
    {"an expression that ends early",
     [](const Editor& e) {
       e.meta("mul", [](TensorMeta& m) { m.sizes[0] = symbol("Add(Symbol('s77'), "); });
     },
     "bad-expression", "value 'mul'",
     "the expression 'Add(Symbol('s77'), ' cannot be read: '(' is never closed"},
    {"an expression without operator",
     [](const Editor& e) { e.graph().set_meta(e.value("add"), symbol("s77 1")); }, "bad-expression",
     "value 'add'", "the expression 's77 1' cannot be read: expected an operator at byte 4, found '1'"},
    {"an empty expression", [](const Editor& e) { e.graph().set_meta(e.value("add"), symbol("")); },
     "bad-expression", "value 'add'", "the expression '' cannot be read: it is empty"},
    {"a hint that is no integer",
     [](const Editor& e) {
       e.graph().set_meta(e.value("add"), SymInt(std::make_shared<const SymExpr>(SymExpr{"s77", 1.5})));
     },
     "expression-hint", "value 'add'", "the hint of an integer expression is no integer"},
    {"a size nobody knows",
     [](const Editor& e) {
       e.meta("mul", [](TensorMeta& m) {
         m.sizes[0] = symbol("Add(Symbol('u0', integer=True), Symbol('u1', integer=True))", {});
       });
       e.meta("linear", [](TensorMeta& m) { m.sizes[0] = symbol("Symbol('u1', integer=True)", {}); });
     },
     "unbound-symbol", "graph",
     "expressions have the symbol 'u0', which is only known when the program runs, but no value says what it "
     "is"},
    // ---- what nodes call
    {"an operator PyTorch has not",
     [](const Editor& e) { e.node("mul").target = "torch.ops.aten.mull.Tensor"; }, "unknown-operator",
     "node 'mul'", "there is no operator 'aten::mull'"},
    {"an overload PyTorch has not",
     [](const Editor& e) { e.node("linear").target = "torch.ops.aten.linear.Tensor"; }, "unknown-overload",
     "node 'linear'", "the operator 'aten::linear' has no overload 'Tensor'; it has default, out"},
    {"no overload", [](const Editor& e) { e.node("mul").target = "torch.ops.aten.mul"; }, "malformed-target",
     "node 'mul'",
     "'torch.ops.aten.mul' is not the name of an operator, torch.ops.<namespace>.<name>.<overload>"},
    {"an extension without a name", [](const Editor& e) { e.node("mul").target = "#mine:"; },
     "malformed-target", "node 'mul'",
     "'#mine:' is not the name of an extension's operator, #<namespace>:<name>"},
    {"a function of Python", [](const Editor& e) { e.node("mul").target = "os.system"; }, "unknown-function",
     "node 'mul'", "'os.system' is neither an operator nor a function a program may call"},
    {"a function PyTorch does not allow", [](const Editor& e) { e.node("add").target = "_operator.matmul"; },
     "unknown-function", "node 'add'",
     "'_operator.matmul' is neither an operator nor a function a program may call"},
    {"a higher-order operator PyTorch has not",
     [](const Editor& e) { e.node("cond").target = "torch.ops.higher_order.condd"; },
     "unknown-higher-order-operator", "node 'cond'", "PyTorch has no higher-order operator 'condd'"},
    {"an operator that writes", [](const Editor& e) { e.node("mul").target = "torch.ops.aten.mul_.Tensor"; },
     "not-functional", "node 'mul'",
     "aten::mul_.Tensor writes to its arguments, which only the training dialect allows"},
    {"an operator that writes, in a subgraph",
     [](const Editor& e) {
       Editor::node_in(e.inner("cond", 2), "inner").target = "torch.ops.aten.cos_.default";
     },
     "not-functional", "subgraph 'false_graph_0': node 'inner'",
     "aten::cos_ writes to its arguments, which only the training dialect allows"},
    // ---- arguments
    {"an argument PyTorch has not",
     [](const Editor& e) { e.node("mul").add_input("beta", integer(1), PassedBy::kKeyword); },
     "unknown-argument", "node 'mul'", "aten::mul.Tensor has no argument 'beta'"},
    {"an argument twice", [](const Editor& e) { e.node("mul").add_input("other", integer(1)); },
     "duplicate-argument", "node 'mul'", "argument 'other' of aten::mul.Tensor is given twice"},
    {"an argument missing", [](const Editor& e) { e.node("mul").remove_input(1); }, "missing-argument",
     "node 'mul'", "argument 'other' of aten::mul.Tensor is missing; it has no default"},
    {"a keyword by position",
     [](const Editor& e) {
       e.node("add_1").remove_input(2);
       e.node("add_1").add_input("alpha", integer(2));
     },
     "keyword-only", "node 'add_1'",
     "argument 'alpha' of aten::add.Tensor is given by position, but can only be given by name"},
    {"a gap among positions",
     [](const Editor& e) {
       e.node("any_1").target = "torch.ops.aten.slice.Tensor";
       e.node("any_1").add_input("end", integer(1));
     },
     "positional-gap", "node 'any_1'",
     "argument 'end' of aten::slice.Tensor is given by position, but 'dim' before it is not given"},
    {"a text for a tensor", [](const Editor& e) { e.set("mul", 1, text("two")); }, "argument-type",
     "node 'mul'", "argument 'other' of aten::mul.Tensor is as_string; expected Tensor"},
    {"a float for an integer",
     [](const Editor& e) { e.set("split", 2, Argument::make<ArgumentKind::kFloat>(1.5)); }, "argument-type",
     "node 'split'", "argument 'dim' of aten::split.Tensor is as_float; expected int"},
    {"none for an integer", [](const Editor& e) { e.set("split", 2, Argument()); }, "argument-type",
     "node 'split'", "argument 'dim' of aten::split.Tensor is as_none; expected int"},
    {"texts for integers",
     [](const Editor& e) {
       e.set("mean", 1, Argument::make<ArgumentKind::kStrings>(std::vector<std::string>{"a"}));
     },
     "argument-type", "node 'mean'", "argument 'dim' of aten::mean.dim is as_strings; expected int[1]?"},
    {"a list for a tensor", [](const Editor& e) { e.set("mul", 0, tensors({&e.value("linear")})); },
     "argument-type", "node 'mul'", "argument 'self' of aten::mul.Tensor is as_tensors; expected Tensor"},
    {"a device for a number",
     [](const Editor& e) { e.set("add_1", 2, Argument::make<ArgumentKind::kDevice>(DeviceSpec())); },
     "argument-type", "node 'add_1'", "argument 'alpha' of aten::add.Tensor is as_device; expected Scalar"},
    {"an integer for a text", [](const Editor& e) { e.set("_assert_scalar_default", 1, integer(5)); },
     "argument-type", "node '_assert_scalar_default'",
     "argument 'assert_msg' of aten::_assert_scalar is as_int; expected str"},
    {"an output too many",
     [](const Editor& e) {
       Value& extra = e.graph().add_value("extra", tensor_meta({2}));
       e.node("mul").add_output(Argument::tensor(extra));
     },
     "output-count", "node 'mul'", "it has 2 outputs, but aten::mul.Tensor returns 1"},
    {"an output of nothing",
     [](const Editor& e) {
       Value& extra = e.graph().add_value("extra", tensor_meta({2}));
       e.node("_assert_scalar_default").add_output(Argument::tensor(extra));
     },
     "output-count", "node '_assert_scalar_default'", "it has 1 outputs, but aten::_assert_scalar returns 0"},
    {"a tensor that should be a list",
     [](const Editor& e) { e.node("any_1").target = "torch.ops.aten.unbind.int"; }, "output-type",
     "node 'any_1'", "output 0 is as_tensor, but aten::unbind.int returns Tensor[]"},
    {"a tensor that should be a size",
     [](const Editor& e) { e.node("any_1").target = "torch.ops.aten.sym_numel.default"; }, "output-type",
     "node 'any_1'", "output 0 is as_tensor, but aten::sym_numel returns SymInt"},
    // ---- functions
    {"a function with too few arguments", [](const Editor& e) { e.node("add").remove_input(1); },
     "function-arguments", "node 'add'", "_operator.add has 1 arguments; expected 2"},
    {"a function of a tensor", [](const Editor& e) { e.set("add", 1, Argument::tensor(e.value("x"))); },
     "function-arguments", "node 'add'",
     "argument 'b' of _operator.add is as_tensor; expected a number or a symbol"},
    {"a comparison that gives a number", [](const Editor& e) { e.node("add").target = "_operator.lt"; },
     "function-output", "node 'add'", "_operator.lt gives as_sym_int; expected as_sym_bool"},
    // ---- higher-order operators
    {"a branch too few", [](const Editor& e) { e.node("cond").remove_input(2); }, "higher-order-arguments",
     "node 'cond'", "cond has 3 arguments; expected 4"},
    {"a predicate that is a text", [](const Editor& e) { e.set("cond", 0, text("yes")); },
     "higher-order-arguments", "node 'cond'",
     "argument 0 of cond is as_string; expected a tensor, a SymBool or a boolean"},
    {"a branch that is no graph", [](const Editor& e) { e.set("cond", 1, integer(1)); },
     "higher-order-arguments", "node 'cond'", "argument 1 of cond is as_int; expected a graph"},
    {"a branch with an input too many",
     [](const Editor& e) {
       Graph& inner = e.inner("cond", 1);
       inner.add_input(Argument::tensor(inner.add_value("arg1_1", tensor_meta({2}))));
     },
     "subgraph-inputs", "node 'cond'",
     "the graph 'true_graph_0' of cond has 2 inputs, but is given 1 values"},
    {"an operand too many",
     [](const Editor& e) { e.set("cond", 3, tensors({&e.value("getitem"), &e.value("x")})); },
     "subgraph-inputs", "node 'cond'",
     "the graph 'false_graph_0' of cond has 1 inputs, but is given 2 values"},
    {"branches that give different numbers of values",
     [](const Editor& e) { e.inner("cond", 2).take_outputs(); }, "subgraph-outputs", "node 'cond'",
     "the graph 'false_graph_0' of cond has 0 outputs; expected 1, as the node has outputs"},
    {"a loop that never says whether to go on",
     [](const Editor& e) { e.inner("while_loop", 0).take_outputs(); }, "subgraph-outputs",
     "node 'while_loop'",
     "the graph 'cond_graph_0' of while_loop has 0 outputs; expected 1, one: whether to go on"},
    {"a loop that gives too much",
     [](const Editor& e) {
       Value& extra = e.graph().add_value("extra", tensor_meta({2}));
       e.node("while_loop").add_output(Argument::tensor(extra));
     },
     "higher-order-outputs", "node 'while_loop'",
     "while_loop has 2 outputs; expected 1, as there are carried values"},
    {"an operator inside that PyTorch has not",
     [](const Editor& e) {
       Node& node = e.graph().append("torch.ops.higher_order.auto_functionalized_v2");
       node.name = "auto";
       node.add_input("", Argument::make<ArgumentKind::kOperator>("torch.ops.aten.nope.default"));
     },
     "unknown-operator", "node 'auto'", "there is no operator 'aten::nope'"},
    // ---- metadata
    {"a module stack of two parts",
     [](const Editor& e) {
       e.node("mul").metadata = {{"nn_module_stack", "L__self__,torch.nn.Linear[a,b]"}};
     },
     "node-metadata", "node 'mul'",
     "an entry of nn_module_stack has 2 parts, 'L__self__,torch.nn.Linear[a,b]'; expected key, path, type"},
    {"a source without a function",
     [](const Editor& e) { e.node("mul").metadata = {{"source_fn_stack", "mul"}}; }, "node-metadata",
     "node 'mul'", "an entry of source_fn_stack is 'mul'; expected name, function"},
    {"an origin that is no JSON", [](const Editor& e) { e.node("mul").metadata = {{"from_node", "{"}}; },
     "node-metadata", "node 'mul'", "its from_node metadata is no JSON array"},
};

}  // namespace

std::span<const Defect> graph_defects() { return kGraphDefects; }

}  // namespace flambeau::graph
