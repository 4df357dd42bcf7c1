// What a stranger's old program can get wrong, and what is said about it.
#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/upgrade/test_programs.h"
#include "flambeau/formats/pt2/upgrade/upgrade.h"
#include "flambeau/formats/pt2/upgrade/walk.h"

namespace flambeau::pt2 {
namespace {

using json::Value;

void expect_error(const std::string& text, ErrorCode code, const std::string& what) {
  Value value = json::parse(text);
  try {
    upgrade_program(value);
    FAIL() << "no error, expected: " << what;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(std::string(error.what()), what);
  }
}

TEST(UpgradeErrorTest, Versions) {
  expect_error(R"({"schema_version": {"major": 9, "minor": 1}})", ErrorCode::kUnsupported,
               "schema version 9.1 is newer than 8.20, which this Flambeau reads "
               "(use a newer Flambeau, or save the program with PyTorch 2.13 or older)");
  expect_error(R"({"schema_version": 0})", ErrorCode::kUnsupported,
               "schema version 0.0 is older than the first that PyTorch saved, 1 (export the program again)");
  expect_error("{}", ErrorCode::kCorrupt, "at 'schema_version': the program states no schema version");
  expect_error("[]", ErrorCode::kCorrupt, "at 'schema_version': expected an object, found an array");
  expect_error(R"({"schema_version": "8.1"})", ErrorCode::kCorrupt,
               "at 'schema_version': expected an object, found a string");
  expect_error(R"({"schema_version": {"major": 7}})", ErrorCode::kCorrupt,
               "at 'schema_version': expected a number, or an object with 'major' and 'minor'");
  expect_error(R"({"schema_version": -1})", ErrorCode::kCorrupt,
               "at 'schema_version': -1 is not a version number");
  expect_error(R"({"schema_version": 99999999999})", ErrorCode::kCorrupt,
               "at 'schema_version': 99999999999 is not a version number");
}

TEST(UpgradeErrorTest, Unions) {
  expect_error(replace(program(2), R"("as_none": null)", R"("as_none": [])"), ErrorCode::kCorrupt,
               "at 'graph_module.graph.inputs[0]': Argument has two members set, 'as_none' and 'as_tensor', "
               "expected one");
  expect_error(replace(program(2), R"("as_tensor": {"name": "w"})", R"("as_tensor": null)"),
               ErrorCode::kCorrupt,
               "at 'graph_module.graph.inputs[0]': Argument has no member set, expected one");
  expect_error(replace(program(5), R"("as_tensor": {"name": "w"})", R"("as_tensor": null)"),
               ErrorCode::kCorrupt,
               "at 'graph_module.graph.inputs[0]': Argument has no member set, expected one");
  expect_error(replace(program(5), R"("as_tensor")", R"("as_tenor")"), ErrorCode::kCorrupt,
               "at 'graph_module.graph.inputs[0]': Argument has no member 'as_tenor'");
  expect_error(replace(program(4), R"("$type": "as_tensor")", R"("$type": 3)"), ErrorCode::kCorrupt,
               "at 'graph_module.graph.inputs[0]': expected a string, found the integer 3");
}

TEST(UpgradeErrorTest, Values) {
  expect_error(replace(program(6), R"({"as_tensor": {"name": "w"}})", "7"), ErrorCode::kCorrupt,
               "at 'graph_module.graph.inputs[0]': expected an object, found the integer 7");
  expect_error(replace(program(3), R"(, "layout": 7)", ""), ErrorCode::kCorrupt,
               "at 'graph_module.graph.tensor_values[w]': TensorMeta has no 'layout'");
  expect_error(replace(program(4), R"(, "dialect": "ATEN")", ""), ErrorCode::kCorrupt,
               "'dialect' is missing");
  expect_error(replace(program(7), R"("min_val": 2)", R"("min_val": Infinity)"), ErrorCode::kCorrupt,
               "at 'range_constraints[s0]': expected an integer or -Infinity as 'min_val', found Infinity");
  expect_error(replace(program(7), R"("max_val": Infinity)", R"("max_val": 2.5)"), ErrorCode::kCorrupt,
               "at 'range_constraints[s0]': expected an integer or Infinity as 'max_val', found 2.5");
  expect_error(replace(program(7), R"("arg": {"as_tensor": {"name": "w"}})", R"("arg": {"as_none": [1]})"),
               ErrorCode::kCorrupt,
               "at 'graph_module.graph.nodes[0].inputs[1].arg': expected an empty list as 'as_none'");
}

TEST(UpgradeErrorTest, OldSignatures) {
  expect_error(replace(program(1), R"("user_inputs": ["x"])", R"("user_inputs": [])"), ErrorCode::kCorrupt,
               "at 'graph_module': at 'signature': the signature does not say what the input 'x' is");
  expect_error(replace(program(1), R"("user_outputs": ["y"])", R"("user_outputs": [])"), ErrorCode::kCorrupt,
               "at 'graph_module': at 'signature': the signature does not say what the output 'y' is");
  expect_error(
      replace(program(1), R"("inputs_to_parameters": {})", R"("inputs_to_parameters": {"p": "q"})"),
      ErrorCode::kCorrupt,
      "at 'graph_module': at 'signature': 'inputs_to_parameters' names 'p', which the graph does not have");
  expect_error(
      replace(program(1), R"("buffers_to_mutate": {})", R"("buffers_to_mutate": {"z": 1})"),
      ErrorCode::kCorrupt,
      "at 'graph_module': at 'signature': at 'buffers_to_mutate': expected a string, found the integer 1");
  expect_error(replace(program(1), R"("in_spec": "[1, {)", R"("in_spec": "[{)"), ErrorCode::kCorrupt,
               "at 'graph_module': at 'call_spec.in_spec': expected a protocol and a tree");
}

TEST(UpgradeErrorTest, CustomObjectsOfTheFirstMajors) {
  for (const int major : {1, 2}) {
    expect_error(
        replace(program(major), R"("arg": {"as_none": null, "as_tensor": {"name": "w"}})",
                R"("arg": {"as_custom_obj": {"blob": "AAAA"}})"),
        ErrorCode::kUnsupported,
        "at 'graph_module.graph.nodes[0].inputs[1].arg.as_custom_obj': the program holds a custom object in "
        "the form of schema 1 or 2 (save the program again with PyTorch 2.3 or newer)");
  }
}

// Every value of the tree in turn replaced by one of another kind: an Error or a program, nothing else.
class Mutations {
 public:
  size_t run(const Value& original) {
    Value copy = original;
    visit(copy, copy);
    return count_;
  }

 private:
  void visit(Value& at, Value& root) {
    for (const Value& other :
         {Value(), Value(true), Value(7), Value(1e300), Value("s0"), Value(json::Array{Value(1)}),
          json::parse(R"({"as_int": 1})"), json::parse(R"({"$type": "$value", "$value": {}})")}) {
      Value saved = at;
      at = other;
      Value mutant = root;
      at = std::move(saved);
      ++count_;
      try {
        upgrade_program(mutant);
      } catch (const Error& error) {
        EXPECT_TRUE(error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kUnsupported)
            << error.what();
      }
    }
    if (at.is_object()) {
      for (auto& [name, member] : edit_object(at)) visit(member, root);
    } else if (at.is_array()) {
      for (Value& item : edit_array(at)) visit(item, root);
    }
  }

  size_t count_ = 0;
};

TEST(UpgradeErrorTest, SurvivesEveryReplacement) {
  for (int major = 1; major <= 7; ++major) {
    EXPECT_GT(Mutations().run(json::parse(program(major))), 500u);
  }
}

}  // namespace
}  // namespace flambeau::pt2
