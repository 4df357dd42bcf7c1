// The rarer changes, one at a time.
#include <gtest/gtest.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/upgrade/steps.h"
#include "flambeau/formats/pt2/upgrade/test_programs.h"
#include "flambeau/formats/pt2/upgrade/upgrade.h"

namespace flambeau::pt2 {
namespace {

using json::Value;

// torch.save of [1.5, 2.5], as PyTorch 2.1 put it into a graph.
constexpr std::string_view kConstant =
    "UEsDBAAACAgAAAAAAAAAAAAAAAAAAAAAAAAQABIAYXJjaGl2ZS9kYXRhLnBrbEZCDgBaWlpaWlpaWlpaWlpaWoACY3RvcmNoLl91"
    "dGlscwpfcmVidWlsZF90ZW5zb3JfdjIKcQAoKFgHAAAAc3RvcmFnZXEBY3RvcmNoCkZsb2F0U3RvcmFnZQpxAlgBAAAAMHEDWAMA"
    "AABjcHVxBEsCdHEFUUsASwKFcQZLAYVxB4ljY29sbGVjdGlvbnMKT3JkZXJlZERpY3QKcQgpUnEJdHEKUnELLlBLBwgAFEC0lgAA"
    "AJYAAABQSwMEAAAICAAAAAAAAAAAAAAAAAAAAAAAAA4ALgBhcmNoaXZlL2RhdGEvMEZCKgBaWlpaWlpaWlpaWlpaWlpaWlpaWlpa"
    "WlpaWlpaWlpaWlpaWlpaWlpaWloAAMA/AAAgQFBLBwi4i+O0CAAAAAgAAABQSwMEAAAICAAAAAAAAAAAAAAAAAAAAAAAAA8AOwBh"
    "cmNoaXZlL3ZlcnNpb25GQjcAWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWjMK"
    "UEsHCNGeZ1UCAAAAAgAAAFBLAQIAAAAACAgAAAAAAAAAFEC0lgAAAJYAAAAQAAAAAAAAAAAAAAAAAAAAAABhcmNoaXZlL2RhdGEu"
    "cGtsUEsBAgAAAAAICAAAAAAAALiL47QIAAAACAAAAA4AAAAAAAAAAAAAAAAA5gAAAGFyY2hpdmUvZGF0YS8wUEsBAgAAAAAICAAA"
    "AAAAANGeZ1UCAAAAAgAAAA8AAAAAAAAAAAAAAAAAWAEAAGFyY2hpdmUvdmVyc2lvblBLBgYsAAAAAAAAAB4DLQAAAAAAAAAAAAMA"
    "AAAAAAAAAwAAAAAAAAC3AAAAAAAAANIBAAAAAAAAUEsGBwAAAACJAgAAAAAAAAEAAABQSwUGAAAAAAMAAwC3AAAA0gEAAAAA";

struct Result {
  Upgrade upgrade;
  Value program;
  std::string text;

