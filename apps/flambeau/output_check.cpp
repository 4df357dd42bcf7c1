#include "output_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>

#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/tensor.h"
#include "model_inputs.h"

namespace flambeau::cli {
namespace {

using NamedTensorPairs = std::vector<std::pair<std::string, Tensor>>;

// What outputs are compared with.
struct Reference {
  NamedTensorPairs tensors;
  std::vector<std::pair<std::string, std::string>> values;  // of outputs that are no tensors, as text
};

Reference read_folder(const std::string& path) {
  const std::string index = path + "/" + kOutputIndex;
  return with_location("file", index, [&] {
    const auto mapping = Mapping::open(index);
    const ByteSpan bytes = mapping->bytes();
    const json::Value document = json::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    Reference reference;
    const json::Value* const outputs = document.find("outputs");
    if (outputs == nullptr) throw Error(ErrorCode::kCorrupt, "there is no list of outputs");
    for (const json::Value& output : outputs->as_array()) {
      const json::Value* const name = output.find("path");
      const json::Value* const file = output.find("file");
      const json::Value* const value = output.find("value");
      if (name == nullptr) throw Error(ErrorCode::kCorrupt, "an output has no path");
      if (file != nullptr) {
        // The index may come from elsewhere: it names files beside itself, no others.
        if (file->as_string().find('/') != std::string::npos)
          throw Error(ErrorCode::kUnsafe,
                      fmt::format("'{}' leads out of the folder", printable(file->as_string())));
        NamedTensorPairs tensors = tensors_of_file(path + "/" + file->as_string());
        if (tensors.size() != 1) throw Error(ErrorCode::kCorrupt, "a file of an output has not one tensor");
        reference.tensors.emplace_back(name->as_string(), std::move(tensors[0].second));
      } else if (value != nullptr) {
        reference.values.emplace_back(name->as_string(), value->as_string());
      }
    }
    return reference;
  });
}

// The tensor for an output: by its name or place, else the one in the same place of a file with as many.
const Tensor* find_tensor(const NamedTensorPairs& tensors, const Leaf& leaf, size_t index, size_t count) {
  for (const std::string& name : {leaf.path, dotted_path(leaf.path), leaf.name}) {
    for (const auto& [key, tensor] : tensors) {
      if (!name.empty() && key == name) return &tensor;
    }
  }
  return tensors.size() == count ? &tensors[index].second : nullptr;
}

template <typename T>
void compare_values(const Tensor& actual, const Tensor& expected, DType common, OutputCheck& check) {
  const Tensor a = convert(actual, common).to_contiguous();
  const Tensor b = convert(expected, common).to_contiguous();
  const T* const x = a.data<T>();
  const T* const y = b.data<T>();
  for (int64_t i = 0; i < check.elements; ++i) {
    if (x[i] == y[i]) continue;  // infinities too
    const bool both_nan = x[i] != x[i] && y[i] != y[i];
    if (both_nan) continue;
    const double difference = std::abs(x[i] - y[i]);
    const double size = std::abs(y[i]);
    const bool is_close = std::isfinite(difference) &&
                          difference <= check.tolerances.absolute + check.tolerances.relative * size;
    if (!is_close) ++check.differing;
    const double seen = std::isnan(difference) ? INFINITY : difference;
    check.max_absolute = std::max(check.max_absolute, seen);
    if (size > 0) check.max_relative = std::max(check.max_relative, seen / size);
  }
}

void check_tensor(const Tensor& actual, const Tensor& expected, OutputCheck& check) {
  check.elements = actual.element_count();
  if (actual.dtype() != expected.dtype() || actual.sizes() != expected.sizes()) {
    check.problem = fmt::format("is {}, expected is {}", actual.summary(), expected.summary());
    return;
  }
  const DTypeInfo& info = dtype_info(actual.dtype());
  const bool is_plain = actual.layout() == Layout::kStrided && expected.layout() == Layout::kStrided;
  if (is_plain && info.is_complex) {
    compare_values<std::complex<double>>(actual, expected, DType::kComplex128, check);
  } else if (is_plain && can_convert(actual.dtype(), DType::kFloat64) &&
             (info.is_floating || check.tolerances.absolute > 0 || check.tolerances.relative > 0)) {
    compare_values<double>(actual, expected, DType::kFloat64, check);
  } else {
    const Difference difference = compare(actual, expected);
    check.differing = difference.differing;
    check.max_absolute = difference.max_abs;
    check.max_relative = difference.max_rel;
  }
  if (check.differing != 0) check.problem = fmt::format("{} of {} differ", check.differing, check.elements);
}

}  // namespace

std::string dotted_path(std::string_view path) {
  if (path.starts_with("output")) path.remove_prefix(6);
  std::string dotted;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '[' || path[i] == '.') {
      if (!dotted.empty()) dotted += '.';
    } else if (path[i] != ']' && path[i] != '\'') {
      dotted += path[i];
    }
  }
  return dotted;
}

Tolerances tolerances_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kComplex32:
      return {1e-3, 1e-5};
    case DType::kBFloat16:
      return {1.6e-2, 1e-5};
    case DType::kFloat32:
    case DType::kComplex64:
      return {1.3e-6, 1e-5};
    case DType::kFloat64:
    case DType::kComplex128:
      return {1e-7, 1e-7};
    default:
      return {0, 0};
  }
}

std::vector<OutputCheck> check_outputs(const std::string& path, const std::vector<Leaf>& leaves,
                                       const std::vector<Value>& outputs, Tolerances wanted) {
  const Reference reference =
      std::filesystem::is_directory(path) ? read_folder(path) : Reference{tensors_of_file(path), {}};
  const auto count = static_cast<size_t>(
      std::ranges::count_if(outputs, [](const Value& value) { return value.is_tensor(); }));
  std::vector<OutputCheck> checks;
  size_t tensor_index = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    OutputCheck check;
    check.name = leaves[i].path;
    if (outputs[i].is_tensor() && outputs[i].tensor().defined()) {
      const Tensor* const expected = find_tensor(reference.tensors, leaves[i], tensor_index++, count);
      if (expected == nullptr) {
        std::vector<std::string> names;
        for (const auto& [name, tensor] : reference.tensors)
          names.push_back(fmt::format("'{}'", printable(name)));
        if (names.size() > 10) names.resize(10);
        throw Error(
            ErrorCode::kNotFound,
            fmt::format("has no tensor for {} ('{}'); there is {}", leaves[i].path, printable(leaves[i].name),
                        names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
            "name tensors as the outputs are, or give as many as there are outputs")
            .add_location("file", path);
      }
      const Tensor& actual = outputs[i].tensor();
      check.tolerances = tolerances_of(actual.dtype());
      if (wanted.relative >= 0) check.tolerances.relative = wanted.relative;
      if (wanted.absolute >= 0) check.tolerances.absolute = wanted.absolute;
      check_tensor(actual, *expected, check);
    } else {
      const std::string text = outputs[i].is_none() ? "None" : outputs[i].summary();
      const auto found =
          std::ranges::find(reference.values, leaves[i].path, &std::pair<std::string, std::string>::first);
      // Files of tensors say nothing of other values.
      if (found != reference.values.end() && found->second != text)
        check.problem = fmt::format("is {}, expected is {}", printable(text), printable(found->second));
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace flambeau::cli
