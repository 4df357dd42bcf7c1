#include "outputs/run_outputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <filesystem>
#include <set>

#include "command.h"
#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/report.h"
#include "flambeau/tensor.h"
#include "model_inputs.h"
#include "output_stream.h"
#include "reports.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

// The first elements in row-major order, as a contiguous tensor.
Tensor first_elements(const Tensor& tensor, int64_t most) {
  const int64_t count = std::min(most, tensor.element_count());
  Tensor result = Tensor::zeros(tensor.dtype(), Dims{count});
  const size_t bytes = tensor.element_size();
  for (int64_t i = 0; i < count; ++i) {
    int64_t left = i, at = 0;
    for (size_t d = tensor.dim(); d-- > 0;) {
      at += left % tensor.sizes()[d] * tensor.strides()[d];
      left /= tensor.sizes()[d];
    }
    std::memcpy(result.mutable_data() + static_cast<size_t>(i) * bytes,
                tensor.data() + static_cast<size_t>(at) * bytes, bytes);
  }
  return result;
}

bool has_plain_numbers(const Tensor& tensor) {
  return tensor.layout() == Layout::kStrided && !tensor.is_meta() &&
         can_convert(tensor.dtype(), DType::kFloat64);
}

// "0.25, -1, ..." with the digits that a person wants to see.
std::string values_text(const Tensor& tensor) {
  constexpr int64_t kMost = 6;
  if (!has_plain_numbers(tensor) || tensor.element_count() == 0) return {};
  const Tensor first = first_elements(tensor, kMost);
  const DTypeInfo& info = dtype_info(tensor.dtype());
  std::vector<std::string> texts;
  const auto add = [&]<typename T>(DType dtype, T, const char* format) {
    const Tensor numbers = convert(first, dtype);
    for (int64_t i = 0; i < numbers.element_count(); ++i)
      texts.push_back(fmt::format(fmt::runtime(format), numbers.data<T>()[i]));
  };
  if (tensor.dtype() == DType::kBool) {
    for (int64_t i = 0; i < first.element_count(); ++i)
      texts.emplace_back(first.data()[i] != 0 ? "True" : "False");
  } else if (info.is_complex) {
    const Tensor numbers = convert(first, DType::kComplex128);
    for (int64_t i = 0; i < numbers.element_count(); ++i) {
      const std::complex<double> number = numbers.data<std::complex<double>>()[i];
      texts.push_back(fmt::format("{:.4g}{:+.4g}j", number.real(), number.imag()));
    }
  } else if (info.is_floating) {
    add(DType::kFloat64, double{}, "{:.4g}");
  } else if (tensor.dtype() == DType::kUInt64) {
    add(DType::kUInt64, uint64_t{}, "{}");
  } else {
    add(DType::kInt64, int64_t{}, "{}");
  }
  if (tensor.element_count() > kMost) texts.emplace_back("...");
  return fmt::format("{}", fmt::join(texts, ", "));
}

json::Array values_json(const Tensor& tensor) {
  json::Array array;
  if (!has_plain_numbers(tensor) || dtype_info(tensor.dtype()).is_complex || tensor.element_count() == 0)
    return array;
  const Tensor numbers = convert(first_elements(tensor, 8), DType::kFloat64);
  for (int64_t i = 0; i < numbers.element_count(); ++i) array.emplace_back(numbers.data<double>()[i]);
  return array;
}

json::Array shape_json(const Tensor& tensor) {
  json::Array shape;
  for (const int64_t size : tensor.sizes()) shape.emplace_back(size);
  return shape;
}

// A name that is a file's: "output.logits.0".
std::string file_stem(const Leaf& leaf, std::set<std::string>& used) {
  const std::string dotted = dotted_path(leaf.path);
  std::string stem = "output";
  if (!dotted.empty()) stem += ".";
  for (const char c : dotted.substr(0, 100)) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          c == '.' || c == '_' || c == '-';
    stem += is_plain ? c : '_';
  }
  std::string name = stem;
  for (int number = 2; !used.insert(name).second; ++number) name = fmt::format("{}-{}", stem, number);
  return name;
}