  bool noted(std::string_view sentence) const {
    return std::ranges::find(upgrade.notes, sentence) != upgrade.notes.end();
  }
};

Result run(const std::string& text) {
  Result result;
  result.program = json::parse(text);
  try {
    result.upgrade = upgrade_program(result.program);
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
  result.text = json::dump(result.program);
  return result;
}

// The second argument of the addition is this one.
std::string with_argument(int major, const std::string& argument) {
  Form form;
  form.all_members = major <= 2;
  form.tagged = major == 3 || major == 4;
  return replace(program(major), R"({"name": "other", "arg": )" + tensor(form, "w"),
                 R"({"name": "other", "arg": )" + argument);
}

std::string argument_of(const Result& result) {
  const Value* graph = result.program.find("graph_module")->find("graph");
  const Value& node = graph->find("nodes")->as_array().at(0);
  return json::dump(*node.find("inputs")->as_array().at(1).find("arg"));
}

TEST(UpgradeDetailTest, NoneWasAnEmptyList) {
  const Result result = run(with_argument(7, R"({"as_none": []})"));
  EXPECT_EQ(argument_of(result), R"({"as_none": true})");
  EXPECT_TRUE(result.noted("as_none rewritten from an empty list to true"));
}

TEST(UpgradeDetailTest, NumbersThatAreNotFinite) {
  EXPECT_EQ(argument_of(run(with_argument(5, R"({"as_float": NaN})"))), R"({"as_float": "NaN"})");
  EXPECT_EQ(argument_of(run(with_argument(5, R"({"as_float": -0.5})"))), R"({"as_float": -0.5})");
  const Result result = run(with_argument(7, R"({"as_floats": [1.5, Infinity, -Infinity]})"));
  EXPECT_EQ(argument_of(result), R"({"as_floats": [1.5, "Infinity", "-Infinity"]})");
  EXPECT_TRUE(result.noted("numbers that are not finite rewritten as text"));
}

TEST(UpgradeDetailTest, OptionalTensors) {
  const char* today = R"({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "w"}}]})";
  EXPECT_EQ(
      argument_of(run(with_argument(2, R"({"as_none": null, "as_optional_tensors": [{"as_tensor": null, )"
                                       R"("as_none": []}, {"as_tensor": "w", "as_none": null}]})"))),
      today);
  EXPECT_EQ(
      argument_of(run(with_argument(4, R"({"$type": "as_optional_tensors", "$value": [{"$type": "as_none", )"
                                       R"("$value": []}, {"$type": "as_tensor", "$value": "w"}]})"))),
      today);
  const Result result =
      run(with_argument(5, R"({"as_optional_tensors": [{"as_none": []}, {"as_tensor": "w"}]})"));
  EXPECT_EQ(argument_of(result), today);
  EXPECT_TRUE(result.noted("optional tensors rewritten from names to tensor arguments"));
}

// The node's results, and the flag.
std::string results(int major, const std::string& outputs) {
  Form form;
  form.all_members = major <= 2;
  std::string text = replace(program(major), "torch.ops.aten.add.Tensor", "torch.ops.higher_order.cond");
  const std::string old = R"("outputs": [)" + tensor(form, "y") + R"(], "metadata")";
  const Result result = run(replace(text, old, R"("outputs": )" + outputs + R"(, "metadata")"));
  const Value& node = result.program.find("graph_module")->find("graph")->find("nodes")->as_array().at(0);
  EXPECT_TRUE(result.noted("results of higher-order operators marked as one tensor or a tuple"));
  return json::dump(*node.find("outputs")) + " " + json::dump(*node.find("is_hop_single_tensor_return"));
}

TEST(UpgradeDetailTest, ResultsOfHigherOrderOperators) {
  EXPECT_EQ(results(7, R"([{"as_tensor": {"name": "y"}}])"), R"([{"as_tensor": {"name": "y"}}] true)");
  EXPECT_EQ(results(7, R"([{"as_tensors": [{"name": "y"}]}])"), R"([{"as_tensor": {"name": "y"}}] false)");
  EXPECT_EQ(results(7, R"([{"as_tensor": {"name": "y"}}, {"as_tensor": {"name": "z"}}])"),
            R"([{"as_tensor": {"name": "y"}}, {"as_tensor": {"name": "z"}}] false)");
  EXPECT_EQ(results(1, R"([{"as_none": null, "as_tensors": [{"name": "y"}, {"name": "z"}]}])"),
            R"([{"as_tensor": {"name": "y"}}, {"as_tensor": {"name": "z"}}] false)");
}

TEST(UpgradeDetailTest, SymbolicBooleansOfTheFirst) {
  const Result result = run(replace(program(1), R"("sym_bool_values": {})",
                                    R"("sym_bool_values": {"b": {"as_expr": "s0 > i3", "as_bool": null}})"));
  EXPECT_NE(
      result.text.find(R"-("b": {"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True) > )-"
                       R"-(Symbol('u3', integer=True)", "hint": null}})-"),
      std::string::npos);
}

