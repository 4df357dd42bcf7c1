#include "flambeau/trace/module_stack.h"

#include <fmt/format.h>

namespace flambeau::trace {

ModuleStack::ModuleStack(const nn::Module& root) {
  for (const nn::NamedModule& named : root.named_modules()) names_.emplace(named.module, named.name);
}

void ModuleStack::enter(const nn::Module& module, const std::function<nn::Tree()>& arguments) {
  const auto found = names_.find(&module);
  const std::string path = found == names_.end() ? std::string() : found->second;
  // A module that is called again is told apart by a count.
  const size_t count = calls_[&module]++;
  const std::string name = count > 0 && !path.empty() ? fmt::format("{}@{}", path, count) : path;
  open_.emplace_back(name, fmt::format("L__self__{},{},{}", name, path, module.class_name()));
  if (on_enter) on_enter(name, arguments);
}

void ModuleStack::leave(const nn::Module&, const std::function<nn::Tree()>& result) {
  if (on_leave) on_leave(open_.back().first, result);
  open_.pop_back();
}

std::string ModuleStack::text() const {
  std::string text;
  for (const auto& [name, call] : open_) {
    if (!text.empty()) text += ';';
    text += call;
  }
  return text;
}

std::string ModuleStack::line() const { return line_.empty() ? location_text(nn::where()) : line_; }

std::string location_text(const std::source_location& where) {
  return fmt::format("File \"{}\", line {}, in {}", where.file_name(), where.line(), where.function_name());
}

}  // namespace flambeau::trace