// NumPy has no bfloat16 and no float8: those go to safetensors.
std::string write_tensor(const std::string& folder, const std::string& stem, const Tensor& tensor) {
  const Tensor packed = tensor.to_contiguous();
  std::string name = stem + ".npy";
  try {
    AtomicFile file(folder + "/" + name, FileApi::system(), Durability::kCached);
    write_npy(file, packed);
    file.commit();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) throw;
    name = stem + ".safetensors";
    NamedTensors one;
    one.push_back({"output", packed});
    save_checkpoint(Checkpoint::from_tensors(std::move(one)), folder + "/" + name, FileKind::kSafetensors);
  }
  return name;
}

// The files of the outputs, and the list of them; gives that list.
json::Array write_outputs(const std::string& folder, const std::vector<Leaf>& leaves,
                          const std::vector<Value>& outputs) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    throw Error(ErrorCode::kIo, fmt::format("the folder cannot be made: {}", failure.message()))
        .add_location("file", folder);
  }
  std::set<std::string> used;
  json::Array entries;
  for (size_t i = 0; i < outputs.size(); ++i) {
    json::Value entry = leaf_json(leaves[i], outputs[i]);
    if (outputs[i].is_tensor() && outputs[i].tensor().defined())
      entry.set("file", write_tensor(folder, file_stem(leaves[i], used), outputs[i].tensor()));
    entries.push_back(std::move(entry));
  }
  json::Value index;
  index.set("outputs", entries);
  AtomicFile file(folder + "/" + kOutputIndex, FileApi::system(), Durability::kCached);
  file.write_text(json::dump(index, 2) + "\n");
  file.commit();
  return entries;
}

// A file for what can stand in one: tensors by their names.
NamedTensors output_tensors(const std::vector<Leaf>& leaves, const std::vector<Value>& outputs) {
  NamedTensors tensors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].is_tensor() || !outputs[i].tensor().defined()) continue;
    const std::string name = dotted_path(leaves[i].path);
    tensors.push_back({name.empty() ? "output" : name, outputs[i].tensor().to_contiguous()});
  }
  return tensors;
}

// "-" takes an array too, for the next program in a pipe.
bool is_array_file(const std::string& path) { return path.ends_with(".npy") || is_standard_output(path); }

void write_array(const std::string& path, const NamedTensors& tensors) {
  if (tensors.size() != 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("an .npy file holds one array, the program gives {} tensors", tensors.size()),
                "name a folder, or a file ending in .npz, .safetensors or .pt")
        .add_location("file", path);
  }
  OutputStream out(path, Durability::kCached);
  with_location("output", tensors[0].name, [&] { write_npy(out, tensors[0].tensor); });
  out.commit();
}

}  // namespace

std::string value_text(const Value& value) { return value.is_none() ? "None" : value.summary(); }

json::Value leaf_json(const Leaf& leaf, const Value& value) {
  json::Value entry;
  entry.set("name", leaf.name);
  entry.set("path", leaf.path);
  if (value.is_tensor() && value.tensor().defined()) {
    entry.set("dtype", dtype_name(value.tensor().dtype()));
    entry.set("shape", shape_json(value.tensor()));
  } else {
    entry.set("value", value_text(value));
  }
  return entry;
}

void print_outputs(const std::vector<Leaf>& leaves, const std::vector<Value>& outputs, ThreadPool& pool) {
  Table table({"output", "type", "shape", "min", "max", "mean", "nan", "values"});
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<std::string> cells = {printable(leaves[i].path)};
    if (outputs[i].is_tensor() && outputs[i].tensor().defined()) {
      const Tensor& tensor = outputs[i].tensor();
      cells.emplace_back(dtype_name(tensor.dtype()));
      cells.push_back(Value(tensor.sizes()).summary());
      for (std::string& cell : statistics_cells(tensor, pool)) cells.push_back(std::move(cell));
      cells.push_back(values_text(tensor));
    } else {
      cells.emplace_back(outputs[i].is_none() ? "None" : outputs[i].kind_name());
      for (int column = 0; column < 5; ++column) cells.emplace_back("-");
      cells.push_back(outputs[i].is_none() ? "" : printable(value_text(outputs[i])));
    }
    table.add(std::move(cells));
  }
  if (!table.empty()) table.print(2);
}

