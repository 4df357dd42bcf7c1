// Makes the calls that PyTorch's own tests made, and compares what they give:
//   script_calls [--sample N] [--only NAME] [--show TEXT] [--code] [--verbose] [--errors] [--states FOLDER]
//                [--bytecode] FOLDER
// FOLDER has archives/<id>.pt and calls/<n>.pt, dicts of "archive", "method", "args", "kwargs", "result" or
// "error", "args_after", "rng", "more" (pairs of arguments and results of further calls). Prints what went
// wrong by kind, and totals. --show: each one of the kinds with that text in their names. --code: what the
// machine runs. --errors: an error must have PyTorch's text.
// --bytecode: archives are mobile modules, also in flatbuffers, and run by their bytecode.
// --states: has <n>.pt, the module after a call that changed it (states.py writes them); all others must be
// as they were.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "call_compare.h"
#include "call_file.h"
#include "flambeau/archive/record_archive.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/flatbuffer/flat_module.h"
#include "flambeau/formats/flatbuffer/flatbuffer_file.h"
#include "flambeau/formats/mobile/mobile_file.h"
#include "flambeau/formats/state_dict/torch_readers.h"
#include "flambeau/formats/torchscript/script_file.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/interpreter/native_methods.h"
#include "flambeau/interpreter/traceback.h"
#include "flambeau/kernels/random/generator.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/script/ir/text.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/types/relations.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/value/schema_table.h"

namespace {

using namespace flambeau;
using script::IValue;
using torchscript_calls::difference;
using torchscript_calls::read_call;
using torchscript_calls::typed;

struct Outcome {
  bool is_right = false;
  bool has_control_flow = false;
  std::string kind;
  std::string detail;
};

struct LoadedArchive;

struct Judge {
  std::string folder;
  std::shared_ptr<const script::OperatorTable> operators =
      std::make_shared<const script::OperatorTable>(std::make_shared<const SchemaTable>());
  std::shared_ptr<const ops::Library> library = std::make_shared<const ops::Library>();
  ThreadPool pool{1};
  bool shows_code = false;
  bool compares_errors = false;
  bool from_bytecode = false;
  std::string states;

