// An error in a script: what went wrong and every frame that led there, as the archive has them and as the
// original source had them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/graph.h"
#include "flambeau/script/source.h"

namespace flambeau::interpreter {

namespace ir = script::ir;

struct TraceFrame {
  std::string function;     // "__torch__.M.forward"
  std::string module_path;  // "layer1.0", from the module that was called; empty for itself, or for no module
  script::SourceRange range;
};

class ScriptError : public Error {
 public:
  // `cause` says what went wrong. `exception`: the class that the script raised, empty for errors of others.
  // `is_raised`: by the script itself.
  ScriptError(const Error& cause, std::string exception, std::vector<TraceFrame> frames,
              bool is_raised = false);

  // "builtins.ValueError", or a class of the script; empty where an operator failed.
  const std::string& exception() const { return exception_; }
  bool is_raised() const { return is_raised_; }
  // Outermost first.
  const std::vector<TraceFrame>& frames() const { return frames_; }
  // Around it: what called whoever waits for a result that is this error.
  ScriptError within(std::vector<TraceFrame> outer) const;

 private:
  void locate(std::span<const TraceFrame> frames);

  std::string exception_;
  std::vector<TraceFrame> frames_;
  bool is_raised_ = false;
};

// A script's own `raise`, before frames are known.
class RaisedError : public Error {
 public:
  RaisedError(std::string message, std::string exception);
  const std::string& exception() const { return exception_; }

 private:
  std::string exception_;
};

// The frames of one place: those that were inlined into it, outermost first, and its own.
void add_frames(const ir::Node* node, const std::string& function, const std::string& module_path,
                std::vector<TraceFrame>& to);

// For people, as PyTorch writes it: the frames in serialized code, those in original code, and the message.
std::string traceback_text(const ScriptError& error);

}  // namespace flambeau::interpreter
