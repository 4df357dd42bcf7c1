#include "flambeau/script/compiler/scope.h"

#include <algorithm>

#include "flambeau/base/ascii.h"

namespace flambeau::script::compiler {

std::optional<Meaning> Frame::find_here(const std::string& name) const {
  if (const auto found = meanings_.find(name); found != meanings_.end()) return found->second;
  const auto found = types_.find(name);
  if (found == types_.end()) return std::nullopt;
  ir::Graph& graph = block_.graph();
  ir::Node* load = graph.insert(graph.make(ir::NodeKind::kLoad, {}, 1));
  load->name = name;
  load->output()->set_type(found->second);
  if (is_meaningful(name)) load->output()->set_name(name);
  return Meaning::of(load->output());
}

std::optional<Meaning> Frame::find(const std::string& name) const {
  for (const Frame* frame = this; frame != nullptr; frame = frame->outer_) {
    if (auto found = frame->find_here(name)) return found;
  }
  return std::nullopt;
}

std::optional<Meaning> Frame::find_outside(const std::string& name) const {
  return outer_ == nullptr ? std::nullopt : outer_->find(name);
}

bool Frame::has(const std::string& name) const {
  for (const Frame* frame = this; frame != nullptr; frame = frame->outer_) {
    if (frame->meanings_.contains(name) || frame->types_.contains(name)) return true;
  }
  return false;
}

void Frame::store(const std::string& name, ir::Value* value, Type type, const SourceRange& range) {
  ir::Graph& graph = block_.graph();
  ir::Value* const inputs[] = {value};
  ir::Node* made = graph.insert(graph.make(ir::NodeKind::kStore, inputs, 0));
  made->name = name;
  made->range = range;
  set_type(name, std::move(type));
}

bool Frame::remove(const std::string& name) {
  bool was_there = false;
  for (Frame* frame = this; frame != nullptr; frame = frame->outer_) {
    was_there = frame->meanings_.erase(name) + frame->types_.erase(name) > 0 || was_there;
  }
  return was_there;
}

std::vector<std::string> Frame::variables() const {
  std::vector<std::string> names;
  names.reserve(types_.size());
  for (const auto& [name, type] : types_) names.push_back(name);
  return names;
}

std::vector<std::string> Frame::all_names() const {
  std::vector<std::string> names = variables();
  for (const auto& [name, meaning] : meanings_) names.push_back(name);
  std::erase_if(names, [](const std::string& name) { return !is_meaningful(name); });
  return names;
}

bool is_meaningful(std::string_view name) {
  if (name.empty() || name[0] == '$') return false;
  if (name[0] != '_') return true;
  return !std::ranges::all_of(name.substr(1), is_digit);
}

}  // namespace flambeau::script::compiler
