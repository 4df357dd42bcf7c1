// What a stranger's program can get wrong, and what is said about it: by the reader, which takes what has the
// right form, and by verify(), which knows what it should mean.
#include <fmt/format.h>

#include "flambeau/formats/pt2/package_test_files.h"
#include "flambeau/formats/pt2/upgrade/test_programs.h"
#include "flambeau/graph/report/canonical.h"
#include "flambeau/graph/report/compare.h"
#include "flambeau/graph/report/summary.h"
#include "flambeau/graph/text/print.h"
#include "flambeau/graph/verify/verify.h"

namespace flambeau::pt2 {
namespace {

using graph::ExportedProgram;

ExportedProgram read(std::string_view text) {
  Notes notes;
  return read_program(text, notes);
}
std::string read_error(std::string_view text) {
  return error_text([&] { read(text); });
}

std::string times(size_t count, std::string_view text) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

// y = add(x, x), with what a test wants to be different.
struct Small {
  std::string inputs = R"([{"as_tensor": {"name": "x"}}])";
  std::string outputs = R"([{"as_tensor": {"name": "y"}}])";
  std::string target = "torch.ops.aten.add.Tensor";
  std::string arguments = R"([{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}, )"
                          R"({"name": "other", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}])";
  std::string results = R"([{"as_tensor": {"name": "y"}}])";
  std::string more_nodes;
  std::string size = R"({"as_int": 2})";
  std::string more_values;
  std::string sym_ints;
  std::string input_specs = R"([{"user_input": {"arg": {"as_tensor": {"name": "x"}}}}])";
  std::string output_specs = R"([{"user_output": {"arg": {"as_tensor": {"name": "y"}}}}])";
  std::string in_spec = R"([1, {\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": [)"
                        R"({\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": [)"
                        R"({\"type\": null, \"context\": null, \"children_spec\": []}]}, )"
                        R"({\"type\": \"builtins.dict\", \"context\": \"[]\", \"children_spec\": []}]}])";
  std::string ranges;

  std::string meta() const {
    return fmt::format(R"({{"dtype": 7, "sizes": [{}], "requires_grad": false, "device": {{"type": "cpu", )"
                       R"("index": null}}, "strides": [{{"as_int": 1}}], "storage_offset": {{"as_int": 0}}, )"
                       R"("layout": 7}})",
                       size);
  }
  std::string text() const {
    const std::string table = fmt::format(R"("x": {0}, "y": {0})", meta()) + more_values;
    return R"({"graph_module": {"graph": {"inputs": )" + inputs + R"(, "outputs": )" + outputs +
           R"(, "nodes": [{"target": ")" + target + R"(", "inputs": )" + arguments + R"(, "outputs": )" +
           results + R"(, "metadata": {}, "is_hop_single_tensor_return": null, "name": "y"})" + more_nodes +
           R"(], "tensor_values": {)" + table + R"(}, "sym_int_values": {)" + sym_ints +
           R"(}, "sym_bool_values": {}, "is_single_tensor_return": false, "custom_obj_values": {}, )"
           R"("sym_float_values": {}}, "signature": {"input_specs": )" +
           input_specs + R"(, "output_specs": )" + output_specs +
           R"(}, "module_call_graph": [{"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec": ")" +
           in_spec +
           R"(", "out_spec": "[1, {\"type\": null, \"context\": null, \"children_spec\": []}]", )"
           R"("forward_arg_names": ["x"]}}], "metadata": {}, "treespec_namedtuple_fields": {}}, )"
           R"("opset_version": {"aten": 10}, "range_constraints": {)" +
           ranges +
           R"(}, "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"], "torch_version": "2.13.0", )"
           R"("guards_code": []})";
  }
  ExportedProgram program() const { return read(text()); }
};

// Whether verify() says something under this rule.
bool is_found(const ExportedProgram& program, std::string_view rule) {
  for (const graph::Finding& finding : graph::verify(program)) {
    if (finding.rule == rule) return true;
  }
  return false;
}

