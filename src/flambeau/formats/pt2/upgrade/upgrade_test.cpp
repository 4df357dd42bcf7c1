#include "flambeau/formats/pt2/upgrade/upgrade.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "flambeau/archive/record_archive.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/pt2/upgrade/test_programs.h"

namespace flambeau::pt2 {
namespace {

using json::Value;

// What program() is in the form of today.
const char* kToday =
    R"({"graph_module": {"graph": {"inputs": [{"as_tensor": {"name": "w"}}, {"as_tensor": {"name": "x"}}], )"
    R"("outputs": [{"as_tensor": {"name": "y"}}], "nodes": [{"target": "torch.ops.aten.add.Tensor", "inputs": )"
    R"([{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": null}, )"
    R"({"name": "other", "arg": {"as_tensor": {"name": "w"}}, "kind": null}], )"
    R"("outputs": [{"as_tensor": {"name": "y"}}], "metadata": {}, "is_hop_single_tensor_return": null, "name": null}], )"
    R"("tensor_values": {"w": {"dtype": 7, "sizes": [{"as_int": 1}, {"as_int": 3}], "requires_grad": false, )"
    R"("device": {"type": "cpu", "index": null}, "strides": [{"as_int": 3}, {"as_int": 1}], )"
    R"("storage_offset": {"as_int": 0}, "layout": 7}, )"
    R"-("x": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", )-"
    R"("hint": {"as_int": 4}}}, {"as_int": 3}], "requires_grad": false, )"
    R"("device": {"type": "cpu", "index": null}, "strides": [{"as_int": 3}, {"as_int": 1}], )"
    R"("storage_offset": {"as_int": 0}, "layout": 7}, )"
    R"-("y": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", )-"
    R"("hint": {"as_int": 4}}}, {"as_int": 3}], "requires_grad": false, )"
    R"("device": {"type": "cpu", "index": null}, "strides": [{"as_int": 3}, {"as_int": 1}], )"
    R"("storage_offset": {"as_int": 0}, "layout": 7}}, "sym_int_values": {}, "sym_bool_values": {}, )"
    R"("is_single_tensor_return": false, "custom_obj_values": {}, "sym_float_values": {}}, )"
    R"("signature": {"input_specs": [{"buffer": {"arg": {"name": "w"}, "buffer_name": "weight", "persistent": true}}, )"
    R"({"user_input": {"arg": {"as_tensor": {"name": "x"}}}}], )"
    R"("output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "y"}}}}]}, )"
    R"("module_call_graph": [], "metadata": {}, "treespec_namedtuple_fields": {}}, "opset_version": {"aten": 10}, )"
    R"("range_constraints": {"s0": {"min_val": 2, "max_val": null}}, "schema_version": {"major": 8, "minor": 20}, )"
    R"("verifiers": ["ATEN"], "torch_version": "<=2.4", "guards_code": []})";

constexpr const char* kVersion = "schema version rewritten from a number to major and minor";
constexpr const char* kBuffers = "buffers marked as persistent";
constexpr const char* kUnions = "unions rewritten to name the one member that is set";
constexpr const char* kOffsets = "storage offsets rewritten as symbolic integers";
constexpr const char* kDialect = "dialect rewritten as a list of verifiers";
constexpr const char* kExpressions = "symbolic expressions rewritten in sympy's constructor form";
constexpr const char* kBounds = "infinite bounds of symbols rewritten as null";

using Notes = std::vector<std::string>;

Notes notes_of(int major) {
  Notes notes;
  if (major <= 2) notes.push_back(kVersion);
  if (major <= 3) notes.push_back(kBuffers);
  if (major <= 4) notes.insert(notes.end(), {kUnions, kOffsets});
  if (major <= 5) notes.push_back(kDialect);
  if (major == 6) notes.push_back("dialect dropped in favour of the verifiers");
  notes.insert(notes.end(), {kExpressions, kBounds});
  return notes;
}

TEST(UpgradeTest, MajorsTwoToSeven) {
  for (int major = 2; major <= 7; ++major) {
    SCOPED_TRACE(major);
    Value value = json::parse(program(major));
    Upgrade upgrade;
    try {
      upgrade = upgrade_program(value);
    } catch (const Error& error) {
      FAIL() << error.what();
    }
    EXPECT_EQ(upgrade.from, (SchemaVersion{major, major == 2 ? 0 : 1}));
    EXPECT_EQ(json::dump(value), kToday);
    Notes notes = upgrade.notes;
    std::ranges::sort(notes);
    Notes expected = notes_of(major);
    std::ranges::sort(expected);
    EXPECT_EQ(notes, expected);
    EXPECT_TRUE(upgrade.constants.empty());
  }
}

