// flambeau run for TorchScript: arguments from the command line, results shown, written and compared.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <memory>

#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/made_inputs.h"
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

template <typename Number>
std::optional<Number> script_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// "ones:2x3", "zeros:2x3", "random:2x3" (float32).
std::optional<Tensor> made_tensor(std::string_view text, uint64_t seed) {
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  if (kind != "ones" && kind != "zeros" && kind != "random") return {};
  std::vector<int64_t> sizes;
  for (std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
       !rest.empty();) {
    const size_t cross = std::min(rest.find('x'), rest.size());
    const std::optional<int64_t> size = script_number<int64_t>(rest.substr(0, cross));
    if (!size || *size < 0) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' has no sizes", printable(text)),
                  "write random:8x128");
    }
    sizes.push_back(*size);
    rest.remove_prefix(std::min(cross + 1, rest.size()));
  }
  Tensor tensor = Tensor::zeros(DType::kFloat32, sizes);
  if (kind == "zeros") return tensor;
  auto* values = tensor.mutable_data<float>();
  uint64_t state = seed * 2 + 1;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    values[i] = kind == "ones" ? 1.0F : static_cast<float>(state >> 40) / static_cast<float>(1 << 23) - 1.0F;
  }
  return tensor;
}

IValue script_argument(const std::string& text, uint64_t seed) {
  if (text == "None") return {};
  if (text == "True" || text == "False") return text == "True";
  if (const std::optional<int64_t> number = script_number<int64_t>(text)) return *number;
  if (const std::optional<double> number = script_number<double>(text)) return *number;
  if (text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0]) {
    return text.substr(1, text.size() - 2);
  }
  if (std::optional<Tensor> tensor = made_tensor(text, seed)) return *std::move(tensor);
  const std::vector<std::pair<std::string, Tensor>> tensors = tensors_of_file(text);
  if (tensors.size() != 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' holds {}", printable(text), counted(tensors.size(), "tensor")),
                "give a file with one tensor, a number, 'text', or random:8x128");
  }
  return tensors[0].second;
}

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
      return item.is(IValue::Tag::kTensor) || item.is(IValue::Tag::kTuple) || item.is(IValue::Tag::kList);
    };
    if (value.is(IValue::Tag::kTuple) || std::ranges::any_of(value.items(), has_parts)) {
      for (size_t i = 0; i < value.items().size(); ++i)
        collect(value.items()[i], fmt::format("{}[{}]", path, i), depth + 1, to);
      return;
    }
  }
  Leaf leaf;
  leaf.path = path;
  leaf.name = dotted_path(path);
  if (leaf.name.empty()) leaf.name = "output";
  to.leaves.push_back(std::move(leaf));
  to.values.push_back(output_value(value));
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

}  // namespace

ScriptArguments read_script_arguments(const std::vector<std::string>& inputs, uint64_t seed) {
  ScriptArguments given;
  for (const std::string& input : inputs) {
    const size_t equals = input.find('=');
    const bool is_named = equals != std::string::npos && is_word(std::string_view(input).substr(0, equals));
    IValue value = script_argument(is_named ? input.substr(equals + 1) : input, seed);
    if (is_named) {
      given.keywords.emplace_back(input.substr(0, equals), std::move(value));
    } else {
      given.positional.push_back(std::move(value));
    }
  }
  return given;
}

int run_script(const ScriptRun& options, const CommonOptions& common) {
  const auto start = std::chrono::steady_clock::now();
  const script::ScriptModule module = open_script(options.file, common, true);
  const auto loaded = std::chrono::steady_clock::now();
  ScriptArguments given = read_script_arguments(options.inputs, options.seed);
  script::ScriptRunOptions how;
  how.print = [&](std::string_view line) { std::fwrite(line.data(), 1, line.size(), stderr); };
  how.warn = [&](const std::string& text) { print_to_stderr("warning: {}\n", printable(text, 2000)); };
  const auto begun = std::chrono::steady_clock::now();
  const IValue result = with_model(options.file, [&] {
    return module.run_method(options.method, std::move(given.positional), given.keywords, how);
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
    value.set("file", options.file);
    value.set("method", options.method);
    value.set("load_ms", milliseconds(loaded - start));
    value.set("run_ms", milliseconds(finished - begun));
    value.set("result", script::to_text(result));
    value.set("outputs", outputs_json(outputs.leaves, outputs.values, written, pool));
    if (!options.check_against.empty()) value.set("check", checks_json(checks));
    print_json(value);
  } else if (!is_streamed) {
    if (!common.quiet) {
      fmt::print("{}: loaded in {}, {} ran in {}\n", styled(printable(options.file, 400), Style::kBold),
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