std::string canonical_error(const ExportedProgram& program) {
  return error_text([&] { graph::canonicalize(program); });
}

// Everything that looks at a program survives it.
void look_at(const ExportedProgram& program) {
  graph::verify(program);
  graph::summarize(program);
  graph::to_text(program);
  graph::to_text(program, {.lossless = true});
  canonical_error(program);
  EXPECT_TRUE(graph::compare_programs(program, program).differences.empty());
  program.graph().for_each_graph([](const graph::Graph& graph) { graph.lint(); });
  EXPECT_EQ(write_program(program.clone()), write_program(program));
}

TEST(ProgramError, TheProgramOfTheTestsIsFine) {
  const ExportedProgram program = Small().program();
  for (const graph::Finding& finding : graph::verify(program)) ADD_FAILURE() << finding.to_string();
  EXPECT_EQ(write_program(program), Small().text());
  look_at(program);
}

// Row 41.
TEST(ProgramError, DeepNesting) {
  const std::string deep = times(600, "[");
  EXPECT_EQ(read_error(R"({"graph_module": )" + deep), "limit: byte 528: JSON nested deeper than 512 levels");
  Small small;
  small.arguments = R"([{"name": "", "arg": )" + times(200, R"({"as_string_to_argument": {"a": )") +
                    R"({"as_int": 1})" + times(200, "}}") + R"(, "kind": 1}])";
  look_at(small.program());
  small.arguments = R"([{"name": "", "arg": )" + times(300, R"({"as_string_to_argument": {"a": )") +
                    R"({"as_int": 1})" + times(300, "}}") + R"(, "kind": 1}])";
  EXPECT_TRUE(read_error(small.text()).starts_with("limit: byte ")) << read_error(small.text());
}

TEST(ProgramError, NestedSubgraphs) {
  const auto nested = [](size_t depth) {
    const std::string empty =
        R"("outputs": [], "tensor_values": {}, "sym_int_values": {}, "sym_bool_values": {}, )"
        R"("is_single_tensor_return": false, "custom_obj_values": {}, "sym_float_values": {}, "inputs": [])";
    std::string graph = "{" + empty + R"(, "nodes": []})";
    for (size_t i = 0; i < depth; ++i) {
      graph = "{" + empty +
              R"(, "nodes": [{"target": "torch.ops.higher_order.cond", "inputs": [{"name": "", "arg": )" +
              R"({"as_graph": {"name": "g", "graph": )" + graph +
              R"(}}, "kind": 1}], "outputs": [], "metadata": {}}]})";
    }
    Small small;
    small.arguments =
        R"([{"name": "", "arg": {"as_graph": {"name": "g", "graph": )" + graph + R"(}}, "kind": 1}])";
    return small.text();
  };
  look_at(read(nested(60)));
  EXPECT_TRUE(read_error(nested(100)).starts_with("limit: byte "));
}