  LoadedArchive load(const std::string& path, const interpreter::MachineOptions& options);
  Outcome judge(const std::string& path);
};

bool has_control_flow(const script::ScriptContents& archive) {
  for (const std::string& qualifier : archive.qualifiers()) {
    const std::string& text = archive.find_source(qualifier)->text();
    for (const char* const word : {"  if ", "  for ", "  while "}) {
      if (text.find(word) != std::string::npos) return true;
    }
  }
  return false;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// "ValueError: no" and "builtins.ValueError: no" as "no": a class's name is a word without blanks.
std::string without_class(const std::string& line) {
  const size_t colon = line.find(": ");
  if (line.ends_with("Error:")) return "";
  const std::string word = line.substr(0, colon);
  const bool is_class = colon != std::string::npos && word.find(' ') == std::string::npos &&
                        (word.ends_with("Error") || word.ends_with("Exception"));
  return is_class ? without_class(line.substr(colon + 2)) : line;
}
std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of("\n ");
  const std::string trimmed = end == std::string::npos ? "" : text.substr(0, end + 1);
  return trimmed.substr(trimmed.rfind('\n') + 1);
}

// What differs in the attributes of two objects, and of those in them.
std::string object_difference(const IValue& ours, const IValue& expected, const std::string& path,
                              std::set<const void*>& seen) {
  if (!expected.is(IValue::Tag::kObject)) {
    // What PyTorch keeps of its own classes is compared by what runs with it.
    if (expected.is(IValue::Tag::kNative)) return ours.is(IValue::Tag::kNative) ? "" : path + ": no object";
    if (expected.is(IValue::Tag::kEnum)) {
      // Of two units, so that they are of two classes.
      const bool is_same = ours.is(IValue::Tag::kEnum) && ours.as_enum().name == expected.as_enum().name;
      return is_same ? "" : path + ": enumerator";
    }
    const std::string different = difference(ours, expected);
    return different.empty() ? "" : path + ": " + different;
  }
  if (!ours.is(IValue::Tag::kObject)) return path + ": no object";
  const script::ObjectBox &mine = ours.as_object(), &theirs = expected.as_object();
  if (!seen.insert(&mine).second) return "";
  for (size_t i = 0; i < theirs.type->attributes.size(); ++i) {
    const std::string& name = theirs.type->attributes[i].name;
    const std::optional<size_t> slot = mine.type->find_attribute(name);
    if (!slot) return path + "." + name + ": no such attribute";
    std::string different = object_difference(mine.slots[*slot], theirs.slots[i], path + "." + name, seen);
    if (!different.empty()) return different;
  }
  return "";
}

// An archive with what runs it.
struct LoadedArchive {
  std::unique_ptr<interpreter::Machine> machine;
  script::ScriptFile file;
};

LoadedArchive Judge::load(const std::string& path, const interpreter::MachineOptions& options) {
  LoadedArchive loaded;
  script::LoadHooks hooks;
  hooks.begin = [&](const std::shared_ptr<script::Unit>& unit) {
    unit->set_native_methods(interpreter::native_methods(library));
    loaded.machine = std::make_unique<interpreter::Machine>(
        std::make_shared<const interpreter::Program>(unit, library), pool, options);
  };
  hooks.make_native = [&](std::string_view name, const IValue& state) -> IValue {
    return interpreter::native_from_state(*library, name, state);
  };
  hooks.set_state = [&](const script::Function&, const IValue& object, const IValue& state) {
    loaded.machine->call_method(object, "__setstate__", {state});
  };
  const std::shared_ptr<Mapping> bytes = Mapping::open(path);
  if (script::is_flatbuffer_module(bytes->bytes())) {
    loaded.file = script::read_flatbuffer(bytes, operators, hooks, from_bytecode).script;
    return loaded;
  }
  const auto records = std::make_shared<RecordArchive>(RecordArchive::open(bytes));
  loaded.file = from_bytecode ? script::read_mobile(records, operators, hooks).script
                              : script::read_script(records, operators, hooks);
  return loaded;
}

Outcome Judge::judge(const std::string& path) {
  Outcome outcome;
  std::map<std::string, IValue> call;
  try {
    call = read_call(path, operators);
  } catch (const Error& error) {
    outcome.kind = "call file: " + first_line(error.message());
    return outcome;
  }
  kernels::Generator generator;
  interpreter::MachineOptions options;
  options.generator = &generator;
  options.granted = UINT32_MAX;
  options.most_steps = 20'000'000;
  if (call["default_dtype"].is(IValue::Tag::kString)) {
    if (const std::optional<DType> dtype = dtype_from_name(call["default_dtype"].as_string()))
      options.default_dtype = *dtype;
  }
  LoadedArchive loaded;
  const std::string archive = fmt::format("{}/archives/{}.pt", folder, call["archive"].as_string());
  try {
    loaded = load(archive, options);
    outcome.has_control_flow = has_control_flow(*loaded.file.archive);
  } catch (const Error& error) {
    outcome.kind = "load: " + first_line(error.message());
    outcome.detail = error.what();
    return outcome;
  }
  const std::unique_ptr<interpreter::Machine>& machine = loaded.machine;
  const script::ScriptFile& file = loaded.file;
  if (shows_code) {
    for (const std::shared_ptr<script::Function>& method : file.module.as_object().type->methods) {
      const interpreter::Program& program = machine->program();
      std::cout << to_text(*method->graph()) << to_string(program.code_of(program.slot_of(method)));
    }
  }
  if (call["rng"].is(IValue::Tag::kTensor)) generator.set_state(call["rng"].as_tensor().contiguous_bytes());
  const IValue arguments = call["args"];
  std::vector<IValue> given;
  for (const IValue& argument : arguments.items()) given.push_back(typed(argument));
  interpreter::Machine::Keywords keywords;
  for (const script::DictItems::Entry& entry : call["kwargs"].as_dict().items.entries())
    keywords.emplace_back(entry.key.as_string(), typed(entry.value));
  const bool should_fail = call.contains("error");
  IValue result;
  try {
    // A saved function is a module's forward.
    result = machine->call_method(file.module, call["method"].as_string(), given, keywords);
  } catch (const Error& error) {
    outcome.is_right = should_fail;
    if (!should_fail) outcome.kind = "error: " + first_line(error.message());
    if (should_fail && compares_errors) {
      const std::string theirs =
          without_class(call["error"].as_dict().items.find(IValue("last_line"))->as_string());
      const std::string ours = without_class(last_line(error.message()));
      outcome.is_right = ours == theirs;
      if (!outcome.is_right) outcome.kind = fmt::format("text: {}  FOR  {}", ours, theirs);
    }
    const auto* const script_error = dynamic_cast<const interpreter::ScriptError*>(&error);
    outcome.detail = script_error != nullptr ? traceback_text(*script_error) : error.what();
    return outcome;
  }
  if (should_fail) {
    outcome.kind = "no error";
    outcome.detail = call["error"].as_dict().items.find(IValue("last_line"))->as_string();
    return outcome;
  }
  outcome.kind = difference(result, call["result"]);
  if (call["more"].is(IValue::Tag::kList)) {
    for (const IValue& next : call["more"].items()) {
      if (!outcome.kind.empty()) break;
      std::vector<IValue> next_arguments;
      for (const IValue& argument : next.items().at(0).items()) next_arguments.push_back(typed(argument));
      outcome.kind =
          difference(machine->call_method(file.module, call["method"].as_string(), next_arguments, keywords),
                     next.items().at(1));
    }
  }
  if (!outcome.kind.empty()) outcome.kind = "result: " + outcome.kind;
  if (outcome.kind.empty() && call.contains("args_after")) {
    outcome.kind = difference(IValue::list(TypeKind::kAny, arguments.items()),
                              IValue::list(TypeKind::kAny, call["args_after"].items()));
    if (!outcome.kind.empty()) outcome.kind = "arguments afterwards: " + outcome.kind;
  }
  if (outcome.kind.empty() && !states.empty()) {
    const std::string after = states + path.substr(path.rfind('/'));
    const bool changed = std::filesystem::exists(after);
    std::set<const void*> seen;
    outcome.kind =
        object_difference(file.module, load(changed ? after : archive, options).file.module, "self", seen);
    if (!outcome.kind.empty()) outcome.kind = "state afterwards: " + outcome.kind;
  }
  outcome.is_right = outcome.kind.empty();
  // "result: values: 1 for 2": the kind ends at the second colon.
  const size_t colon = outcome.kind.find(": ", outcome.kind.find(": ") + 1);
  if (colon != std::string::npos) {
    outcome.detail = outcome.kind.substr(colon + 2);
    outcome.kind.resize(colon);
  }
  return outcome;
}

}  // namespace