json::Array save_outputs(const std::string& path, const std::vector<Leaf>& leaves,
                         const std::vector<Value>& outputs) {
  const std::optional<FileKind> format = weight_format_for(path);
  if (!is_array_file(path) && !format) return write_outputs(path, leaves, outputs);
  NamedTensors tensors = output_tensors(leaves, outputs);
  if (format) {
    save_checkpoint(Checkpoint::from_tensors(std::move(tensors)), path, *format);
  } else {
    write_array(path, tensors);
  }
  json::Array entries;
  for (size_t i = 0; i < outputs.size(); ++i) {
    json::Value entry = leaf_json(leaves[i], outputs[i]);
    if (outputs[i].is_tensor() && outputs[i].tensor().defined()) entry.set("file", path);
    entries.push_back(std::move(entry));
  }
  return entries;
}

json::Value checks_json(const std::vector<OutputCheck>& checks) {
  json::Array array;
  bool is_equal = true;
  for (const OutputCheck& check : checks) {
    json::Value entry;
    entry.set("path", check.name);
    entry.set("equal", check.problem.empty());
    if (!check.problem.empty()) entry.set("problem", check.problem);
    entry.set("elements", check.elements);
    entry.set("differing", check.differing);
    entry.set("max_abs", check.max_absolute);
    entry.set("max_rel", check.max_relative);
    entry.set("rtol", check.tolerances.relative);
    entry.set("atol", check.tolerances.absolute);
    array.push_back(std::move(entry));
    is_equal = is_equal && check.problem.empty();
  }
  json::Value value;
  value.set("equal", is_equal);
  value.set("outputs", std::move(array));
  return value;
}

void print_checks(const std::vector<OutputCheck>& checks, const std::string& path, bool problems_only) {
  size_t different = 0;
  for (const OutputCheck& check : checks) different += check.problem.empty() ? 0 : 1;
  if (problems_only && different == 0) return;
  fmt::print("\n{}\n", styled(fmt::format("compared with {}", printable(path, 400)), Style::kBold));
  Table table({"output", "", "largest difference", "relative", "allowed", ""});
  for (const OutputCheck& check : checks) {
    if (problems_only && check.problem.empty()) continue;
    table.add({printable(check.name),
               check.problem.empty() ? styled("equal", Style::kGreen) : styled("different", Style::kRed),
               fmt::format("{:.3g}", check.max_absolute), fmt::format("{:.3g}", check.max_relative),
               fmt::format("{:g} + {:g} * |expected|", check.tolerances.absolute, check.tolerances.relative),
               check.problem});
  }
  table.print(2);
  fmt::print("  {} equal, {} different\n", counted(checks.size() - different, "output"), different);
}

json::Array outputs_json(const std::vector<Leaf>& leaves, const std::vector<Value>& outputs,
                         const json::Array& written, ThreadPool& pool) {
  json::Array results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    json::Value entry = written.empty() ? leaf_json(leaves[i], outputs[i]) : written[i];
    if (outputs[i].is_tensor() && outputs[i].tensor().defined()) {
      entry.set("statistics", report::of_statistics(outputs[i].tensor(), pool));
      entry.set("values", values_json(outputs[i].tensor()));
    }
    results.push_back(std::move(entry));
  }
  return results;
}

bool has_difference(const std::vector<OutputCheck>& checks) {
  return std::any_of(checks.begin(), checks.end(),
                     [](const OutputCheck& check) { return !check.problem.empty(); });
}

}  // namespace flambeau::cli
