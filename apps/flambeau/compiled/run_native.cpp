#include "compiled/run_native.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "flambeau/aot.h"
#include "flambeau/error.h"
#include "model_inputs.h"
#include "output_stream.h"
#include "outputs/run_outputs.h"
#include "profile_table.h"
#include "reports.h"
#include "script/script_files.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<Tensor> gather(const aot::NativeModel& model, const NativeRun& options) {
  const ScriptArguments given = script_arguments(options.inputs, options.seed);
  const std::vector<std::string>& names = model.input_names();
  std::vector<Tensor> tensors(names.size());
  const auto put = [&](size_t index, const script::IValue& value, const std::string& name) {
    if (index >= tensors.size() || !value.is(script::IValue::Tag::kTensor)) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' is no tensor that the model takes; it takes {}: {}", printable(name),
                              counted(names.size(), "tensor"), fmt::join(names, ", ")));
    }
    tensors[index] = value.as_tensor();
  };
  for (size_t i = 0; i < given.positional.size(); ++i) put(i, given.positional[i], std::to_string(i));
  for (const auto& [name, value] : given.keywords)
    put(static_cast<size_t>(std::ranges::find(names, name) - names.begin()), value, name);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].defined()) continue;
    throw Error(ErrorCode::kInvalidArgument, fmt::format("the input {} is not given", printable(names[i])),
                fmt::format("-i {}=random:2x3, or a file; the model takes {}", printable(names[i]),
                            fmt::join(names, ", ")));
  }
  return tensors;
}

}  // namespace

int run_native(const NativeRun& options, const CommonOptions& common) {
  const auto start = Clock::now();
  aot::NativeModel model =
      aot::load_native_package(options.file, {.model = options.model, .threads = common.threads});
  const auto loaded = Clock::now();
  const std::vector<Tensor> inputs = with_model(options.file, [&] { return gather(model, options); });
  const auto begun = Clock::now();
  const std::vector<Tensor> results = with_model(options.file, [&] { return model.run(inputs); });
  const auto finished = Clock::now();

  const std::vector<std::string> paths = leaf_paths(model.out_spec(), "output");
  std::vector<Leaf> leaves;
  std::vector<Value> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    Leaf leaf;
    leaf.path = i < paths.size() ? paths[i] : fmt::format("output[{}]", i);
    leaf.name = dotted_path(leaf.path);
    if (leaf.name.empty()) leaf.name = "output";
    leaves.push_back(std::move(leaf));
    outputs.push_back(results[i].defined() ? Value(results[i]) : Value());
  }
  json::Array written;
  if (!options.output.empty()) written = save_outputs(options.output, leaves, outputs);
  std::vector<OutputCheck> checks;
  if (!options.check_against.empty())
    checks = check_outputs(options.check_against, leaves, outputs, options.tolerances);
  ThreadPool pool(common.threads);
  const bool is_streamed = is_standard_output(options.output);
  if (common.json && !is_streamed) {
    json::Value value;
    value.set("file", options.file);
    value.set("load_ms", milliseconds(loaded - start));
    value.set("run_ms", milliseconds(finished - begun));
    value.set("outputs", outputs_json(leaves, outputs, written, pool));
    if (!options.check_against.empty()) value.set("check", checks_json(checks));
    print_json(value);
  } else if (!is_streamed) {
    if (!common.quiet) {
      fmt::print("{}: native code loaded in {}, ran in {}\n",
                 styled(printable(options.file, 400), Style::kBold), duration_text(loaded - start),
                 duration_text(finished - begun));
      print_outputs(leaves, outputs, pool);
      if (!written.empty())
        fmt::print("\nwritten to {}: {}\n", printable(options.output, 400),
                   counted(written.size(), "output"));
    }
    if (!checks.empty()) print_checks(checks, options.check_against, common.quiet);
  }
  return has_difference(checks) ? kExitFound : kExitOk;
}

}  // namespace flambeau::cli