int main(int count, char** arguments) {
  size_t sample = 1;
  std::string only;
  bool is_verbose = false;
  std::string shown;
  Judge judge;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--sample" && i + 1 < count) {
      sample = std::max(1UL, std::stoul(arguments[++i]));
    } else if (argument == "--only" && i + 1 < count) {
      only = arguments[++i];
    } else if (argument == "--code") {
      judge.shows_code = true;
    } else if (argument == "--bytecode") {
      judge.from_bytecode = true;
    } else if (argument == "--errors") {
      judge.compares_errors = true;
    } else if (argument == "--states" && i + 1 < count) {
      judge.states = arguments[++i];
    } else if (argument == "--show" && i + 1 < count) {
      shown = arguments[++i];
    } else if (argument == "--verbose") {
      is_verbose = true;
    } else {
      judge.folder = argument;
    }
  }
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(judge.folder + "/calls"))
    if (entry.path().string().find(only) != std::string::npos) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  size_t tried = 0, right = 0, tried_flow = 0, right_flow = 0;
  std::map<std::string, std::pair<size_t, std::string>> kinds;
  for (size_t i = 0; i < paths.size(); i += sample) {
    if (is_verbose) std::cerr << paths[i] << "\n";
    Outcome outcome;
    try {
      outcome = judge.judge(paths[i]);
    } catch (const std::exception& error) {
      outcome.kind = std::string("exception: ") + error.what();
    }
    ++tried;
    right += outcome.is_right ? 1 : 0;
    tried_flow += outcome.has_control_flow ? 1 : 0;
    right_flow += outcome.has_control_flow && outcome.is_right ? 1 : 0;
    if (outcome.is_right) continue;
    auto& [times, example] = kinds[outcome.kind];
    if (times++ == 0) example = paths[i];
    if (!shown.empty() && outcome.kind.find(shown) != std::string::npos)
      std::cout << fmt::format("{}: {}\n{}\n", paths[i], outcome.kind, outcome.detail);
  }
  std::vector<std::tuple<size_t, std::string, std::string>> sorted;
  for (const auto& [kind, seen] : kinds) sorted.emplace_back(seen.first, kind, seen.second);
  std::sort(sorted.rbegin(), sorted.rend());
  for (const auto& [times, kind, example] : sorted)
    std::cout << fmt::format("{:6} {}  ({})\n", times, printable(kind, 200), example);
  std::cout << fmt::format("{} of {} calls are right; {} of {} with control flow\n", right, tried, right_flow,
                           tried_flow);
  return right == tried ? 0 : 1;
}