TEST(ProgramError, DeepExpressionsAndSpecs) {
  Small small;
  for (const size_t depth : {10, 1000, 100'000}) {
    small.size = R"({"as_expr": {"expr_str": ")" + times(depth, "Add(") + "Integer(1)" +
                 times(depth, ", Integer(1))") + R"(", "hint": null}})";
    look_at(small.program());
    small.size = R"({"as_expr": {"expr_str": ")" + times(depth, "(") + R"(", "hint": null}})";
    look_at(small.program());
  }
  small = Small();
  for (const size_t depth : {10, 1000, 50'000}) {
    small.in_spec =
        "[1, " +
        times(depth, R"({\"type\": \"builtins.list\", \"context\": \"null\", \"children_spec\": [)") +
        times(depth, "]}") + "]";
    look_at(small.program());
  }
}

// Row 42.
TEST(ProgramError, DuplicateKeys) {
  EXPECT_EQ(read_error(replace(Small().text(), R"("y": {"dtype")", R"("x": {"dtype")")),
            "corrupt: graph 'main': a JSON object has the key \"x\" more than once");
  EXPECT_EQ(read_error(replace(Small().text(), R"("metadata": {})", R"("metadata": {}, "metadata": {})")),
            "corrupt: graph 'main': a JSON object has the key \"metadata\" more than once");
  EXPECT_EQ(read_error(replace(Small().text(), R"({"name": "x"})", R"({"name": "x", "name": "x"})")),
            "corrupt: a JSON object has the key \"name\" more than once");
  for (const char* key : {"nodes", "tensor_values", "graph", "graph_module", "schema_version", "outputs"}) {
    const std::string member = fmt::format("\"{}\": ", key);
    EXPECT_NE(read_error(replace(Small().text(), member, member + "[], " + member))
                  .find(fmt::format("a JSON object has the key \"{}\" more than once", key)),
              std::string::npos)
        << key;
  }
  Small small;
  small.sym_ints = R"("x": {"as_int": 3})";
  EXPECT_EQ(read_error(small.text()),
            "corrupt: graph 'main': value 'x': described twice, as tensor and as SymInt");
}

TEST(ProgramError, IntegersThatAreNone) {
  const auto with_size = [](std::string_view number) {
    Small small;
    small.size = fmt::format(R"({{"as_int": {}}})", number);
    return read_error(small.text());
  };
  const std::string where = "graph 'main': value 'x': ";
  EXPECT_EQ(with_size("9223372036854775807"), "no error");
  EXPECT_EQ(with_size("-9223372036854775808"), "no error");
  EXPECT_EQ(with_size("9223372036854775808"),
            "corrupt: " + where + "expected a 64-bit integer, found the integer 9223372036854775808");
  EXPECT_TRUE(with_size("18446744073709551616").starts_with("corrupt: byte "))
      << with_size("18446744073709551616");
  EXPECT_TRUE(with_size("-9223372036854775809").starts_with("corrupt: byte "));
  EXPECT_TRUE(with_size("1e400").starts_with("corrupt: byte ")) << with_size("1e400");
  EXPECT_EQ(with_size("NaN"), "corrupt: " + where + "expected a 64-bit integer, found the number NaN");
  EXPECT_EQ(with_size("-Infinity"),
            "corrupt: " + where + "expected a 64-bit integer, found the number -Infinity");
  EXPECT_EQ(with_size("2.0"), "corrupt: " + where + "expected a 64-bit integer, found the number 2.0");
  EXPECT_EQ(with_size("1e2"), "corrupt: " + where + "expected a 64-bit integer, found the number 100.0");
  EXPECT_EQ(with_size("true"), "corrupt: " + where + "expected a 64-bit integer, found a boolean");
  EXPECT_EQ(with_size("\"2\""), "corrupt: " + where + "expected a 64-bit integer, found a string");
  EXPECT_EQ(with_size("null"), "corrupt: " + where + "expected a 64-bit integer, found null");
  Small small;
  small.ranges = R"("s0": {"min_val": NaN, "max_val": 3})";
  EXPECT_EQ(read_error(small.text()),
            "corrupt: range constraint 's0': expected a 64-bit integer, found the number NaN");
  small.ranges = R"("s0": {"min_val": "Infinity", "max_val": Infinity})";
  EXPECT_EQ(read_error(small.text()), "no error");
  small.ranges = R"("s0": {"min_val": 2.5, "max_val": 3})";
  EXPECT_EQ(read_error(small.text()),
            "corrupt: range constraint 's0': expected a 64-bit integer, found the number 2.5");
}

TEST(ProgramError, WrongShapes) {
  const auto with_argument = [](std::string_view argument) {
    Small small;
    small.arguments = fmt::format(R"([{{"name": "a", "arg": {}}}])", argument);
    return read_error(small.text());
  };
  const std::string where = "graph 'main': node '0': input 'a': ";
  EXPECT_EQ(with_argument("{}"), "corrupt: " + where + "an argument has no member that is set");
  EXPECT_EQ(with_argument("[]"), "corrupt: " + where + "expected an object, found an array");
  EXPECT_EQ(with_argument(R"({"as_int": 1, "as_bool": true})"),
            "corrupt: " + where +
                "an argument has two members that are set, 'as_int' and 'as_bool', instead of one");
  EXPECT_EQ(with_argument(R"({"as_int": null})"),
            "corrupt: " + where + "expected a 64-bit integer, found null");
  EXPECT_EQ(with_argument(R"({"as_tensor": {}})"),
            "corrupt: " + where + "a tensor argument has no member 'name'");
  EXPECT_EQ(with_argument(R"({"as_tensors": {}})"),
            "corrupt: " + where + "expected an array, found an object");
  EXPECT_EQ(with_argument(R"({"as_ints": [1, 2.5]})"),
            "corrupt: " + where + "expected a 64-bit integer, found the number 2.5");
  EXPECT_EQ(with_argument(R"({"as_scalar_type": 99})"),
            "unsupported: " + where + "99 is not the number of an element type that this version knows");
  EXPECT_EQ(with_argument(R"({"as_memory_format": 0})"),
            "unsupported: " + where + "0 is not the number of a memory format that this version knows");
  EXPECT_EQ(with_argument(R"({"as_sym_int": {"as_float": 1.5}})"),
            "unsupported: " + where +
                "a symbolic argument has a member 'as_float', which this version does not know");
  EXPECT_EQ(with_argument(R"({"as_graph": {"name": "g", "graph": {}}})"),
            "corrupt: " + where + "subgraph 'g': a graph has no member 'inputs'");
  EXPECT_EQ(with_argument(R"({"as_complex": {"real": 1}})"),
            "corrupt: " + where + "a complex number has no member 'imag'");
  Small small;
  small.arguments = R"([{"name": "a", "arg": {"as_int": 1}, "kind": 3}])";
  EXPECT_EQ(
      read_error(small.text()),
      "unsupported: graph 'main': node '0': 3 is not a way of passing an argument that this version knows");
  EXPECT_EQ(read_error(replace(Small().text(), R"("opset_version")", R"("opset")")),
            "corrupt: an exported program has no member 'opset_version'");
  EXPECT_EQ(
      read_error(replace(Small().text(), R"("metadata": {}, "is_hop)", R"("metadata": {"a": 1}, "is_hop)")),
      "corrupt: graph 'main': node '0': expected a string, found the integer 1");
}

// Row 43: these open, for a person wants to see them; verify() says what is wrong, and the canonical form
// refuses.
TEST(ProgramError, NamesThatNothingGives) {
  Small small;
  small.arguments = R"([{"name": "self", "arg": {"as_tensor": {"name": "z"}}, "kind": 1}, )"
                    R"({"name": "other", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}])";
  const ExportedProgram program = small.program();
  EXPECT_TRUE(is_found(program, "undefined-value"));
  EXPECT_EQ(canonical_error(program),
            "corrupt: node 'y' uses 'z', which nothing gives (see what flambeau verify says of it)");
  EXPECT_EQ(program.graph().lint(), std::vector<std::string>{"node 'y' uses 'z', which nothing gives"});
  look_at(program);
  EXPECT_EQ(write_program(program), small.text());
}

TEST(ProgramError, NamesGivenTwice) {
  Small small;
  small.more_nodes =
      R"(, {"target": "torch.ops.aten.sin.default", "inputs": [{"name": "self", "arg": )"
      R"({"as_tensor": {"name": "x"}}, "kind": 1}], "outputs": [{"as_tensor": {"name": "y"}}], )"
      R"("metadata": {}, "is_hop_single_tensor_return": null, "name": "sin"})";
  EXPECT_FALSE(graph::verify(small.program()).empty());
  EXPECT_EQ(canonical_error(small.program()),
            "corrupt: the value 'y' is given twice (see what flambeau verify says of it)");
  EXPECT_EQ(small.program().graph().lint(),
            std::vector<std::string>{"value 'y' is given twice; the second time by node 'sin'"});
  look_at(small.program());
  small = Small();
  small.inputs = R"([{"as_tensor": {"name": "x"}}, {"as_tensor": {"name": "x"}}])";
  small.input_specs =
      R"([{"user_input": {"arg": {"as_tensor": {"name": "x"}}}}, {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}])";
  EXPECT_EQ(canonical_error(small.program()),
            "corrupt: the value 'x' is given twice (see what flambeau verify says of it)");
  look_at(small.program());
  small = Small();
  small.results = R"([{"as_tensor": {"name": "x"}}])";  // an input that a node gives too
  EXPECT_FALSE(graph::verify(small.program()).empty());
  look_at(small.program());
}

TEST(ProgramError, NodesThatWaitForEachOther) {
  Small small;
  small.arguments = R"([{"name": "self", "arg": {"as_tensor": {"name": "y"}}, "kind": 1}])";
  EXPECT_EQ(canonical_error(small.program()),
            "corrupt: 1 of 1 nodes cannot be ordered: they wait for each other's values (see what flambeau "
            "verify says "
            "of it)");
  EXPECT_EQ(small.program().graph().lint(), std::vector<std::string>{"node 'y' uses 'y' before it is given"});
  look_at(small.program());
}

TEST(ProgramError, ValuesInsideOfDictionaries) {
  Small small;
  small.inputs = R"([{"as_string_to_argument": {"a": {"as_tensor": {"name": "x"}}}}])";
  EXPECT_EQ(canonical_error(small.program()),
            "corrupt: the value 'x' is given in a dictionary, which has no order (see what flambeau verify "
            "says of it)");
  look_at(small.program());
}

TEST(ProgramError, WrongArguments) {
  Small small;
  small.arguments = "[]";
  EXPECT_FALSE(graph::verify(small.program()).empty());
  look_at(small.program());
  small.arguments = R"([{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}, )" +
                    times(8, R"({"name": "other", "arg": {"as_int": 1}, "kind": 1}, )") +
                    R"({"name": "no_such", "arg": {"as_int": 1}, "kind": 2}])";
  EXPECT_FALSE(graph::verify(small.program()).empty());
  look_at(small.program());
  small = Small();
  small.results = R"([{"as_tensor": {"name": "y"}}, {"as_int": 3}, {"as_none": true}])";
  EXPECT_FALSE(graph::verify(small.program()).empty());
  look_at(small.program());
  small = Small();
  small.input_specs = "[]";
  EXPECT_FALSE(graph::verify(small.program()).empty());
  EXPECT_EQ(canonical_error(small.program()),
            "corrupt: the graph has 1 inputs, and the signature 0 (see what flambeau verify says of it)");
  look_at(small.program());
  small = Small();
  small.output_specs = "[]";
  EXPECT_EQ(canonical_error(small.program()),
            "corrupt: the graph has 1 outputs, and the signature 0 (see what flambeau verify says of it)");
  look_at(small.program());
}

TEST(ProgramError, NamesThatTheCanonicalFormWants) {
  Small small;
  small.more_values = ", \"_0\": " + small.meta() + ", \"_1\": " + small.meta();
  small.output_specs = R"([{"user_output": {"arg": {"as_tensor": {"name": "_0"}}}}])";
  small.outputs = R"([{"as_tensor": {"name": "_1"}}])";
  look_at(small.program());
  EXPECT_TRUE(canonical_error(small.program()).starts_with("corrupt: ")) << canonical_error(small.program());
}

}  // namespace
}  // namespace flambeau::pt2