TEST(UpgradeDetailTest, UnbackedSymbolsChangedTheirLetter) {
  const Result result = run(replace(replace(program(2), R"("s0": {)", R"("i0": {)"), R"("expr_str": "s0")",
                                    R"("expr_str": "2*i0")"));
  EXPECT_NE(result.text.find(R"("range_constraints": {"u0": {)"), std::string::npos);
  EXPECT_NE(result.text.find("2*Symbol('u0', integer=True)"), std::string::npos);
  EXPECT_EQ(rename_unbacked("i0 + i12*ix + i(1) + pi0"), "u0 + u12*ix + i(1) + pi0");
}

TEST(UpgradeDetailTest, ConstantsInsideTheGraph) {
  const Result result = run(replace(
      program(1), R"("is_single_tensor_return": false)",
      R"("is_single_tensor_return": false, "constants": {"c": ")" + std::string(kConstant) + R"("})"));
  ASSERT_EQ(result.upgrade.constants.size(), 1u);
  EXPECT_EQ(result.upgrade.constants[0].first, "c");
  EXPECT_EQ(result.upgrade.constants[0].second.summary(), "float32[2]");
  const Value* module = result.program.find("graph_module");
  EXPECT_EQ(json::dump(*module->find("graph")->find("inputs")),
            R"([{"as_tensor": {"name": "w"}}, {"as_tensor": {"name": "c"}}, {"as_tensor": {"name": "x"}}])");
  EXPECT_EQ(json::dump(module->find("signature")->find("input_specs")->as_array().at(1)),
            R"({"tensor_constant": {"arg": {"name": "c"}, "tensor_constant_name": "c"}})");
  EXPECT_EQ(
      json::dump(*module->find("graph")->find("tensor_values")->find("c")),
      R"({"dtype": 7, "sizes": [{"as_int": 2}], "requires_grad": false, "device": {"type": "cpu", "index": null}, )"
      R"("strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7})");
  EXPECT_EQ(module->find("graph")->find("constants"), nullptr);
  EXPECT_TRUE(result.noted("constants inside the graph made inputs of it"));
}

