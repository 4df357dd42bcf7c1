#include "flambeau/interpreter/traceback.h"

#include <fmt/format.h>

#include <algorithm>

namespace flambeau::interpreter {
namespace {

// Longer stacks show their two ends.
constexpr size_t kMostShown = 64;

std::string place_text(const script::SourceRange& range) {
  if (!range) return "unknown place";
  const script::Source& source = *range.source;
  return fmt::format("{}:{}", source.file_name().empty() ? "<string>" : printable(source.file_name()),
                     source.line_of(range.start));
}

std::optional<script::SourceRange> origin_of(const script::SourceRange& range) {
  if (!range || range.source->origins() == nullptr) return {};
  return range.source->origins()->find(range.start);
}

void add_text(std::string& text, const script::SourceRange& range, const TraceFrame& frame) {
  const script::Source& source = *range.source;
  text += fmt::format("  File \"{}\", line {}, in {}",
                      source.file_name().empty() ? "<string>" : printable(source.file_name()),
                      source.line_of(range.start), printable(frame.function));
  if (!frame.module_path.empty()) text += fmt::format(" (self.{})", printable(frame.module_path));
  text += '\n';
  // The place is said already, with the function.
  const std::string shown = highlight(range);
  text.append(shown, shown.starts_with("  File ") ? shown.find('\n') + 1 : 0);
  if (text.back() != '\n') text += '\n';
}

}  // namespace

// Inner locations were added by who threw; frames come around them, the innermost first.
void ScriptError::locate(std::span<const TraceFrame> frames) {
  const size_t shown = std::min(frames.size(), kMostShown);
  for (size_t i = 0; i < shown; ++i) {
    const TraceFrame& frame = frames[frames.size() - 1 - i];
    std::string place = place_text(frame.range);
    if (const std::optional<script::SourceRange> origin = origin_of(frame.range))
      place += " (" + place_text(*origin) + ")";
    std::string name = printable(frame.function);
    if (!frame.module_path.empty()) name += " of self." + printable(frame.module_path);
    add_location("script", fmt::format("{} in {}", place, name));
  }
}

ScriptError::ScriptError(const Error& cause, std::string exception, std::vector<TraceFrame> frames,
                         bool is_raised)
    : Error(cause), exception_(std::move(exception)), frames_(std::move(frames)), is_raised_(is_raised) {
  locate(frames_);
}

ScriptError ScriptError::within(std::vector<TraceFrame> outer) const {
  ScriptError made = *this;
  made.locate(outer);
  outer.insert(outer.end(), frames_.begin(), frames_.end());
  made.frames_ = std::move(outer);
  return made;
}

RaisedError::RaisedError(std::string message, std::string exception)
    : Error(ErrorCode::kInvalidArgument, std::move(message)), exception_(std::move(exception)) {}

namespace {

// The compiler gives some nodes no place, as PyTorch does: they belong to what they are made of.
script::SourceRange place_of(const ir::Node& node) {
  if (node.range) return node.range;
  for (const ir::Value* const input : node.inputs()) {
    const ir::Node& maker = *input->node();
    if (!maker.is(ir::NodeKind::kConstant) && maker.range) return maker.range;
  }
  for (const ir::Value* const output : node.outputs()) {
    for (const ir::Use& use : output->uses()) {
      if (use.user->range) return use.user->range;
    }
  }
  return {};
}

}  // namespace

void add_frames(const ir::Node* node, const std::string& function, const std::string& module_path,
                std::vector<TraceFrame>& to) {
  if (node == nullptr) {
    to.push_back({.function = function, .module_path = module_path, .range = {}});
    return;
  }
  // A frame says where its function was called from: the place inside of it is the next one's.
  std::vector<const ir::CallFrame*> inlined;
  for (const ir::CallFrame* frame = node->frame.get(); frame != nullptr; frame = frame->outer.get())
    inlined.push_back(frame);
  std::string name = function;
  std::string path = module_path;
  for (auto frame = inlined.rbegin(); frame != inlined.rend(); ++frame) {
    to.push_back({.function = name, .module_path = path, .range = (*frame)->called_at});
    name = (*frame)->function;
    if (!(*frame)->module_path.empty()) {
      if (!path.empty()) path += '.';
      path += (*frame)->module_path;
    }
  }
  to.push_back({.function = name, .module_path = path, .range = place_of(*node)});
}

std::string traceback_text(const ScriptError& error) {
  std::string serialized, original;
  const std::vector<TraceFrame>& frames = error.frames();
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames.size() > kMostShown && i == kMostShown / 2) {
      serialized += fmt::format("  ... {} frames ...\n", frames.size() - kMostShown);
      i = frames.size() - kMostShown / 2;
    }
    const TraceFrame& frame = frames[i];
    if (!frame.range) continue;
    add_text(serialized, frame.range, frame);
    if (const std::optional<script::SourceRange> origin = origin_of(frame.range))
      add_text(original, *origin, frame);
  }
  std::string text;
  if (!original.empty()) {
    text += "Traceback of TorchScript, serialized code (most recent call last):\n" + serialized;
    text += "\nTraceback of TorchScript, original code (most recent call last):\n" + original;
  } else {
    text += "Traceback of TorchScript (most recent call last):\n" + serialized;
  }
  text += error.exception().empty() ? "RuntimeError" : printable(error.exception());
  text += ": " + error.message() + '\n';
  return text;
}

}  // namespace flambeau::interpreter
