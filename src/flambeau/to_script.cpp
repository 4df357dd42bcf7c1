#include "flambeau/to_script.h"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <set>

#include "flambeau/base/error.h"
#include "flambeau/program_text.h"
#include "flambeau/script_build.h"

namespace flambeau {
namespace {

using graph::InputKind;

enum class SlotOf : uint8_t { kParameter, kBuffer, kConstant };

struct ProgramSlot {
  std::string name;
  Tensor tensor;
  SlotOf kind;
};

std::vector<std::string> parts_of_name(const std::string& name) {
  std::vector<std::string> parts;
  size_t from = 0;
  for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', from)) {
    parts.push_back(name.substr(from, dot - from));
    from = dot + 1;
  }
  parts.push_back(name.substr(from));
  return parts;
}

bool is_attribute_name(const std::string& part) {
  if (part.empty() || part == "training" || part == "forward") return false;
  return is_plain_name(part) || part.find_first_not_of("0123456789") == std::string::npos;
}

// The modules that dotted names ask for, and what the text calls what they hold.
class ProgramModules {
 public:
  ProgramModules(script::ScriptModule root, const std::vector<ProgramSlot>& slots) : root_(std::move(root)) {
    std::set<std::string> folders;
    for (const ProgramSlot& slot : slots) {
      for (size_t dot = slot.name.find('.'); dot != std::string::npos; dot = slot.name.find('.', dot + 1))
        folders.insert(slot.name.substr(0, dot));
    }
    for (const ProgramSlot& slot : slots) add(slot, folders);
    // From the leaves to the root: a module is whole when it becomes another one's.
    for (auto at = made_.rbegin(); at != made_.rend(); ++at) {
      const auto& [path, module] = *at;
      const size_t dot = path.rfind('.');
      script::ScriptModule& outer = dot == std::string::npos ? root_ : made_.at(path.substr(0, dot));
      outer.add_module(dot == std::string::npos ? path : path.substr(dot + 1), module);
    }
  }

  script::ScriptModule& root() { return root_; }
  std::unordered_map<std::string, std::string> take_texts() { return std::move(texts_); }

 private:
  void add(const ProgramSlot& slot, const std::set<std::string>& folders) {
    const std::vector<std::string> parts = parts_of_name(slot.name);
    bool is_tree = !folders.contains(slot.name);
    for (const std::string& part : parts) is_tree = is_tree && is_attribute_name(part);
    if (!is_tree) {
      // A name that no attributes can have: flat, in the root.
      std::string flat = slot.name;
      for (char& c : flat) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
      }
      if (!is_attribute_name(flat) || !is_plain_name(flat)) flat.insert(0, "w_");
      while (root_.has_attribute(flat) || folders.contains(flat)) flat += '_';
      put(root_, flat, slot);
      texts_[slot.name] = "self." + flat;
      return;
    }
    std::string path;
    std::string text = "self";
    for (size_t i = 0; i < parts.size(); ++i) {
      text = is_plain_name(parts[i]) ? fmt::format("{}.{}", text, parts[i])
                                     : fmt::format("getattr({}, {})", text, quoted_text(parts[i]));
      if (i + 1 == parts.size()) break;
      path += (path.empty() ? "" : ".") + parts[i];
      if (!made_.contains(path)) made_.emplace(path, root_.new_module("Module"));
    }
    put(path.empty() ? root_ : made_.at(path), parts.back(), slot);
    texts_[slot.name] = text;
  }

  static void put(script::ScriptModule& module, const std::string& name, const ProgramSlot& slot) {
    switch (slot.kind) {
      case SlotOf::kParameter:
        return module.add_parameter(name, slot.tensor);
      case SlotOf::kBuffer:
        return module.add_buffer(name, slot.tensor);
      case SlotOf::kConstant:
        return module.add_attribute(name, "Tensor", script::IValue(slot.tensor));
    }
  }

  script::ScriptModule root_;
  std::map<std::string, script::ScriptModule> made_;  // by path
  std::unordered_map<std::string, std::string> texts_;
};

std::vector<ProgramSlot> slots_of(const ExportedProgram& program) {
  if (!program.has_weights) {
    throw Error(ErrorCode::kInvalidArgument, "the program was read without its weights",
                "give the archive that it belongs to");
  }
  std::map<std::string, const graph::Weight*> weights;
  for (const auto* const list : {&program.constants, &program.state_dict}) {
    for (const graph::Weight& weight : *list) weights[weight.name] = &weight;
  }
  std::vector<ProgramSlot> slots;
  std::set<std::string> known;
  const auto add = [&](const graph::Weight& weight, SlotOf kind) {
    if (weight.pickled != nullptr || !weight.tensor.defined()) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("the weight '{}' is of a class of its own, which TorchScript cannot hold",
                              printable(weight.name)));
    }
    if (known.insert(weight.name).second) slots.push_back({weight.name, weight.tensor, kind});
  };
  for (const graph::Weight& weight : program.state_dict)
    add(weight, weight.is_parameter ? SlotOf::kParameter : SlotOf::kBuffer);
  for (const graph::InputSpec& spec : program.signature.inputs) {
    const bool is_weight = spec.kind == InputKind::kParameter || spec.kind == InputKind::kBuffer ||
                           spec.kind == InputKind::kTensorConstant;
    if (!is_weight || known.contains(spec.target)) continue;
    const auto found = weights.find(spec.target);
    if (found == weights.end())
      throw Error(ErrorCode::kCorrupt, fmt::format("the program has no weight '{}'", printable(spec.target)));
    add(*found->second, SlotOf::kConstant);
  }
  return slots;
}

}  // namespace

script::ScriptModule to_script(const ExportedProgram& program, const script::ScriptLoadOptions& options) {
  script::CompilationUnit unit(options);
  ProgramModules modules(unit.make_module("Program"), slots_of(program));
  ProgramText text(program, modules.take_texts());
  const std::string method = text.method();
  try {
    if (!text.classes().empty()) unit.define(text.classes(), "<program>");
    modules.root().define(method, "<program>");
  } catch (const Error& error) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the program cannot be said in TorchScript: {}", error.message()),
                error.remedy());
  }
  return modules.root();
}

}  // namespace flambeau
