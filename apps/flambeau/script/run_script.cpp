// flambeau run for TorchScript: arguments from the command line, results shown, written and compared.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "flambeau/error.h"
#include "flambeau/files.h"
#include "model_inputs.h"
#include "output_stream.h"
#include "outputs/run_outputs.h"
#include "profile_table.h"
#include "reports.h"
#include "script/script_files.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

using script::IValue;

Value output_value(const IValue& value) {
  switch (value.tag()) {
    case IValue::Tag::kTensor:
      return value.as_tensor();
    case IValue::Tag::kNone:
      return {};
    case IValue::Tag::kInt:
      return value.as_int();
    case IValue::Tag::kFloat:
      return value.as_float();
    case IValue::Tag::kBool:
      return value.as_bool();
    default:
      return script::to_text(value);
  }
}

std::string key_text(const IValue& key) {
  return key.is(IValue::Tag::kString) ? fmt::format("'{}'", printable(key.as_string()))
                                      : script::to_text(key);
}

// What a result consists of, by where it is: "output", "output[0]". Lists of numbers stay whole.
struct ScriptOutputs {
  std::vector<Leaf> leaves;
  std::vector<Value> values;
  int parts_left = 10000;  // a list may contain itself
};
void collect(const IValue& value, const std::string& path, int depth, ScriptOutputs& to) {
  constexpr int kMostDepth = 100;
  if (--to.parts_left < 0) {
    throw Error(ErrorCode::kLimit, "the result has too many parts to be shown", "call it from C++ or Python");
  }
  const bool is_list = value.is(IValue::Tag::kTuple) || value.is(IValue::Tag::kList);
  if (is_list && depth < kMostDepth) {
    const auto has_parts = [](const IValue& item) {
      return item.is(IValue::Tag::kTensor) || item.is(IValue::Tag::kTuple) || item.is(IValue::Tag::kList) ||
             item.is(IValue::Tag::kDict);
    };
    if (value.is(IValue::Tag::kTuple) || std::ranges::any_of(value.items(), has_parts)) {
      for (size_t i = 0; i < value.items().size(); ++i)
        collect(value.items()[i], fmt::format("{}[{}]", path, i), depth + 1, to);
      return;
    }
  }
  if (value.is(IValue::Tag::kDict) && depth < kMostDepth) {
    for (const auto& [key, held] : script::dict_items(value))
      collect(held, fmt::format("{}[{}]", path, key_text(key)), depth + 1, to);
    return;
  }
  Leaf leaf;
  leaf.path = path;
  leaf.name = dotted_path(path);
  if (leaf.name.empty()) leaf.name = "output";
  to.leaves.push_back(std::move(leaf));
  to.values.push_back(output_value(value));
}

}  // namespace

int run_script(const ScriptRun& options, const CommonOptions& common) {
  const auto start = std::chrono::steady_clock::now();
  const std::string& file = options.source.path;
  const script::ScriptModule module = open_script(options.source, common, true, options.operators);
  module.manual_seed(options.seed);
  const auto loaded = std::chrono::steady_clock::now();
  ScriptArguments arguments = script_arguments(options.inputs, options.seed);
  const auto begun = std::chrono::steady_clock::now();
  const IValue result = with_model(file, [&] {
    // "layer1.0.forward" is a method of a module inside.
    const size_t dot = options.method.rfind('.');
    const std::string part = dot == std::string::npos ? "" : options.method.substr(0, dot);
    const std::string name = dot == std::string::npos ? options.method : options.method.substr(dot + 1);
    return module.submodule(part).run_method(name, std::move(arguments.positional), arguments.keywords,
                                             script_run_options());
  });
  const auto finished = std::chrono::steady_clock::now();
  ScriptOutputs outputs;
  collect(result, "output", 0, outputs);
  json::Array written;
  if (!options.output.empty()) written = save_outputs(options.output, outputs.leaves, outputs.values);
  std::vector<OutputCheck> checks;
  if (!options.check_against.empty())
    checks = check_outputs(options.check_against, outputs.leaves, outputs.values, options.tolerances);

  // The results themselves may be on standard output.
  const bool is_streamed = is_standard_output(options.output);
  ThreadPool pool(common.threads);
  if (common.json && !is_streamed) {
    json::Value value;
    value.set("file", file);
    value.set("method", options.method);
    value.set("load_ms", milliseconds(loaded - start));
    value.set("run_ms", milliseconds(finished - begun));
    value.set("result", script::to_text(result));
    value.set("outputs", outputs_json(outputs.leaves, outputs.values, written, pool));
    if (!options.check_against.empty()) value.set("check", checks_json(checks));
    print_json(value);
  } else if (!is_streamed) {
    if (!common.quiet) {
      fmt::print("{}: loaded in {}, {} ran in {}\n", styled(printable(file, 400), Style::kBold),
                 duration_text(loaded - start), printable(options.method), duration_text(finished - begun));
      print_outputs(outputs.leaves, outputs.values, pool);
      if (!written.empty()) {
        fmt::print("\nwritten to {}: {}\n", printable(options.output, 400),
                   counted(written.size(), "output"));
      }
    }
    if (!checks.empty()) print_checks(checks, options.check_against, common.quiet);
  }
  return has_difference(checks) ? kExitFound : kExitOk;
}

}  // namespace flambeau::cli
