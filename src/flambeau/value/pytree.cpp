#include "flambeau/value/pytree.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"
#include "flambeau/value/pytree_node.h"

namespace flambeau {
namespace {

struct KindName {
  std::string_view name;
  TreeKind kind;
};

constexpr KindName kKindNames[] = {
    {"builtins.tuple", TreeKind::kTuple},
    {"builtins.list", TreeKind::kList},
    {"builtins.dict", TreeKind::kDict},
    {"collections.OrderedDict", TreeKind::kOrderedDict},
    {"collections.defaultdict", TreeKind::kDefaultDict},
    {"collections.namedtuple", TreeKind::kNamedTuple},
    {"collections.deque", TreeKind::kDeque},
    {"torch.fx.immutable_collections.immutable_list", TreeKind::kImmutableList},
    {"torch.fx.immutable_collections.immutable_dict", TreeKind::kImmutableDict},
};

TreeKind kind_of(std::string_view type_name) {
  const auto found = std::ranges::find(kKindNames, type_name, &KindName::name);
  return found == std::end(kKindNames) ? TreeKind::kOther : found->kind;
}

std::string_view name_of(TreeKind kind) { return std::ranges::find(kKindNames, kind, &KindName::kind)->name; }

[[noreturn]] void fail_context(std::string_view type_name, std::string_view expected) {
  throw Error(ErrorCode::kCorrupt, fmt::format("the context of {} is not {}", type_name, expected));
}

// Most contexts are JSON text within the JSON.
json::Value inner_json(std::string_view type_name, const json::Value& context) {
  if (!context.is_string()) fail_context(type_name, "a string of JSON");
  try {
    return json::parse(context.as_string());
  } catch (const Error& error) {
    fail_context(type_name, fmt::format("a string of JSON: {}", error.what()));
  }
}

json::Array dict_keys(TreeKind kind, std::string_view type_name, const json::Value& context) {
  if (kind == TreeKind::kDefaultDict) {
    const json::Value* keys = context.is_object() ? context.find("dict_context") : nullptr;
    if (keys == nullptr || !keys->is_array())
      fail_context(type_name, "an object with the keys in dict_context");
    return keys->as_array();
  }
  const json::Value keys = inner_json(type_name, context);
  if (!keys.is_array()) fail_context(type_name, "a list of keys");
  return keys.as_array();
}

bool are_strings(const json::Value& value) {
  return value.is_array() && std::ranges::all_of(value.as_array(), &json::Value::is_string);
}

// A dataclass has [[fields with children], [fields that are None]] for its context. Another class may write
// anything, which is then nothing to complain about.
std::vector<std::string> dataclass_fields(const json::Value& context, size_t children) {
  if (!context.is_string() || !context.as_string().starts_with("[[")) return {};
  json::Value names;
  try {
    names = json::parse(context.as_string());
  } catch (const Error&) {
    return {};
  }
  const json::Array& lists = names.as_array();
  if (lists.size() != 2 || !are_strings(lists[0]) || !are_strings(lists[1])) return {};
  if (lists[0].as_array().size() != children) return {};
  std::vector<std::string> fields;
  for (const json::Value& name : lists[0].as_array()) fields.push_back(name.as_string());
  return fields;
}

bool has_keys(TreeKind kind) {
  return kind == TreeKind::kDict || kind == TreeKind::kOrderedDict || kind == TreeKind::kDefaultDict ||
         kind == TreeKind::kImmutableDict;
}

json::Value keys_context(const json::Array& keys, size_t children) {
  if (keys.size() != children) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a dict has {} keys for {} children", keys.size(), children));
  }
  return json::dump(keys);
}

json::Array to_json(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

}  // namespace

TreeSpec TreeSpec::make(std::string_view type_name, const json::Value& context,
                        std::vector<TreeSpec> children, std::string extra) {
  auto node = std::make_shared<Node>();
  node->kind = kind_of(type_name);
  node->type_name = type_name;
  node->context_json = json::dump(context);
  node->extra = std::move(extra);
  if (has_keys(node->kind)) {
    node->keys = dict_keys(node->kind, type_name, context);
    if (node->keys.size() != children.size()) {
      throw Error(ErrorCode::kCorrupt, fmt::format("{} has {} keys for {} children", type_name,
                                                   node->keys.size(), children.size()));
    }
  } else if (node->kind == TreeKind::kNamedTuple) {
    if (!context.is_string()) fail_context(type_name, "the name of a class");
  } else if (node->kind == TreeKind::kDeque) {
    const json::Value most = inner_json(type_name, context);
    if (!most.is_null() && !most.is_integer()) fail_context(type_name, "a number or null");
  } else if (node->kind == TreeKind::kOther) {
    node->fields = dataclass_fields(context, children.size());
  }
  for (const TreeSpec& child : children) {
    node->num_leaves += child.num_leaves();
    node->num_nodes += child.num_nodes();
    node->depth = std::max(node->depth, child.depth() + 1);
  }
  if (node->depth > kMostTreeDepth)
    throw Error(ErrorCode::kLimit, fmt::format("a tree nests deeper than {} levels", kMostTreeDepth));
  node->children = std::move(children);
  return TreeSpec(std::move(node));
}

TreeSpec TreeSpec::tuple(std::vector<TreeSpec> children) {
  return make(name_of(TreeKind::kTuple), "null", std::move(children));
}

TreeSpec TreeSpec::list(std::vector<TreeSpec> children) {
  return make(name_of(TreeKind::kList), "null", std::move(children));
}

TreeSpec TreeSpec::dict(const json::Array& keys, std::vector<TreeSpec> children) {
  const json::Value context = keys_context(keys, children.size());
  return make(name_of(TreeKind::kDict), context, std::move(children));
}

TreeSpec TreeSpec::ordered_dict(const json::Array& keys, std::vector<TreeSpec> children) {
  const json::Value context = keys_context(keys, children.size());
  return make(name_of(TreeKind::kOrderedDict), context, std::move(children));
}

TreeSpec TreeSpec::named_tuple(std::string_view type_name, std::vector<TreeSpec> children) {
  return make(name_of(TreeKind::kNamedTuple), type_name, std::move(children));
}

TreeSpec TreeSpec::deque(std::optional<int64_t> max_length, std::vector<TreeSpec> children) {
  const json::Value most = max_length ? json::Value(*max_length) : json::Value();
  return make(name_of(TreeKind::kDeque), json::dump(most), std::move(children));
}

TreeSpec TreeSpec::dataclass(std::string_view type_name, const std::vector<std::string>& fields,
                             const std::vector<std::string>& none_fields, std::vector<TreeSpec> children) {
  if (fields.size() != children.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a dataclass has {} fields for {} children", fields.size(), children.size()));
  }
  const json::Array context = {to_json(fields), to_json(none_fields)};
  return make(type_name, json::dump(context), std::move(children));
}

TreeSpec TreeSpec::other(std::string_view type_name, const json::Value& context,
                         std::vector<TreeSpec> children) {
  return make(type_name, context, std::move(children));
}

json::Value TreeSpec::enum_key(std::string_view module, std::string_view qualified_name,
                               std::string_view member) {
  json::Value key;
  key.set("__enum__", true);
  key.set("fqn", fmt::format("{}:{}", module, qualified_name));
  key.set("name", member);
  return key;
}

TreeKind TreeSpec::kind() const { return node_ ? node_->kind : TreeKind::kLeaf; }
std::string_view TreeSpec::type_name() const { return node_ ? std::string_view(node_->type_name) : ""; }
std::string_view TreeSpec::context_json() const {
  return node_ ? std::string_view(node_->context_json) : "null";
}
size_t TreeSpec::num_leaves() const { return node_ ? node_->num_leaves : 1; }
size_t TreeSpec::num_nodes() const { return node_ ? node_->num_nodes : 1; }
int TreeSpec::depth() const { return node_ ? node_->depth : 1; }

std::span<const TreeSpec> TreeSpec::children() const {
  if (!node_) return {};
  return node_->children;
}

std::span<const json::Value> TreeSpec::keys() const {
  if (!node_) return {};
  return node_->keys;
}

const TreeSpec& TreeSpec::child(size_t index) const {
  if (index >= children().size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("there is no child {} of {}", index, children().size()));
  }
  return children()[index];
}

const TreeSpec* TreeSpec::find(std::string_view key) const {
  if (!node_) return nullptr;
  for (size_t i = 0; i < node_->keys.size(); ++i) {
    if (node_->keys[i].is_string() && node_->keys[i].as_string() == key) return &node_->children[i];
  }
  const auto field = std::ranges::find(node_->fields, key);
  return field == node_->fields.end() ? nullptr : &node_->children[field - node_->fields.begin()];
}

bool operator==(const TreeSpec& a, const TreeSpec& b) {
  if (a.node_ == b.node_) return true;
  return a.kind() == b.kind() && a.num_leaves() == b.num_leaves() && a.type_name() == b.type_name() &&
         a.context_json() == b.context_json() && std::ranges::equal(a.children(), b.children());
}

}  // namespace flambeau
