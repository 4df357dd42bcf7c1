#include <gtest/gtest.h>

#include <algorithm>

#include "flambeau/script/operators/aliases.h"
#include "flambeau/script/operators/attributes.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/operators/overload_order.h"
#include "flambeau/script/operators/scripted.h"

namespace flambeau::script {
namespace {

const OperatorTable& shared_table() {
  static const OperatorTable made(std::make_shared<SchemaTable>());
  return made;
}

std::vector<std::string> overloads(std::string_view name, std::optional<int64_t> version = {}) {
  std::vector<std::string> found;
  for (const Overload* const overload : shared_table().candidates(name, version)) {
    found.push_back(overload->signature.overload);
    if (overload->upgrader != nullptr) found.back() += "!";
  }
  return found;
}

TEST(OverloadOrder, IsThatOfRegistration) {
  const std::vector<std::string> add = overloads("aten::add");
  ASSERT_GE(add.size(), 8U);
  EXPECT_EQ(std::vector(add.begin(), add.begin() + 7),
            (std::vector<std::string>{"Tensor", "Scalar", "out", "Scalar_out", "t", "str", "int"}));
  EXPECT_EQ(add.back(), "");
  EXPECT_EQ(overload_order("aten::relu"), "");
  EXPECT_EQ(overload_order("aten::"), "");
  EXPECT_TRUE(overloads("aten::nothing").empty());
}

TEST(OverloadOrder, NamesOnlyWhatThereIs) {
  const SchemaTable schemas;
  std::string_view text = overload_order_text();
  text.remove_prefix(text.find('\n') + 1);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    const std::string_view name = line.substr(0, line.find(' '));
    EXPECT_EQ(overload_order(name), line.substr(name.size() + 1));
    EXPECT_EQ(schemas.overloads(name).size(), static_cast<size_t>(std::ranges::count(line, ' '))) << name;
  }
}

TEST(Candidates, LeaveOutWhatNoCallMeans) {
  EXPECT_EQ(overloads("aten::view"), std::vector<std::string>{""});
  EXPECT_TRUE(std::ranges::count(overloads("aten::max"), "unary_out") == 0);
}

TEST(Candidates, AreThoseOfTheArchive) {
  const std::vector<std::string> now = overloads("aten::div");
  EXPECT_EQ(overloads("aten::div", 4), now);
  const std::vector<std::string> then = overloads("aten::div", 3);
  EXPECT_EQ(then.size(), now.size());
  EXPECT_EQ(then.front(), "Scalar_out");
  EXPECT_EQ(
      std::vector(then.end() - 6, then.end()),
      (std::vector<std::string>{"Tensor!", "Scalar!", "Tensor_mode!", "Scalar_mode!", "out!", "out_mode!"}));
  EXPECT_EQ(overloads("aten::gelu", 9), (std::vector<std::string>{"!", "out!"}));
}

TEST(Upgraders, AreNineteen) {
  EXPECT_EQ(upgraders().size(), 19U);
  for (const Upgrader& upgrader : upgraders()) {
    const OperatorEntry* const now = shared_table().schemas().find(upgrader.operator_name, upgrader.overload);
    // The operator may be gone, its upgrader stays.
    if (now == nullptr) continue;
    EXPECT_EQ(parse_schema(upgrader.old_schema).name, now->schema.name);
    EXPECT_TRUE(upgrader.text.starts_with("def " + std::string(upgrader.name) + "("));
    EXPECT_EQ(find_upgrader(now->schema.name, upgrader.changed_in), nullptr);
    EXPECT_EQ(find_upgrader(now->schema.name, upgrader.changed_in - 1), &upgrader);
    EXPECT_EQ(least_archive_version(now->schema.name), upgrader.changed_in);
  }
  EXPECT_EQ(least_archive_version({"aten::div", "int"}), 0);
}

TEST(Signatures, HaveTypesOfTorchScript) {
  const Overload* const zeros = shared_table().candidates("aten::zeros").at(0);
  EXPECT_EQ(to_string(zeros->signature),
            "aten::zeros(int[] size, *, int? dtype=None, int? layout=None, Device? device=None, bool? "
            "pin_memory=None) -> "
            "Tensor");
  EXPECT_EQ(&shared_table().overload(*zeros->entry), zeros);
  const Overload* const pool = shared_table().candidates("aten::max_pool2d").at(0);
  EXPECT_EQ(pool->signature.arguments[1].list_size, 2);
  EXPECT_EQ(pool->signature.arguments[1].type, Type::list(TypeKind::kInt));
  ASSERT_TRUE(pool->signature.arguments[3].default_value);
  EXPECT_EQ(pool->signature.arguments[3].default_value->items().size(), 2U);
  const auto max = shared_table().candidates("aten::max");
  const auto dim =
      std::ranges::find_if(max, [](const Overload* found) { return found->signature.overload == "dim"; });
  EXPECT_EQ((*dim)->signature.return_names, (std::vector<std::string>{"values", "indices"}));
}

TEST(Signatures, CanBeMadeOfAllSchemas) {
  for (const OperatorName& name : shared_table().schemas().names()) {
    const Signature signature = signature_of(shared_table().schemas().get(name).schema);
    EXPECT_EQ(signature.name, name.name);
  }
}

TEST(Scripted, StandInForOperators) {
  const auto found = shared_table().scripted("aten::mul");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].text, "def mul(a: float, b: Tensor) -> Tensor:\n  return b * a\n");
  EXPECT_EQ(to_string(found[1].signature), "aten::mul(int a, Tensor b) -> Tensor");
  EXPECT_EQ(shared_table().scripted("aten::_pair")[1].signature.arguments[0].list_size, 2);
  EXPECT_TRUE(shared_table().scripted("aten::relu").empty());
}

TEST(Aliases, HaveOneTarget) {
  EXPECT_EQ(alias_target("aten::true_divide"), "aten::div");
  EXPECT_EQ(alias_target("aten::special_gammaln"), "aten::lgamma");
  EXPECT_EQ(alias_target("aten::absolute"), "aten::abs");
  EXPECT_EQ(alias_target("aten::div"), "");
  EXPECT_EQ(swapped_operator("aten::rsub", "Tensor"), "aten::sub");
  EXPECT_EQ(swapped_operator("aten::rsub", "Scalar"), "");
}

TEST(Attributes, AreOperators) {
  EXPECT_EQ(attribute_operator(TypeKind::kTensor, "dtype"), "prim::dtype");
  EXPECT_EQ(attribute_operator(TypeKind::kTensor, "real"), "aten::real");
  EXPECT_EQ(attribute_operator(TypeKind::kDevice, "index"), "prim::index");
  EXPECT_EQ(attribute_operator(TypeKind::kTensor, "index"), "");
  EXPECT_EQ(attribute_operator(TypeKind::kInt, "dtype"), "");
}

}  // namespace
}  // namespace flambeau::script