TEST(UpgradeTest, MajorOne) {
  Value value = json::parse(program(1));
  const Upgrade upgrade = upgrade_program(value);
  EXPECT_EQ(upgrade.from, (SchemaVersion{1, 0}));
  const std::string call =
      R"("module_call_graph": [{"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec": )"
      R"("[1, {\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": )"
      R"([{\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": )"
      R"([{\"type\": null, \"context\": null, \"children_spec\": []}]}, )"
      R"({\"type\": \"builtins.dict\", \"context\": \"[]\", \"children_spec\": []}]}]", )"
      R"("out_spec": "[1, {}]", "forward_arg_names": null}}])";
  EXPECT_EQ(json::dump(value), replace(kToday, R"("module_call_graph": [])", call));
  EXPECT_EQ(upgrade.notes,
            (Notes{"equality constraints dropped: equal sizes share their symbol",
                   "tensor values rewritten as plain metas", "hints of symbolic sizes rewritten as unions",
                   "call spec moved into the module call graph",
                   "graph signature rewritten from name tables to input and output specs", kVersion, kUnions,
                   kOffsets, kDialect, kExpressions, kBounds}));
}

TEST(UpgradeTest, LeavesMajorEightAlone) {
  for (const char* version :
       {R"({"major": 8, "minor": 1})", R"({"major": 8, "minor": 99})", R"({"major": 0, "minor": 0})"}) {
    const std::string text = std::string(R"({"dialect": 3, "schema_version": )") + version + "}";
    Value value = json::parse(text);
    const Upgrade upgrade = upgrade_program(value);
    EXPECT_TRUE(upgrade.notes.empty());
    EXPECT_EQ(json::dump(value), text);
  }
}

TEST(UpgradeTest, UsesTheExpressionsOfTheCaller) {
  Value value = json::parse(program(7));
  upgrade_program(value, [](std::string_view text) { return "<" + std::string(text) + ">"; });
  EXPECT_NE(json::dump(value).find(R"("expr_str": "<s0>")"), std::string::npos);
}

TEST(UpgradeTest, KeepsWhatIsUnknown) {
  Value value =
      json::parse(replace(program(5), R"("metadata": {})", R"("metadata": {}, "colour": [1, {"x": null}])"));
  upgrade_program(value);
  EXPECT_NE(json::dump(value).find(R"("name": null, "colour": [1, {"x": null}]})"), std::string::npos);
}

TEST(UpgradeTest, SymbolsOfExpressions) {
  EXPECT_EQ(symbols_to_srepr("s0"), "Symbol('s0', positive=True, integer=True)");
  EXPECT_EQ(symbols_to_srepr("u12"), "Symbol('u12', integer=True)");
  EXPECT_EQ(symbols_to_srepr("Max(1, 2*s0//3)"), "Max(1, 2*Symbol('s0', positive=True, integer=True)//3)");
  EXPECT_EQ(symbols_to_srepr("s(1) + s0_1 + sx + 10 + f0"), "s(1) + s0_1 + sx + 10 + f0");
  EXPECT_EQ(symbols_to_srepr("Integer(4)"), "Integer(4)");
  EXPECT_EQ(symbols_to_srepr("Symbol('s0', integer=True)"), "Symbol('s0', integer=True)");
  EXPECT_EQ(symbols_to_srepr(""), "");
}

TEST(UpgradeTest, RealFileOfSchemaTwo) {
  const std::string path = FLAMBEAU_FIXTURE_DIR "/real/pt2-old-layout/hades_pid_schema2.pt2";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no fixtures";
  const RecordArchive archive = RecordArchive::open(Mapping::open(path));
  Value value = json::parse(archive.read_text("serialized_exported_program.json"));
  const Upgrade upgrade = upgrade_program(value);
  EXPECT_EQ(upgrade.from, (SchemaVersion{2, 0}));
  EXPECT_EQ(upgrade.notes, (Notes{kVersion, kBuffers, kUnions, kOffsets, kDialect}));
  const Value* graph = value.find("graph_module")->find("graph");
  EXPECT_EQ(graph->find("nodes")->as_array().size(), 34u);
  EXPECT_EQ(json::dump(graph->find("inputs")->as_array()[0]), R"({"as_tensor": {"name": "arg0_1"}})");
  EXPECT_EQ(json::dump(*value.find("verifiers")), R"(["ATEN"])");
}

}  // namespace
}  // namespace flambeau::pt2
