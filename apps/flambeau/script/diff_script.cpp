// diff of two TorchScript modules: classes, attributes, and methods by what they compute: names of variables,
// numbers of classes and comments do not count.
#include <fmt/format.h>

#include <map>
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

// The lines of a graph's text, its values numbered in the order of their appearance.
std::vector<std::string> canonical_lines(const std::string& graph) {
  std::vector<std::string> lines(1);
  std::unordered_map<std::string, size_t> numbers;
  const std::string text = without_mangling(graph);
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\n') {
      lines.emplace_back();
      ++i;
    } else if (text[i] == '%' && (i == 0 || !is_name_part(text[i - 1]))) {
      size_t end = i + 1;
      while (end < text.size() && is_name_part(text[end])) ++end;
      const size_t number = numbers.try_emplace(text.substr(i, end - i), numbers.size()).first->second;
      lines.back() += fmt::format("%{}", number);
      i = end;
    } else {
      lines.back() += text[i++];
    }
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
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
