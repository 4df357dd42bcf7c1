// diff of two TorchScript modules: classes, attributes, and methods by what they compute: names of variables,
// numbers of classes and comments do not count.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <unordered_map>

#include "flambeau/error.h"
#include "script/script_files.h"

namespace flambeau::cli {
namespace {

bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

// "__torch__.a.___torch_mangle_5.B" is "__torch__.a.B".
std::string without_mangling(std::string text) {
  constexpr std::string_view kMangled = "___torch_mangle_";
  for (size_t at = text.find(kMangled); at != std::string::npos; at = text.find(kMangled, at)) {
    size_t end = at + kMangled.size();
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end < text.size() && text[end] == '.') ++end;
    text.erase(at, end - at);
  }
  return text;
}

// What a constant's statement says, "%3 : int = prim::Constant[value=1]()": its name and its value. Nothing
// for others.
std::optional<std::pair<std::string, std::string>> constant_of(std::string_view line) {
  constexpr std::string_view kNode = " = prim::Constant";
  const size_t node = line.find(kNode);
  const size_t name = line.find('%');
  if (node == std::string_view::npos || name > node || !line.ends_with("()")) return {};
  std::string_view value = line.substr(node + kNode.size());
  value.remove_suffix(2);
  if (value.starts_with("[value=") && value.ends_with("]")) value = value.substr(7, value.size() - 8);
  const size_t end = line.find(' ', name);
  return std::pair(std::string(line.substr(name, end - name)), value.empty() ? "None" : std::string(value));
}

// The statements of a graph's text, its values numbered in the order of their appearance, constants where
// they are used.
std::vector<std::string> canonical_lines(std::string_view text) {
  std::vector<std::string> lines;
  std::unordered_map<std::string, std::string> names;
  size_t count = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size()));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty()) continue;
    if (auto constant = constant_of(line)) {
      names.insert_or_assign(std::move(constant->first), std::move(constant->second));
      continue;
    }
    std::string made;
    for (size_t i = 0; i < line.size();) {
      if (line[i] != '%' || (i > 0 && is_name_part(line[i - 1]))) {
        made += line[i++];
        continue;
      }
      size_t end = i + 1;
      while (end < line.size() && is_name_part(line[end])) ++end;
      const auto [place, is_new] = names.try_emplace(std::string(line.substr(i, end - i)));
      if (is_new) place->second = fmt::format("%{}", count++);
      made += place->second;
      i = end;
    }
    lines.push_back(std::move(made));
  }
  return lines;
}

// Where two texts part: "line 4: a | b".
std::string first_difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  const auto line = [&](const std::vector<std::string>& lines) {
    if (i >= lines.size()) return std::string("(its end)");
    const size_t begin = std::min(lines[i].find_first_not_of(' '), lines[i].size());
    return printable(lines[i].substr(begin), 100);
  };
  return fmt::format("statement {}: {} | {}", i + 1, line(a), line(b));
}

// What could not be compiled is an error text: the same on both sides is equal.
std::vector<std::string> method_lines(const script::ScriptModule& module, const std::string& method) {
  try {
    // A class by another name is no other method.
    std::string graph = without_mangling(module.graph(method));
    const std::string own = without_mangling(module.class_name());
    for (size_t at = graph.find(own); at != std::string::npos; at = graph.find(own, at + 4)) {
      const size_t end = at + own.size();
      if (end == graph.size() || !is_name_part(graph[end])) graph.replace(at, own.size(), "Self");
    }
    return canonical_lines(graph);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    return {"cannot be compiled: " + error.message()};
  }
}

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

class ScriptDiff {
 public:
  std::vector<ScriptDifference> rows;

  void compare(const script::ScriptModule& a, const script::ScriptModule& b) {
    const std::string path = a.path().empty() ? "(the module)" : a.path();
    const std::string name_a = without_mangling(a.class_name()), name_b = without_mangling(b.class_name());
    if (name_a != name_b) add("module", path, "different class", fmt::format("{} | {}", name_a, name_b));
    attributes(a, b);
    std::map<std::string, std::string> left, right;
    for (const script::ModuleMethod& each : a.methods()) left[each.name] = without_mangling(each.signature);
    for (const script::ModuleMethod& each : b.methods()) right[each.name] = without_mangling(each.signature);
    both(left, right, "method", a.path(), [&](const std::string& name) {
      if (left[name] != right[name])
        return add("method", joined(a.path(), name), "different signature",
                   fmt::format("{} | {}", left[name], right[name]));
      const std::vector<std::string> first = method_lines(a, name), second = method_lines(b, name);
      if (first != second)
        add("method", joined(a.path(), name), "different", first_difference(first, second));
    });
  }
  void add(std::string part, std::string name, std::string status, std::string detail) {
    rows.push_back({std::move(part), std::move(name), std::move(status), std::move(detail)});
  }

  // Calls `same` for what both have, and says what only one has.
  template <typename Value, typename Same>
  void both(const std::map<std::string, Value>& left, const std::map<std::string, Value>& right,
            const std::string& part, const std::string& path, const Same& same) {
    for (const auto& [name, value] : left) {
      if (right.contains(name)) {
        same(name);
      } else {
        add(part, joined(path, name), "only in A", "");
      }
    }
    for (const auto& [name, value] : right) {
      if (!left.contains(name)) add(part, joined(path, name), "only in B", "");
    }
  }

 private:
  void attributes(const script::ScriptModule& a, const script::ScriptModule& b) {
    const auto texts = [](const script::ScriptModule& module) {
      std::map<std::string, std::string> found;
      for (const script::ModuleAttribute& each : module.attributes()) {
        if (each.kind == script::SlotKind::kModule) continue;
        found[each.name] = without_mangling(each.type);
        // Tensors are compared with the weights.
        const script::IValue value = module.attribute(each.name);
        if (!value.is(script::IValue::Tag::kTensor))
          found[each.name] += " = " + printable(script::to_text(value), 4000);
      }
      return found;
    };
    const std::map<std::string, std::string> left = texts(a), right = texts(b);
    both(left, right, "attribute", a.path(), [&](const std::string& name) {
      if (left.at(name) != right.at(name))
        add("attribute", joined(a.path(), name), "different",
            fmt::format("{} | {}", left.at(name), right.at(name)));
    });
  }
};

}  // namespace

std::vector<ScriptDifference> diff_scripts(const script::ScriptModule& a, const script::ScriptModule& b) {
  std::map<std::string, script::ScriptModule> left, right;
  for (const script::ScriptModule& module : a.modules()) left.emplace(module.path(), module);
  for (const script::ScriptModule& module : b.modules()) right.emplace(module.path(), module);
  ScriptDiff diff;
  diff.both(left, right, "module", "",
            [&](const std::string& path) { diff.compare(left.at(path), right.at(path)); });
  return std::move(diff.rows);
}

}  // namespace flambeau::cli
