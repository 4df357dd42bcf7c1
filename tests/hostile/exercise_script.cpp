#include "hostile/exercise_script.h"

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/work.h"
#include "flambeau/migrate.h"
#include "flambeau/script.h"
#include "flambeau/script_package.h"

namespace flambeau::hostile {
namespace {

using script::IValue;
using script::ScriptLoadOptions;
using script::ScriptModule;

// What a stranger's code is given, of steps, of seconds in all, and of bytes.
constexpr uint64_t kSteps = 20'000;
constexpr double kSeconds = 2;
constexpr uint64_t kBytes = 32ULL << 20;
constexpr size_t kMost = 8;  // methods, modules and packaged modules that are looked at

template <typename Body>
std::optional<ErrorCode> attempt_script(Body&& body) {
  try {
    body();
    return std::nullopt;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal)
      throw std::logic_error(std::string("an internal error: ") + error.what());
    if (script::traceback_text(error).size() > (1U << 16))
      throw std::logic_error("an error of more than 64 kB");
    return error.code();
  }
}

// "Tensor x, int[] sizes, bool flag=False": an argument for each that has no default.
std::vector<IValue> made_arguments(std::string_view signature) {
  std::vector<IValue> made;
  size_t at = signature.find('(');
  int depth = 0;
  std::string one;
  const auto close = [&] {
    while (!one.empty() && one.front() == ' ') one.erase(0, 1);
    const bool has_default = one.find('=') != std::string::npos;
    const std::string type = one.substr(0, one.find(' '));
    one.clear();
    if (type.empty() || has_default || type == "*") return;
    const Tensor tensor =
        Tensor::contiguous(DType::kFloat32, Dims{2, 3}, Storage::own(std::vector<uint8_t>(24, 1)));
    if (type == "int") {
      made.emplace_back(2);
    } else if (type == "float") {
      made.emplace_back(1.5);
    } else if (type == "bool") {
      made.emplace_back(true);
    } else if (type == "str") {
      made.emplace_back("text");
    } else if (type == "Tensor[]") {
      made.push_back(script::make_list({IValue(tensor), IValue(tensor)}));
    } else if (type == "int[]") {
      made.push_back(script::make_list({IValue(1), IValue(2)}));
    } else if (type.ends_with('?')) {
      made.emplace_back();
    } else {
      made.emplace_back(tensor);
    }
  };
  for (++at; at < signature.size(); ++at) {
    const char c = signature[at];
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && depth-- == 0) break;
    if (c == ',' && depth == 0) {
      close();
    } else {
      one += c;
    }
  }
  close();
  return made;
}

void look_at(const ScriptModule& module) {
  size_t count = 0;
  attempt_script([&] {
    for (const script::ModuleAttribute& attribute : module.attributes()) {
      if (++count > 100) break;
      attempt_script([&] { script::to_text(module.attribute(attribute.name)); });
    }
  });
  attempt_script([&] { module.state_dict(); });
  attempt_script([&] { module.modules(); });
  attempt_script([&] { module.operators(); });
  attempt_script([&] { module.outside_calls(); });
  attempt_script([&] { module.problems(); });
  attempt_script([&] { module.lowered_modules(); });
  attempt_script([&] { module.code(); });
  attempt_script([&] { module.python_code(); });
  attempt_script([&] { script::export_opnames(module); });
  attempt_script([&] {
    for (const std::string& name : module.extra_files()) module.extra_file(name);
  });
}

void run_methods(const ScriptModule& module, bool with_texts) {
  std::vector<script::ModuleMethod> methods;
  attempt_script([&] { methods = module.methods(); });
  if (methods.size() > kMost) methods.resize(kMost);
  for (const script::ModuleMethod& method : methods) {
    if (with_texts) {
      attempt_script([&] { module.graph(method.name); });
      attempt_script([&] { module.code(method.name); });
      attempt_script([&] { module.original_code(method.name); });
    }
    attempt_script([&] {
      script::ScriptRunOptions run;
      run.most_steps = kSteps;
      run.most_bytes = kBytes;
      module.run_method(method.name, made_arguments(method.signature), {}, run);
    });
  }
}

void write_and_read(const ScriptModule& module, const ScriptLoadOptions& options) {
  std::vector<uint8_t> bytes;
  attempt_script([&] {
    MemorySink sink;
    script::write_script_module(module, sink);
    bytes = sink.take();
  });
  if (bytes.empty()) return;
  ScriptLoadOptions again = options;
  again.from_bytecode = false;
  again.module.clear();
  try {
    script::load_script(Mapping::from_buffer(std::move(bytes)), again);
  } catch (const Error& error) {
    // Bytecode says little of types: code that is made of it may contradict itself.
    const bool is_fine =
        error.code() == ErrorCode::kLimit || error.code() == ErrorCode::kCancelled || options.from_bytecode;
    if (!is_fine) throw std::logic_error(std::string("what was written is not read: ") + error.what());
  }
}

void change_and_run(const ScriptModule& module) {
  for (const bool is_optimized : {false, true}) {
    attempt_script([&] {
      const ScriptModule copy = module.clone();
      copy.deepcopy();
      const ScriptModule changed = is_optimized ? script::optimize(copy) : script::freeze(copy);
      // Twice: once by the interpreter, then by its plan.
      run_methods(changed, true);
      run_methods(changed, false);
    });
  }
  attempt_script([&] {
    const ScriptModule copy = module.clone();
    script::inline_calls(copy);
    run_methods(copy, true);
  });
}

void migrate_it(const ScriptModule& module) {
  std::vector<script::ModuleMethod> methods;
  attempt_script([&] { methods = module.methods(); });
  for (const script::ModuleMethod& method : methods) {
    if (method.name != "forward") continue;
    attempt_script([&] {
      MigrateOptions options;
      options.most_steps = kSteps;
      migrate(module, made_arguments(method.signature), {}, options);
    });
    attempt_script([&] { file_example(module, method.name); });
  }
}

std::optional<ErrorCode> exercise_module(const std::shared_ptr<Mapping>& mapping, ScriptLoadOptions options) {
  const WorkScope scope({.seconds = kSeconds, .bytes = kBytes});
  return attempt_script([&] {
    const ScriptModule module = script::load_script(mapping, options);
    look_at(module);
    run_methods(module, true);
    write_and_read(module, options);
    change_and_run(module);
    migrate_it(module);
  });
}

}  // namespace

std::optional<ErrorCode> exercise_script(const std::shared_ptr<Mapping>& mapping) {
  ScriptLoadOptions options;
  options.most_steps = kSteps;
  options.threads = 1;
  std::optional<ErrorCode> refused = exercise_module(mapping, options);
  options.from_bytecode = true;
  exercise_module(mapping, options);
  options.from_bytecode = false;
  options.run_set_state = false;
  attempt_script([&] {
    const WorkScope scope({.seconds = kSeconds, .bytes = kBytes});
    look_at(script::load_script(mapping, options));
  });
  options.run_set_state = true;
  std::vector<script::PackagedScript> packaged;
  attempt_script([&] { packaged = script::list_script_package(mapping); });
  if (packaged.size() > kMost) packaged.resize(kMost);
  for (const script::PackagedScript& each : packaged) {
    options.module = each.id;
    refused = exercise_module(mapping, options);
  }
  return refused;
}

}  // namespace flambeau::hostile
