#include "flambeau/nn/tree.h"

#include <fmt/format.h>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"

namespace flambeau::nn {
namespace {

std::vector<TreeSpec> gather(std::span<const Tree> children, std::vector<Value>& leaves) {
  std::vector<TreeSpec> specs;
  for (const Tree& child : children) {
    specs.push_back(child.spec);
    leaves.insert(leaves.end(), child.leaves.begin(), child.leaves.end());
  }
  return specs;
}

TreeSpec push(std::vector<Value>& leaves, Value value) {
  leaves.push_back(std::move(value));
  return {};
}

}  // namespace

Tree Tree::leaf(Value value) { return {TreeSpec(), {std::move(value)}}; }

Tree Tree::tuple(std::span<const Tree> children) {
  std::vector<Value> leaves;
  TreeSpec spec = TreeSpec::tuple(gather(children, leaves));
  return {std::move(spec), std::move(leaves)};
}

Tree Tree::list(std::span<const Tree> children) {
  std::vector<Value> leaves;
  TreeSpec spec = TreeSpec::list(gather(children, leaves));
  return {std::move(spec), std::move(leaves)};
}

Tree Tree::dict(std::span<const std::pair<std::string, Tree>> children) {
  json::Array keys;
  std::vector<TreeSpec> specs;
  std::vector<Value> leaves;
  for (const auto& [key, child] : children) {
    keys.emplace_back(key);
    specs.push_back(child.spec);
    leaves.insert(leaves.end(), child.leaves.begin(), child.leaves.end());
  }
  return {TreeSpec::dict(keys, std::move(specs)), std::move(leaves)};
}

std::vector<Tree> Tree::children() const {
  std::vector<Tree> parts;
  LeafReader reader(leaves);
  for (const TreeSpec& child : spec.children()) parts.push_back(TreeOf<Tree>::unflatten(child, reader));
  return parts;
}

const Value& LeafReader::next(const TreeSpec& spec, std::string_view wanted) {
  if (!spec.is_leaf()) fail_tree(wanted, spec);
  return take(spec)[0];
}

std::span<const Value> LeafReader::take(const TreeSpec& spec) {
  const size_t count = spec.num_leaves();
  if (count > leaves_.size()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("a tree {} has only {} of its {} leaves",
                                                         spec.to_string(), leaves_.size(), count));
  }
  const std::span<const Value> taken = leaves_.first(count);
  leaves_ = leaves_.subspan(count);
  return taken;
}

void fail_tree(std::string_view wanted, const TreeSpec& spec) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("expected {}, found {}", wanted, spec.to_string()));
}

void fail_leaf(std::string_view wanted, const Value& value) {
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("expected {}, found {}", wanted,
                  value.is_none() ? "None" : fmt::format("{} {}", value.kind_name(), value.summary())));
}

void check_tree(const TreeSpec& spec, TreeKind kind, std::string_view name, int64_t count) {
  if (spec.kind() != kind) fail_tree(name, spec);
  if (count >= 0 && spec.children().size() != static_cast<size_t>(count))
    fail_tree(fmt::format("{} of {}", name, count), spec);
}

TreeSpec TreeOf<Tensor>::flatten(const Tensor& tensor, std::vector<Value>& leaves) {
  return push(leaves, tensor.defined() ? Value(tensor) : Value());
}
Tensor TreeOf<Tensor>::unflatten(const TreeSpec& spec, LeafReader& leaves) {
  const Value& value = leaves.next(spec, "a Tensor");
  if (!value.is_tensor()) fail_leaf("a Tensor", value);
  return value.tensor();
}

TreeSpec TreeOf<SymInt>::flatten(const SymInt& number, std::vector<Value>& leaves) {
  return push(leaves, number.is_literal() ? Value(number.literal()) : Value(number));
}
SymInt TreeOf<SymInt>::unflatten(const TreeSpec& spec, LeafReader& leaves) {
  const Value& value = leaves.next(spec, "an int");
  if (const auto* const symbol = value.get_if<SymInt>()) return *symbol;
  if (const auto* const number = value.get_if<int64_t>()) return *number;
  fail_leaf("an int", value);
}

TreeSpec TreeOf<int64_t>::flatten(int64_t number, std::vector<Value>& leaves) { return push(leaves, number); }
int64_t TreeOf<int64_t>::unflatten(const TreeSpec& spec, LeafReader& leaves) {
  const Value& value = leaves.next(spec, "an int");
  if (const auto* const symbol = value.get_if<SymInt>(); symbol != nullptr && symbol->is_literal())
    return symbol->literal();
  if (!value.is<int64_t>()) fail_leaf("an int", value);
  return value.get<int64_t>();
}

TreeSpec TreeOf<int>::flatten(int number, std::vector<Value>& leaves) {
  return push(leaves, int64_t{number});
}
int TreeOf<int>::unflatten(const TreeSpec& spec, LeafReader& leaves) {
  return static_cast<int>(TreeOf<int64_t>::unflatten(spec, leaves));
}

TreeSpec TreeOf<double>::flatten(double number, std::vector<Value>& leaves) { return push(leaves, number); }
double TreeOf<double>::unflatten(const TreeSpec& spec, LeafReader& leaves) {
  const Value& value = leaves.next(spec, "a float");
  if (const auto* const integer = value.get_if<int64_t>()) return static_cast<double>(*integer);
  if (!value.is<double>()) fail_leaf("a float", value);
  return value.get<double>();
}

TreeSpec TreeOf<bool>::flatten(bool flag, std::vector<Value>& leaves) { return push(leaves, flag); }
bool TreeOf<bool>::unflatten(const TreeSpec& spec, LeafReader& leaves) {
  const Value& value = leaves.next(spec, "a bool");
  if (!value.is<bool>()) fail_leaf("a bool", value);
  return value.get<bool>();
}

TreeSpec TreeOf<std::string>::flatten(const std::string& text, std::vector<Value>& leaves) {
  return push(leaves, text);
}
std::string TreeOf<std::string>::unflatten(const TreeSpec& spec, LeafReader& leaves) {
  const Value& value = leaves.next(spec, "a str");
  if (!value.is<std::string>()) fail_leaf("a str", value);
  return value.get<std::string>();
}

TreeSpec TreeOf<Tree>::flatten(const Tree& tree, std::vector<Value>& leaves) {
  leaves.insert(leaves.end(), tree.leaves.begin(), tree.leaves.end());
  return tree.spec;
}
Tree TreeOf<Tree>::unflatten(const TreeSpec& spec, LeafReader& leaves) {
  const std::span<const Value> taken = leaves.take(spec);
  return {spec, {taken.begin(), taken.end()}};
}

}  // namespace flambeau::nn
