// x[i], x[:, a:b], x[:, mask]: several slices one after the other are one subscript.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "flambeau/script/python/body.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

// Dimensions that are written as so many colons at most.
constexpr int64_t kMostColons = 6;

bool is_number(const IValue* value) { return value != nullptr && value->is(IValue::Tag::kInt); }

std::string brackets(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return "[" + text + "]";
}

}  // namespace

std::string PythonBody::range_text(const Value* begin, const Value* end, const Value* step) {
  const IValue* const from = constant(begin);
  const IValue* const to = constant(end);
  const IValue* const by = constant(step);
  const bool starts = from == nullptr || !(from->is_none() || (is_number(from) && from->as_int() == 0));
  const bool ends =
      to == nullptr ||
      !(to->is_none() || (is_number(to) && to->as_int() == std::numeric_limits<int64_t>::max()));
  std::string text = starts ? use(begin) : std::string();
  text += ":";
  if (ends) text += use(end);
  if (!is_number(by) || by->as_int() != 1) text += ":" + use(step);
  return text;
}

std::string PythonBody::index_text(const Value* list) {
  std::erase(pending_, list);
  std::string text;
  for (const Value* item : list->node()->inputs()) {
    const IValue* const known = constant(item);
    const bool is_whole = known != nullptr && known->is_none();
    text += (text.empty() ? "" : ", ") + (is_whole ? std::string(":") : use(item));
  }
  return text;
}

PythonExpression PythonBody::subscript(const Node& node) {
  const PythonForm form = python_rule(node.op->schema).form;
  if (form == PythonForm::kListSlice) {
    const std::string object = use(node.input(0), kLevelAtom);
    return {object + "[" + range_text(node.input(1), node.input(2), node.input(3)) + "]"};
  }
  if (form == PythonForm::kIndex) {
    const Node& list = *node.input(1)->node();
    if (node.inputs().size() != 2 || !list.is(NodeKind::kListConstruct) || list.inputs().empty() ||
        names_.contains(node.input(1))) {
      return call(node, {});
    }
    const std::string object = use(node.input(0), kLevelAtom);
    return {object + "[" + index_text(node.input(1)) + "]"};
  }
  const IValue* const dimension = constant(node.input(1));
  const size_t expected = form == PythonForm::kSelect ? 3 : 5;
  if (!is_number(dimension) || dimension->as_int() < 0 || dimension->as_int() > kMostColons ||
      node.inputs().size() != expected) {
    return call(node, {});
  }
  // A subscript that is written here goes on.
  Subscripts made;
  const auto before = subscripts_.find(node.input(0));
  if (before != subscripts_.end() && !names_.contains(node.input(0))) {
    made = before->second;
    std::erase(pending_, node.input(0));
  } else {
    made.base = use(node.input(0), kLevelAtom);
  }
  const auto place_of = [&](int64_t wanted) {
    for (size_t place = 0;; ++place) {
      if (place == made.items.size()) made.add_whole();
      if (!made.is_index[place] && wanted-- == 0) return place;
    }
  };
  size_t place = place_of(dimension->as_int());
  if (!made.is_whole[place]) {
    std::string base = made.base + brackets(made.items);
    made = {};
    made.base = std::move(base);
    place = place_of(dimension->as_int());
  }
  if (form == PythonForm::kSelect) {
    made.items[place] = use(node.input(2));
    made.is_index[place] = true;
    made.is_whole[place] = false;
  } else {
    made.items[place] = range_text(node.input(2), node.input(3), node.input(4));
    made.is_whole[place] = made.items[place] == ":";
  }
  std::string text = made.base + brackets(made.items);
  subscripts_[node.output()] = std::move(made);
  return {std::move(text)};
}

}  // namespace flambeau::script