std::string constant_error(const std::string& constants) {
  Value value = json::parse(replace(program(1), R"("is_single_tensor_return": false)",
                                    R"("is_single_tensor_return": false, "constants": )" + constants));
  try {
    upgrade_program(value);
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(UpgradeDetailTest, BadConstants) {
  EXPECT_EQ(constant_error(R"({"c": "AAA"})"),
            "at 'graph_module': constant 'c': the base64 text is cut short");
  EXPECT_EQ(constant_error(R"({"c": "A*AA"})"), "at 'graph_module': constant 'c': the text is not base64");
  EXPECT_EQ(constant_error(R"({"c": 3})"),
            "at 'graph_module': constant 'c': expected a string, found the integer 3");
  EXPECT_EQ(constant_error(R"({"x": "AAAA"})"),
            "at 'graph_module': constant 'x': the graph computes a tensor of that name");
  EXPECT_EQ(constant_error("{}"), "no error");
}

TEST(UpgradeDetailTest, MetadataOfTheFirst) {
  const char* old = R"-("metadata": {"nn_module_stack": "a:(,m.M);b:(b,m.N)", "source_fn": "l,torch.add"})-";
  const Result result = run(replace(program(1), R"("metadata": {})", old));
  EXPECT_NE(result.text.find(
                R"("metadata": {"nn_module_stack": "a,,m.M;b,b,m.N", "source_fn_stack": "l,torch.add"})"),
            std::string::npos);
  EXPECT_TRUE(result.noted("stacks of modules rewritten as lists"));
  const char* odd = R"-("metadata": {"nn_module_stack": "a:(x,y,z)"})-";
  EXPECT_NE(run(replace(program(1), R"("metadata": {})", odd)).text.find(R"("metadata": {}, )"),
            std::string::npos);
}

TEST(UpgradeDetailTest, SignatureOfATrainingStep) {
  std::string text = program(1);
  text = replace(
      text, R"("user_outputs": ["y"], "buffers_to_mutate": {}, "backward_signature": null)",
      R"("user_outputs": ["y"], "buffers_to_mutate": {"y": "weight"}, "backward_signature": )"
      R"({"gradients_to_parameters": {"g": "p.q"}, "gradients_to_user_inputs": {"h": "x"}, "loss_output": "l"})");
  Form form;
  form.all_members = true;
  text = replace(text, R"("outputs": [)" + tensor(form, "y") + "]",
                 R"("outputs": [)" + tensor(form, "y") + ", " + tensor(form, "l") + ", " + tensor(form, "y") +
                     ", " + tensor(form, "g") + ", " + tensor(form, "h") + "]");
  const Result result = run(text);
  EXPECT_EQ(
      json::dump(*result.program.find("graph_module")->find("signature")->find("output_specs")),
      R"([{"buffer_mutation": {"arg": {"name": "y"}, "buffer_name": "weight"}}, )"
      R"({"loss_output": {"arg": {"name": "l"}}}, {"user_output": {"arg": {"as_tensor": {"name": "y"}}}}, )"
      R"({"gradient_to_parameter": {"arg": {"name": "g"}, "parameter_name": "p.q"}}, )"
      R"({"gradient_to_user_input": {"arg": {"name": "h"}, "user_input_name": "x"}}])");
}

TEST(UpgradeDetailTest, SpecsThatWereNewInMajorOne) {
  // Nightly builds wrote specs, and for four days a misspelt one, under the number 1.
  const Result result = run(replace(
      replace(program(2), R"("schema_version": 2)", R"("schema_version": 1)"),
      R"({"loss_output": null, "user_output": {"arg": {"as_none": null, "as_tensor": {"name": "y"}}}})",
      R"({"user_output": null, "loss_outout": {"arg": {"name": "y"}}})"));
  EXPECT_NE(result.text.find(R"("output_specs": [{"loss_output": {"arg": {"name": "y"}}}])"),
            std::string::npos);
  EXPECT_FALSE(result.noted("graph signature rewritten from name tables to input and output specs"));
}

TEST(UpgradeDetailTest, KeywordArgumentsInTheCallSpec) {
  // Already (args, kwargs): the dictionary has a key.
  const std::string leaf = R"({"type": null, "context": null, "children_spec": []})";
  const std::string one =
      R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [)" + leaf + "]}]";
  const std::string pair =
      R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": "builtins.tuple", )"
      R"("context": "null", "children_spec": []}, {"type": "builtins.dict", "context": "[\"k\"]", "children_spec": [)" +
      leaf + "]}]}]";
  const Result result = run(replace(program(1), json::dump(one), json::dump(pair)));
  const Value& entry = result.program.find("graph_module")->find("module_call_graph")->as_array().at(0);
  EXPECT_EQ(entry.find("signature")->find("in_spec")->as_string(), pair);
}

TEST(UpgradeDetailTest, MetasOfScriptObjects) {
  const Result result =
      run(replace(program(3), R"("custom_obj_values": {})",
                  R"("script_object_metas": {"o": {"constant_name": "c", "class_fqn": "a.B"}})"));
  EXPECT_NE(result.text.find(R"("custom_obj_values": {"o": {"name": "o", "class_fqn": "a.B"}})"),
            std::string::npos);
  EXPECT_TRUE(result.noted("metas of script objects rewritten as custom objects"));
}

TEST(UpgradeDetailTest, DialectWithoutVerifiers) {
  const Result result =
      run(replace(program(6), R"("verifiers": ["ATEN"], "dialect": "")", R"("dialect": "EDGE")"));
  EXPECT_NE(result.text.find(R"("verifiers": ["EDGE"])"), std::string::npos);
}

}  // namespace
}  // namespace flambeau::pt2
