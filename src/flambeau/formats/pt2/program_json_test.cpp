#include "flambeau/formats/pt2/program_json.h"

#include <fmt/format.h>

#include <set>

#include "flambeau/formats/pt2/package_test_files.h"
#include "flambeau/formats/pt2/schema_versions.h"
#include "flambeau/formats/pt2/upgrade/test_programs.h"
#include "flambeau/formats/pt2/upgrade/walk.h"
#include "flambeau/graph/report/canonical.h"
#include "flambeau/graph/verify/verify.h"

namespace flambeau::pt2 {
namespace {

using graph::ArgumentKind;
using graph::ExportedProgram;

ExportedProgram read_text(std::string_view text) {
  Notes notes;
  return read_program(text, notes);
}

// Adds a member to every object of the schema.
struct AddMember : ProgramVisitor {
  std::set<std::string> seen;
  std::set<std::string> left_out;
  void enter(const SchemaType&, json::Value&) override {}
  void leave(const SchemaType& type, json::Value& value) override {
    if (type.is_union || !value.is_object() || left_out.contains(std::string(type.name))) return;
    seen.insert(std::string(type.name));
    value.set("zz_later", json::Value(json::Object{{"a", json::Array{1, 0.5, nullptr}}}));
  }
};

std::string with_schema(std::string text, std::string_view version) {
  return replace(std::move(text), R"("schema_version": {"major": 8, "minor": 20})",
                 R"("schema_version": )" + std::string(version));
}

TEST(ProgramJson, MembersOfANewerVersionStayWhereTheyAre) {
  std::set<std::string> seen;
  for (const std::string& name : golden_names()) {
    json::Value tree = json::parse(with_schema(program_json(name), R"({"major": 8, "minor": 99})"));
    AddMember visitor;
    // These are only names in a graph, and numbers.
    visitor.left_out = {"TensorArgument", "TokenArgument", "ComplexValue", "SchemaVersion"};
    walk_program(tree, visitor);
    seen.insert(visitor.seen.begin(), visitor.seen.end());
    const std::string text = json::dump(tree);
    Notes notes;
    const ExportedProgram program = read_program(text, notes);
    EXPECT_EQ(notes, Notes{"schema 8.99 is newer than 8.20: what it added is kept and not checked"}) << name;
    EXPECT_EQ(write_program(program), text) << name;
    EXPECT_EQ(write_program(program.clone()), text) << name;
  }
  for (const char* type : {"ExportedProgram",
                           "GraphModule",
                           "Graph",
                           "Node",
                           "NamedArgument",
                           "TensorMeta",
                           "Device",
                           "SymExpr",
                           "GraphSignature",
                           "ModuleCallEntry",
                           "ModuleCallSignature",
                           "RangeConstraint",
                           "GraphArgument",
                           "UserInputSpec",
                           "InputToParameterSpec",
                           "InputToBufferSpec",
                           "InputToTensorConstantSpec",
                           "InputToConstantInputSpec",
                           "InputTokenSpec",
                           "UserOutputSpec",
                           "BufferMutationSpec",

                           "OutputTokenSpec"}) {
    EXPECT_TRUE(seen.contains(type)) << type;
  }
}

TEST(ProgramJson, WhatHasNoPlaceIsNoted) {
  const std::string text = program_json("control.custom_arguments");
  std::string newer = text;
  for (size_t at = 0; (at = newer.find(R"({"name": ")", at)) != std::string::npos; ++at) {
    const size_t end = newer.find('"', at + 10) + 1;
    if (newer[end] == '}') newer.insert(end, R"(, "later": 1)");
  }
  newer = with_schema(newer, R"({"major": 8, "minor": 21, "patch": 3})");
  ASSERT_NE(newer.find("later"), std::string::npos);
  Notes notes;
  EXPECT_EQ(write_program(read_program(newer, notes)), with_schema(text, R"({"major": 8, "minor": 21})"));
  EXPECT_EQ(notes,
            (Notes{"schema 8.21 is newer than 8.20: what it added is kept and not checked",
                   "a schema version has a member 'patch', which this version does not know: left out",
                   "a tensor argument has a member 'later', which this version does not know: left out"}));
}

TEST(ProgramJson, UnionMembersOfANewerVersionStay) {
  std::string text = program_json("weights.tied");
  text = replace(text, R"("arg": {"as_tensor": )", R"("arg": {"as_later": )");  // of a node
  text = replace(text, R"({"user_input": )", R"({"later_input": )");
  text = replace(text, R"({"user_output": )", R"({"later_output": )");
  const ExportedProgram program = read_text(text);
  EXPECT_EQ(write_program(program), text);
  EXPECT_EQ(write_program(program.clone()), text);
  EXPECT_TRUE(program.graph().nodes().begin()->inputs()[0].argument.is(ArgumentKind::kUnknown));
  EXPECT_EQ(program.signature.outputs[0].kind, graph::OutputKind::kUnknown);
  EXPECT_EQ(program.signature.outputs[0].unknown.first, "later_output");
  EXPECT_FALSE(graph::verify(program).empty());
  ExportedProgram older = program.clone();
  Notes notes;
  EXPECT_EQ(
      error_text([&] { set_schema(older, {8, 20}, notes); }),
      "unsupported: schema 8.20 cannot say what the program has: an argument of kind as_later, an input of "
      "kind later_input, an output of kind later_output (write a newer version)");
}

TEST(ProgramJson, UnknownMembersWhereOneValueIsNeeded) {
  const auto error = [](std::string_view golden, const std::string& from, const std::string& to) {
    return error_text([&] { read_text(replace(program_json(golden), from, to)); });
  };
  EXPECT_EQ(error("shapes.derived", R"({"as_expr": )", R"({"as_later": )"),
            "unsupported: graph 'main': value 'x': a SymInt has a member 'as_later', which this version does "
            "not know");
  EXPECT_EQ(error("shapes.derived", R"("hint": {"as_int": )", R"("hint": {"as_later": )"),
            "unsupported: graph 'main': value 'x': a hint has a member 'as_later', which this version does "
            "not know");
  EXPECT_EQ(error("weights.tied", R"("dtype": 7)", R"("dtype": 99)").substr(0, 28),
            "unsupported: graph 'main': v");
}

TEST(ProgramJson, NewerMajorsAreRefused) {
  EXPECT_EQ(
      error_text(
          [&] { read_text(with_schema(program_json("weights.tied"), R"({"major": 9, "minor": 1})")); }),
      "unsupported: schema version 9.1 is newer than 8.20, which this Flambeau reads (use a newer Flambeau, "
      "or "
      "save the program with PyTorch 2.13 or older)");
}

// PyTorch takes 0.0 for its own version; the number 0 is none.
TEST(ProgramJson, WithoutAVersion) {
  const std::string text = with_schema(program_json("weights.tied"), R"({"major": 0, "minor": 0})");
  Notes notes;
  EXPECT_TRUE(write_program(read_program(text, notes)) == text);
  EXPECT_EQ(notes, Notes());
  EXPECT_EQ(error_text([&] { read_text(with_schema(program_json("weights.tied"), "0")); }),
            "unsupported: schema version 0.0 is older than the first that PyTorch saved, 1 (export the "
            "program again)");
}

TEST(ProgramJson, OldMajorsBecomeNewOnes) {
  for (int major = 1; major <= 7; ++major) {
    Notes notes;
    const ExportedProgram program = read_program(pt2::program(major), notes);
    EXPECT_EQ(program.schema_version, kCurrentSchema);
    ASSERT_FALSE(notes.empty());
    EXPECT_TRUE(notes[0].starts_with("converted from schema ")) << notes[0];
    const std::string text = write_program(program);
    Notes none;
    EXPECT_EQ(write_program(read_program(text, none)), text) << major;
    EXPECT_EQ(none, Notes());
  }
}

// ---- every kind

struct Kind {
  const char* argument;
  int since = 1;
};
constexpr Kind kKinds[] = {
    {R"({"as_none": true})"},
    {R"({"as_tensor": {"name": "x"}})"},
    {R"({"as_tensors": [{"name": "x"}, {"name": "y"}]})"},
    {R"({"as_int": -9223372036854775808})"},
    {R"({"as_ints": [1, -2]})"},
    {R"({"as_float": 1e-05})"},
    {R"({"as_floats": [0.1, -0.0, "NaN"]})"},
    {R"({"as_string": "\u00e9\"\n\ud83d\ude00"})"},
    {R"({"as_strings": ["", "a"]})"},
    {R"({"as_sym_int": {"as_name": "s"}})"},
    {R"({"as_sym_ints": [{"as_int": 3}, {"as_name": "s"}]})"},
    {R"({"as_scalar_type": 13})"},
    {R"({"as_memory_format": 2})"},
    {R"({"as_layout": 7})"},
    {R"({"as_device": {"type": "cuda", "index": 1}})"},
    {R"({"as_bool": true})"},
    {R"({"as_bools": [true, false]})"},
    {R"({"as_sym_bool": {"as_bool": false}})"},
    {R"({"as_sym_bools": [{"as_name": "b"}, {"as_bool": true}]})"},
    {R"({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "x"}}]})"},
    {R"({"as_custom_obj": {"name": "o", "class_fqn": "__torch__.torch.classes.A"}})"},
    {R"({"as_operator": "torch.ops.aten.sin.default"})"},
    {R"({"as_sym_float": {"as_name": "f"}})", 2},
    {R"({"as_sym_floats": [{"as_float": 1.5}]})", 2},
    {R"({"as_optional_tensor": {"as_tensor": {"name": "x"}}})", 8},
    {R"({"as_complex": {"real": 1.0, "imag": -0.0}})", 13},
    {R"({"as_nested_tensors": [[{"name": "x"}], []]})", 17},
    {R"({"as_int_lists": [[1], [], [2, 3]]})", 15},
    {R"({"as_string_to_argument": {"a": {"as_int": 1}, "b": {"as_string_to_argument": {}}}})", 15},
    {R"({"as_float_lists": [[0.5]]})", 19},
};

// The program of a golden file whose first node takes this instead of a tensor.
std::string with_argument(std::string_view argument) {
  const std::string text = program_json("values.string_output");
  const std::string from = R"("arg": {"as_tensor": )";
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  const size_t end = text.find("}}", at) + 2;
  return text.substr(0, at) + R"("arg": )" + std::string(argument) + text.substr(end);
}

TEST(ProgramJson, EveryKindOfArgument) {
  for (const Kind& kind : kKinds) {
    const std::string text = with_argument(kind.argument);
    const ExportedProgram program = read_text(text);
    EXPECT_EQ(write_program(program), text);
    EXPECT_EQ(write_program(program.clone()), text);
    EXPECT_FALSE(program.graph().nodes().begin()->inputs()[0].argument.is(ArgumentKind::kUnknown))
        << kind.argument;
  }
}

TEST(ProgramJson, EveryKindOfSpecification) {
  std::string text = program_json("weights.tied");
  text = replace(text, R"("input_specs": [)",
                 R"("input_specs": [{"token": {"arg": {"name": "t"}}}, )"
                 R"({"custom_obj": {"arg": {"name": "o", "class_fqn": "c"}, "custom_obj_name": "n"}}, )"
                 R"({"tensor_constant": {"arg": {"name": "x"}, "tensor_constant_name": "n"}}, )"
                 R"({"buffer": {"arg": {"name": "x"}, "buffer_name": "n", "persistent": false}}, )"
                 R"({"constant_input": {"name": "a", "value": {"as_none": true}}}, )"
                 R"({"constant_input": {"name": "a", "value": {"as_int": 1}}}, )"
                 R"({"constant_input": {"name": "a", "value": {"as_float": "NaN"}}}, )"
                 R"({"constant_input": {"name": "a", "value": {"as_string": "s"}}}, )"
                 R"({"constant_input": {"name": "a", "value": {"as_bool": false}}}, )");
  text = replace(
      text, R"("output_specs": [)",
      R"("output_specs": [{"token": {"arg": {"name": "t"}}}, {"loss_output": {"arg": {"name": "x"}}}, )"
      R"({"buffer_mutation": {"arg": {"name": "x"}, "buffer_name": "n"}}, )"
      R"({"gradient_to_parameter": {"arg": {"name": "x"}, "parameter_name": "n"}}, )"
      R"({"gradient_to_user_input": {"arg": {"name": "x"}, "user_input_name": "x"}}, )"
      R"({"user_input_mutation": {"arg": {"name": "x"}, "user_input_name": "x"}}, )"
      R"({"parameter_mutation": {"arg": {"name": "x"}, "parameter_name": "n"}}, )");
  EXPECT_EQ(write_program(read_text(text)), text);
  json::Value tree = json::parse(text);
  AddMember visitor;
  visitor.left_out = {"TensorArgument", "TokenArgument", "SchemaVersion"};
  walk_program(tree, visitor);
  EXPECT_TRUE(visitor.seen.contains("UserInputMutationSpec"));
  EXPECT_EQ(write_program(read_text(json::dump(tree))), json::dump(tree));
}

TEST(SetSchema, KnowsSinceWhenEachKindIsThere) {
  for (const Kind& kind : kKinds) {
    for (const int minor : {1, kind.since - 1, kind.since}) {
      if (minor < 1) continue;
      ExportedProgram program = read_text(with_argument(kind.argument));
      Notes notes;
      const std::string error = error_text([&] { set_schema(program, {8, minor}, notes); });
      if (minor >= kind.since) {
        EXPECT_EQ(error, "no error") << kind.argument << " 8." << minor;
        continue;
      }
      const std::string key =
          std::string(kind.argument).substr(2, std::string_view(kind.argument).find('"', 2) - 2);
      EXPECT_EQ(error, fmt::format(
                           "unsupported: schema 8.{} cannot say what the program has: an argument of kind {} "
                           "(since 8.{}) (write a newer version)",
                           minor, key, kind.since));
    }
  }
}

// ---- numbers that JSON does not have

TEST(ProgramJson, NotFiniteNumbersKeepTheirSpelling) {
  const std::string quoted = program_json("values.special_floats");
  EXPECT_EQ(write_program(read_text(quoted)), quoted);
  std::string bare = quoted;
  for (const char* word : {"Infinity", "-Infinity", "NaN"}) {
    const std::string from = std::string("\"") + word + "\"";
    for (size_t at = 0; (at = bare.find(from, at)) != std::string::npos;) bare.replace(at, from.size(), word);
  }
  ASSERT_NE(bare, quoted);
  EXPECT_EQ(write_program(read_text(bare)), bare);
  EXPECT_EQ(write_program(graph::canonicalize(read_text(bare))),
            write_program(graph::canonicalize(read_text(quoted))));
}

TEST(ProgramJson, OtherWordsAreNoNumbers) {
  for (const char* word : {"\"inf\"", "\"nan\"", "\"1.5\"", "\"\"", "null", "true"}) {
    const std::string error =
        error_text([&] { read_text(replace(program_json("values.special_floats"), "\"NaN\"", word)); });
    EXPECT_TRUE(error.starts_with("corrupt: graph 'main': ")) << error;
    EXPECT_NE(error.find("expected a"), std::string::npos) << error;
  }
}

// ---- older versions

TEST(SetSchema, EachMinorReadsAsWhatWasWritten) {
  for (const char* name : {"weights.tied", "control.cond", "values.outputs", "shapes.derived"}) {
    for (int minor = 1; minor <= 20; ++minor) {
      ExportedProgram program = read_text(program_json(name));
      Notes notes;
      if (error_text([&] { set_schema(program, {8, minor}, notes); }) != "no error") continue;
      const std::string text = write_program(program);
      const ExportedProgram again = read_text(text);
      EXPECT_EQ(again.schema_version, (SchemaVersion{8, minor}));
      EXPECT_EQ(write_program(again), text) << name << " 8." << minor;
      EXPECT_EQ(text.find("is_hop_single_tensor_return") != std::string::npos, minor >= 4) << minor;
      EXPECT_EQ(text.find("guards_code") != std::string::npos, minor >= 14) << minor;
    }
  }
}

// The canonical form writes every member, whatever the version.
TEST(SetSchema, TheCanonicalFormOfTheFirstVersions) {
  for (const int minor : {1, 2, 3}) {
    ExportedProgram program = read_text(program_json("shapes.derived"));
    Notes notes;
    set_schema(program, {8, minor}, notes);
    EXPECT_EQ(write_program(program).find(R"("index": null)") == std::string::npos, minor < 3);
    const std::string text = write_program(graph::canonicalize(program));
    EXPECT_TRUE(write_program(read_text(text)) == text) << minor;
  }
}

TEST(SetSchema, BackAndForthIsTheSame) {
  const std::string text = program_json("control.cond");
  for (const int minor : {1, 3, 5, 12}) {
    ExportedProgram program = read_text(text);
    Notes notes;
    set_schema(program, {8, minor}, notes);
    ExportedProgram again = read_text(write_program(program));
    set_schema(again, {8, 20}, notes);
    EXPECT_EQ(again.graph().node_count(), read_text(text).graph().node_count());
    EXPECT_TRUE(graph::verify(again).empty()) << minor;
  }
}

TEST(SetSchema, SaysWhatIsLeftOut) {
  ExportedProgram program = read_text(program_json("shapes.derived"));
  program.guards_code = {"x > 1"};
  Notes notes;
  set_schema(program, {8, 4}, notes);
  EXPECT_EQ(notes, (Notes{"schema 8.4 has no guards: left out", "schema 8.4 has no names of nodes: left out",
                          "schema 8.4 has no record of how arguments were passed: left out"}));
  notes.clear();
  set_schema(program, {8, 4}, notes);
  EXPECT_EQ(notes.size(), 1U) << "the guards are still there";
}

TEST(SetSchema, SaysWhatCannotBeSaid) {
  const auto error = [](std::string_view golden, SchemaVersion version) {
    ExportedProgram program = read_text(program_json(golden));
    Notes notes;
    return error_text([&] { set_schema(program, version, notes); });
  };
  EXPECT_EQ(error("weights.tied", {8, 21}),
            "unsupported: programs cannot be written with schema 8.21 (write 8.1 to 8.20)");
  EXPECT_EQ(error("weights.tied", {7, 3}),
            "unsupported: programs cannot be written with schema 7.3 (write 8.1 to 8.20)");
  EXPECT_EQ(error("weights.tied", {8, 0}),
            "unsupported: programs cannot be written with schema 8.0 (write 8.1 to 8.20)");
}

}  // namespace
}  // namespace flambeau::pt2
