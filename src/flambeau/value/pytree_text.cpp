// A TreeSpec for people: as Python would show it, and the paths of its leaves.
#include <fmt/format.h>

#include <limits>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"
#include "flambeau/value/pytree.h"
#include "flambeau/value/pytree_node.h"

namespace flambeau {
namespace {

constexpr size_t kMostPathBytes = size_t{64} << 20;

// As Python's repr quotes it.
std::string quote(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char mark = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string inside;
  for (const char c : text) {
    switch (c) {
      case '\n':
        inside += "\\n";
        break;
      case '\r':
        inside += "\\r";
        break;
      case '\t':
        inside += "\\t";
        break;
      default:
        if (c == '\\' || c == mark) inside += '\\';
        inside += c;
    }
  }
  return mark + printable(inside, std::numeric_limits<size_t>::max()) + mark;
}

// "Color.RED" for {"__enum__": true, "fqn": "module:Color", "name": "RED"}; empty for another object.
std::string enum_text(const json::Value& key) {
  const json::Value* full_name = key.find("fqn");
  const json::Value* member = key.find("name");
  if (key.find("__enum__") == nullptr || full_name == nullptr || member == nullptr) return {};
  if (!full_name->is_string() || !member->is_string()) return {};
  const std::string& full = full_name->as_string();
  return printable(full.substr(full.find(':') + 1)) + '.' + printable(member->as_string());
}

void print_key(const json::Value& key, std::string& to) {
  if (key.is_string()) {
    to += quote(key.as_string());
  } else if (key.is_null()) {
    to += "None";
  } else if (key.is_bool()) {
    to += key.as_bool() ? "True" : "False";
  } else if (key.is_array()) {  // of a tuple: lists cannot be keys
    to += '(';
    std::string_view comma;
    for (const json::Value& item : key.as_array()) {
      to += comma;
      print_key(item, to);
      comma = ", ";
    }
    to += key.as_array().size() == 1 ? ",)" : ")";
  } else {
    const std::string text = enum_text(key);
    to += text.empty() ? json::dump(key) : text;
  }
}

// "Point" of "module.Point"; the whole name where that is not one.
std::string short_name(std::string_view type_name) {
  return printable(type_name.substr(type_name.rfind('.') + 1));
}

void visit(const TreeSpec& spec, std::string& path, const std::function<void(std::string_view)>& call) {
  if (spec.is_leaf()) {
    call(path);
    return;
  }
  const size_t length = path.size();
  for (size_t i = 0; i < spec.children().size(); ++i) {
    path += spec.child_path(i);
    visit(spec.children()[i], path, call);
    path.resize(length);
  }
}

// The words around the children: "OrderedDict({" and "})".
struct Around {
  std::string open;
  std::string close;
};

Around around(const TreeSpec& spec) {
  switch (spec.kind()) {
    case TreeKind::kTuple:
      return {"(", spec.children().size() == 1 ? ",)" : ")"};
    case TreeKind::kList:
      return {"[", "]"};
    case TreeKind::kDict:
      return {"{", "}"};
    case TreeKind::kOrderedDict:
      return {"OrderedDict({", "})"};
    case TreeKind::kDefaultDict: {
      const json::Value context = json::parse(spec.context_json());
      const json::Value* factory = context.find("default_factory_name");
      const bool is_named = factory != nullptr && factory->is_string();
      return {fmt::format("defaultdict({}, {{", is_named ? printable(factory->as_string()) : "None"), "})"};
    }
    case TreeKind::kDeque: {
      const json::Value most = json::parse(json::parse(spec.context_json()).as_string());
      return {"deque([", most.is_null() ? "])" : fmt::format("], maxlen={})", json::dump(most))};
    }
    case TreeKind::kNamedTuple:
      return {short_name(json::parse(spec.context_json()).as_string()) + '(', ")"};
    case TreeKind::kImmutableList:
      return {"immutable_list([", "])"};
    case TreeKind::kImmutableDict:
      return {"immutable_dict({", "})"};
    default:
      return {short_name(spec.type_name()) + '(', ")"};
  }
}

}  // namespace

std::string TreeSpec::child_path(size_t index) const {
  child(index);
  if (!node_->fields.empty()) return '.' + printable(node_->fields[index]);
  if (node_->keys.empty()) return fmt::format("[{}]", index);
  std::string path = "[";
  print_key(node_->keys[index], path);
  return path + ']';
}

std::string TreeSpec::to_string() const {
  std::string text;
  print(text);
  return text;
}

void TreeSpec::print(std::string& to) const {
  if (is_leaf()) {
    to += '*';
    return;
  }
  const Around words = around(*this);
  to += words.open;
  std::string_view comma;
  for (size_t i = 0; i < node_->children.size(); ++i) {
    to += comma;
    comma = ", ";
    if (!node_->keys.empty()) {
      print_key(node_->keys[i], to);
      to += ": ";
    }
    if (!node_->fields.empty()) to += printable(node_->fields[i]) + '=';
    node_->children[i].print(to);
  }
  to += words.close;
}

void visit_leaf_paths(const TreeSpec& spec, std::string_view root,
                      const std::function<void(std::string_view path)>& call) {
  std::string path(root);
  visit(spec, path, call);
}

std::vector<std::string> leaf_paths(const TreeSpec& spec, std::string_view root) {
  std::vector<std::string> paths;
  size_t bytes = 0;
  visit_leaf_paths(spec, root, [&](std::string_view path) {
    bytes += path.size();
    // Long keys above many leaves: the paths can take far more than the tree.
    if (bytes > kMostPathBytes)
      throw Error(ErrorCode::kLimit, "the paths of a tree's leaves take more than 64 MiB");
    paths.emplace_back(path);
  });
  return paths;
}

std::vector<std::string> input_leaf_paths(const TreeSpec& spec) {
  const std::span<const TreeSpec> parts = spec.children();
  const bool is_call = spec.kind() == TreeKind::kTuple && parts.size() == 2 &&
                       parts[0].kind() == TreeKind::kTuple && parts[1].kind() == TreeKind::kDict;
  if (!is_call) return leaf_paths(spec, "inputs");
  std::vector<std::string> paths = leaf_paths(parts[0], "args");
  std::vector<std::string> named = leaf_paths(parts[1], "kwargs");
  paths.insert(paths.end(), std::make_move_iterator(named.begin()), std::make_move_iterator(named.end()));
  return paths;
}

}  // namespace flambeau
