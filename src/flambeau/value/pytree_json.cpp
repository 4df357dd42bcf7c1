// The text form of a TreeSpec: [1, {"type": ..., "context": ..., "children_spec": [...]}].
#include <fmt/format.h>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"
#include "flambeau/value/pytree.h"
#include "flambeau/value/pytree_node.h"

namespace flambeau {
namespace {

constexpr int64_t kProtocol = 1;

}  // namespace

class TreeSpecReader {
 public:
  TreeSpec read(const json::Value& value) {
    try {
      return read_node(value);
    } catch (Error& error) {
      error.add_location("node", where_.empty() ? "root" : where());
      throw;
    }
  }

 private:
  TreeSpec read_node(const json::Value& value) {
    const json::Value* type = nullptr;
    const json::Value* context = nullptr;
    const json::Value* children = nullptr;
    std::string extra;
    for (const json::Member& member : value.as_object()) {
      if (member.first == "type") {
        type = &member.second;
      } else if (member.first == "context") {
        context = &member.second;
      } else if (member.first == "children_spec") {
        children = &member.second;
      } else {
        extra += fmt::format(", {}: {}", json::dump(member.first), json::dump(member.second));
      }
    }
    require(type, "type");
    require(context, "context");
    require(children, "children_spec");
    const json::Array& items = children->as_array();
    if (type->is_null()) {
      if (!context->is_null() || !items.empty())
        throw Error(ErrorCode::kCorrupt, "a leaf has a context or children");
      return leaf(std::move(extra));
    }
    const std::string& type_name = type->as_string();
    std::vector<TreeSpec> specs;
    specs.reserve(items.size());
    where_.push_back(0);
    for (const json::Value& item : items) {
      specs.push_back(read_node(item));
      ++where_.back();
    }
    where_.pop_back();
    return TreeSpec::make(type_name, *context, std::move(specs), std::move(extra));
  }

  static void require(const json::Value* member, std::string_view name) {
    if (member == nullptr)
      throw Error(ErrorCode::kCorrupt, fmt::format("a node of a tree has no '{}'", name));
  }

  static TreeSpec leaf(std::string extra) {
    if (extra.empty()) return {};
    auto node = std::make_shared<TreeSpec::Node>();
    node->num_leaves = 1;
    node->extra = std::move(extra);
    return TreeSpec(std::move(node));
  }

  // The way to the node at hand: "children_spec[1].children_spec[0]".
  std::string where() const {
    std::string text;
    for (const size_t index : where_)
      text += fmt::format("{}children_spec[{}]", text.empty() ? "" : ".", index);
    return text;
  }

  std::vector<size_t> where_;
};

class TreeSpecPrinter {
 public:
  static void print(const TreeSpec& spec, std::string& to) {
    if (spec.is_leaf()) {
      to += R"({"type": null, "context": null, "children_spec": [])";
    } else {
      to += R"({"type": )";
      to += json::dump(spec.type_name());
      to += R"(, "context": )";
      to += spec.context_json();
      to += R"(, "children_spec": [)";
      std::string_view comma;
      for (const TreeSpec& child : spec.children()) {
        to += comma;
        print(child, to);
        comma = ", ";
      }
      to += ']';
    }
    if (spec.node_) to += spec.node_->extra;
    to += '}';
  }
};

TreeSpec parse_treespec(std::string_view text) {
  const json::Value value = json::parse(text);
  if (!value.is_array() || value.as_array().size() != 2) {
    throw Error(ErrorCode::kCorrupt, "the text of a tree is not a list of its protocol and its root")
        .add_location("byte", "0");
  }
  const json::Array& parts = value.as_array();
  if (!parts[0].is_integer())
    throw Error(ErrorCode::kCorrupt, "the protocol of a tree is not a number").add_location("byte", "0");
  if (json::dump(parts[0]) != std::to_string(kProtocol)) {
    throw Error(ErrorCode::kUnsupported, fmt::format("a tree is written in protocol {}; {} is known",
                                                     json::dump(parts[0]), kProtocol));
  }
  return TreeSpecReader().read(parts[1]);
}

std::string dump_treespec(const TreeSpec& spec) {
  std::string text = fmt::format("[{}, ", kProtocol);
  TreeSpecPrinter::print(spec, text);
  text += ']';
  return text;
}

}  // namespace flambeau
