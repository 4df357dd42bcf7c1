#include "flambeau/script/python/file.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/operators/python/spellings.h"
#include "flambeau/script/printer/name_maker.h"
#include "flambeau/script/python/helpers.h"
#include "flambeau/script/python/variables.h"
#include "flambeau/script/reachable.h"

namespace flambeau::script {

namespace {

constexpr std::string_view kRoot = "__torch__.";

std::string_view after_last_dot(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

// Names that annotations have for themselves.
std::string with_words(std::string text, std::string_view word, std::string_view by) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size())) {
    const auto is_part = [](char c) {
      return (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '_' || c == '.';
    };
    const size_t end = at + word.size();
    if ((at > 0 && is_part(text[at - 1])) || (end < text.size() && is_part(text[end]))) continue;
    text.replace(at, word.size(), by);
  }
  return text;
}

}  // namespace

std::string unmangled(std::string_view qualified_name) {
  std::string name;
  while (!qualified_name.empty()) {
    const std::string_view atom = qualified_name.substr(0, qualified_name.find('.'));
    qualified_name.remove_prefix(std::min(qualified_name.size(), atom.size() + 1));
    if (atom == "__torch__" || atom.starts_with("___torch_mangle_")) continue;
    if (!name.empty()) name += '.';
    name += atom;
  }
  return name;
}

std::string python_class_name(std::string_view qualified_name) {
  return make_identifier(after_last_dot(unmangled(qualified_name)));
}

void PythonFile::look(const std::vector<std::shared_ptr<const Class>>& classes) {
  visit_reachable(unit_, classes, [&](const Function& function, const ir::Graph* graph, const Error* error) {
    if (error != nullptr) {
      // Methods of PyTorch's own objects have no code, and need none.
      const std::string& name = function.qualified_name();
      if (is_native_class(name.substr(0, name.rfind('.')))) return;
      throw *error;
    }
    // Constructors give the object what it has; nobody has read it before.
    const bool is_constructor = function.name() == "__init__";
    visit_nodes(*graph, [&](const ir::Node& node) {
      if (node.is(ir::NodeKind::kSetAttr) && !is_constructor) stored_.insert(node.name);
      if (!node.is(ir::NodeKind::kCallMethod) ||
          (node.name == "forward" || node.name.starts_with("forward__")) ||
          !node.input(0)->type().is(TypeKind::kClass)) {
        return;
      }
      const std::string callee(node.input(0)->type().name());
      if (function.qualified_name() != callee + "." + std::string(function.name())) called_.insert(callee);
    });
  });
}

std::string PythonFile::new_name(std::string_view wanted) {
  std::string name(wanted);
  uint64_t& number = next_numbers_[name];
  while (names_.contains(name) || is_python_word(name)) name = fmt::format("{}_{}", wanted, ++number);
  names_.insert(name);
  return name;
}

const std::string& PythonFile::class_name(std::string_view qualified_name) {
  if (const auto found = class_names_.find(qualified_name); found != class_names_.end()) return found->second;
  const std::string key(qualified_name);
  const std::shared_ptr<Class> known = unit_.find_class(qualified_name);
  // What has no text here is PyTorch's own, or whatever there is behind an interface.
  if (known == nullptr || known->is_interface()) return class_names_[key] = "Any";
  if (known->is_module()) return class_names_[key] = "nn.Module";
  classes_.push_back(key);
  return class_names_[key] = new_name(python_class_name(qualified_name));
}

const std::string& PythonFile::function_name(const std::string& qualified_name) {
  if (const auto found = function_names_.find(qualified_name); found != function_names_.end()) {
    return found->second;
  }
  const Function& function = unit_.get_function(qualified_name);
  std::string arguments;
  for (const Argument& argument : function.signature().arguments) {
    arguments += (arguments.empty() ? "" : ",") + argument.name;
  }
  const std::string plain = unmangled(qualified_name);
  if (std::string known = python_function(plain, arguments); !known.empty()) {
    return function_names_[qualified_name] = std::move(known);
  }
  functions_.push_back(qualified_name);
  return function_names_[qualified_name] = new_name(make_identifier(after_last_dot(plain)));
}

std::string_view PythonFile::need(std::string_view helper) {
  for (const PythonHelper& known : python_helpers()) {
    if (known.name != helper) continue;
    if (!helpers_.insert(std::string(helper)).second) return known.name;
    names_.insert(std::string(helper));
    if (!known.imports.empty()) imports_.insert(std::string(known.imports));
    if (!known.needs.empty()) need(known.needs);
    return known.name;
  }
  throw Error(ErrorCode::kInternal, fmt::format("there is no helper '{}'", helper));
}

std::string PythonFile::annotation(const Type& type) {
  std::string text = annotation_text(type, [this](std::string_view name) { return class_name(name); });
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"NoneType", "None"},
      {"Device", "torch.device"},
      {"Generator", "torch.Generator"},
      {"number", "Union[int, float, complex]"},
  };
  for (const auto& [word, by] : kWords) text = with_words(std::move(text), word, by);
  return text;
}

std::string PythonFile::dtype_text(int64_t number) {
  const std::optional<DType> dtype = dtype_from_number(number);
  return dtype ? fmt::format("torch.{}", dtype_name(*dtype)) : std::string();
}

std::string PythonFile::head() const {
  std::string text = "from __future__ import annotations\n\n";
  for (const std::string& module : imports_) text += fmt::format("import {}\n", module);
  text +=
      "from enum import Enum\n"
      "from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union\n\n"
      "import torch\n"
      "import torch.nn.functional as F\n"
      "from torch import Tensor, nn\n";
  for (const PythonHelper& helper : python_helpers()) {
    if (helpers_.contains(helper.name)) text += fmt::format("\n{}", helper.text);
  }
  return text;
}

std::string PythonFile::constants() const {
  std::string text;
  for (size_t i = 0; i < constants_.size(); ++i) text += fmt::format("CONSTANT_{} = {}\n", i, constants_[i]);
  return text.empty() ? text : "\n\n# Tensors of the code, which are in no state dict.\n" + text;
}

}  // namespace flambeau::script
