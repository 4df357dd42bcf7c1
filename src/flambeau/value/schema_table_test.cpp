#include "flambeau/value/schema_table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "flambeau/base/error.h"
#include "flambeau/value/schema_table_text.h"
#include "support/message_of.h"
#include "support/patience.h"

namespace flambeau {
namespace {

std::vector<std::string_view> table_lines() {
  std::vector<std::string_view> lines;
  std::string_view text = schema_table_text();
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    if (!line.starts_with('#')) lines.push_back(line);
  }
  return lines;
}

TEST(SchemaTable, EveryLinePrintsBackAndIsFoundByItsName) {
  const SchemaTable table;
  const auto lines = table_lines();
  EXPECT_EQ(lines.size(), builtin_schema_count());
  EXPECT_GT(lines.size(), 4370U);
  for (const std::string_view line : lines) {
    const std::string_view text = line.substr(0, line.find('\t'));
    const Schema schema = parse_schema(text);
    ASSERT_EQ(to_string(schema), text);
    const OperatorEntry* entry = table.find(schema.name);
    ASSERT_NE(entry, nullptr) << text;
    ASSERT_EQ(entry->schema, schema);
    ASSERT_EQ(table.find(schema.name), entry);
    for (const SchemaArgument& argument : schema.arguments) {
      if (!argument.default_value) continue;
      ASSERT_EQ(to_string(*argument.default_value, argument.type), argument.default_text) << text;
    }
    if (schema.name.name_space().empty()) continue;
    ASSERT_EQ(parse_python_operator(schema.name.to_python()), schema.name);
    ASSERT_EQ(parse_operator_name(schema.name.to_string()), schema.name);
  }
}

TEST(SchemaTable, LinesAreSortedByNameThenOverload) {
  std::pair<std::string, std::string> last;
  for (const std::string_view line : table_lines()) {
    const OperatorName name = parse_schema(line.substr(0, line.find('\t'))).name;
    std::pair key(name.name, name.overload);
    ASSERT_LT(last, key);
    last = std::move(key);
  }
}

TEST(SchemaTable, FindsSchemasAndFlags) {
  const SchemaTable table;
  const OperatorEntry& add = table.get("aten::add", "Tensor");
  EXPECT_EQ(to_string(add.schema),
            "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  EXPECT_TRUE(add.has(OperatorFlag::kCore));
  EXPECT_TRUE(add.has(OperatorFlag::kPointwise));
  EXPECT_FALSE(add.has(OperatorFlag::kView));
  EXPECT_TRUE(table.get("aten::view", "").has(OperatorFlag::kView));
  EXPECT_TRUE(table.get("aten::nonzero", "").has(OperatorFlag::kDynamicOutputShape));
  EXPECT_TRUE(table.get("aten::_local_scalar_dense", "").has(OperatorFlag::kDataDependentOutput));
  EXPECT_TRUE(table.get("aten::bernoulli", "").has(OperatorFlag::kNondeterministicSeeded));
  EXPECT_TRUE(table.get("aten::unsqueeze_", "").has(OperatorFlag::kInplaceView));
  EXPECT_TRUE(table.get("aten::add_", "Tensor").schema.is_mutable());
  EXPECT_FALSE(add.schema.is_mutable());
  EXPECT_NE(table.find("quantized_decomposed::quantize_per_tensor", ""), nullptr);
  EXPECT_NE(table.find("prims::convert_element_type", ""), nullptr);
  EXPECT_EQ(table.find_python("torch.ops.aten.add.Tensor"), &add);
  EXPECT_EQ(table.find_python("torch.ops.aten.add.Nothing"), nullptr);
  EXPECT_EQ(table.find_python("torch.ops.higher_order.cond"), nullptr);
}

// One operator a line, "aten.linear.default TAB ...", as they were met in real exported models.
TEST(SchemaTable, KnowsWhatRealModelsUse) {
  std::ifstream file(std::string(FLAMBEAU_FIXTURE_DIR) + "/operators-seen.tsv");
  if (!file) GTEST_SKIP() << "the list of operators seen is not there";
  const SchemaTable table;
  size_t known = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const auto name = find_python_operator(line.substr(0, line.find('\t')));
    if (!name || name->name_space() == "transformers") continue;  // not operators, or not PyTorch's
    EXPECT_NE(table.find(*name), nullptr) << line;
    ++known;
  }
  EXPECT_GT(known, 150U);
}

TEST(SchemaTable, WhatIsNotThere) {
  const SchemaTable table;
  EXPECT_EQ(table.find("aten::relu", "Tensor"), nullptr);
  EXPECT_EQ(table.find("", ""), nullptr);
  EXPECT_EQ(table.find("#", ""), nullptr);
  EXPECT_EQ(table.find("zzz::zzz", "zzz"), nullptr);
  EXPECT_EQ(table.find("aten::add.Tensor", ""), nullptr);
  EXPECT_EQ(table.find("aten::add", "Tensor(Tensor self"), nullptr);
  EXPECT_EQ(message_of([&] { table.get("aten::relu", "Tensor"); }),
            "the operator 'aten::relu' has no overload 'Tensor'; it has default, out");
  EXPECT_EQ(
      message_of([&] { table.get("mine::relu", ""); }),
      "there is no operator 'mine::relu' (if it is an operator of your own, add its schema to the table)");
}

TEST(SchemaTable, KnowsTheOverloads) {
  const SchemaTable table;
  EXPECT_EQ(table.overloads("aten::relu"), (std::vector<std::string>{"", "out"}));
  EXPECT_EQ(table.overloads("aten::rel"), std::vector<std::string>());
}

TEST(SchemaTable, TakesTheCallersOwnOperators) {
  SchemaTable table;
  EXPECT_EQ(table.find("mine::twice", ""), nullptr);
  const OperatorEntry& added =
      table.add("mine::twice(Tensor x) -> Tensor", static_cast<uint32_t>(OperatorFlag::kPointwise));
  EXPECT_EQ(table.find("mine::twice", ""), &added);
  EXPECT_TRUE(added.has(OperatorFlag::kPointwise));
  EXPECT_EQ(&table.add("mine::twice(Tensor  x) -> Tensor"), &added);
  EXPECT_EQ(
      message_of([&] { table.add("mine::twice(Tensor y) -> Tensor"); }),
      "the operator 'mine::twice' is there already with another schema: mine::twice(Tensor x) -> Tensor");
  EXPECT_EQ(
      message_of([&] { table.add("aten::relu(Tensor y) -> Tensor"); }),
      "the operator 'aten::relu' is there already with another schema: aten::relu(Tensor self) -> Tensor");
  table.add("mine::twice.int(int x) -> int");
  EXPECT_EQ(table.overloads("mine::twice"), (std::vector<std::string>{"", "int"}));
  EXPECT_EQ(SchemaTable().find("mine::twice", ""), nullptr);
  const SchemaTable moved = std::move(table);
  EXPECT_EQ(moved.find("mine::twice", ""), &added);
}

TEST(SchemaTable, ThreadsShareATable) {
  const SchemaTable table;
  const auto lines = table_lines();
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t i = thread; i < lines.size(); i += 3) {
        const Schema schema = parse_schema(lines[i].substr(0, lines[i].find('\t')));
        if (table.find(schema.name) != table.find(schema.name)) ADD_FAILURE();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(SchemaTable, AHundredThousandLookupsAreCheap) {
  const SchemaTable table;
  const std::vector<std::string> targets = {
      "torch.ops.aten.add.Tensor",   "torch.ops.aten.convolution.default", "torch.ops.aten.relu.default",
      "torch.ops.aten.view.default", "torch.ops.aten.mul.Tensor",          "torch.ops.aten.mm.default"};
  const auto start = std::chrono::steady_clock::now();
  size_t arguments = 0;
  for (size_t i = 0; i < 100'000; ++i)
    arguments += table.find_python(targets[i % targets.size()])->schema.arguments.size();
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  EXPECT_GT(arguments, 100'000U);
  RecordProperty("milliseconds", std::to_string(spent.count()));
  EXPECT_LT(spent.count(), 500 * patience())
      << "50 ms is the aim; sanitizers and busy machines get ten times that";
}

TEST(SchemaTable, FlagsHaveNames) {
  EXPECT_EQ(operator_flag_name(OperatorFlag::kNondeterministicSeeded), "nondeterministic_seeded");
  EXPECT_EQ(operator_flag_name(OperatorFlag::kCore), "core");
}

}  // namespace
}  // namespace flambeau
