// For the tests of torch.save files: golden files, files made by hand, and tensors as lines of text.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flambeau/archive/pickle/writer.h"
#include "flambeau/archive/zip/writer.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/checkpoint.h"
#include "support/temporary_folder.h"

namespace flambeau::testing {

inline std::string golden_file(std::string_view name) {
  return std::string(FLAMBEAU_GOLDEN_DIR "/state_dict/") + std::string(name);
}

// "corrupt: file: ...: message (remedy)", of the Error that `body` throws.
template <typename Body>
std::string error_text(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return std::string(error_code_name(error.code())) + ": " + error.what();
  }
  return "no error";
}

inline std::string hex(ByteSpan bytes) {
  std::string text;
  for (const uint8_t byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

// The elements of a small tensor, in packed order.
template <typename T>
std::vector<T> values_of(const Tensor& tensor) {
  const Tensor packed = tensor.to_contiguous();
  const ByteSpan bytes = packed.contiguous_bytes();
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Tensors as generate_state_dict.py writes them: one line each, and one for every part.
class TensorLines {
 public:
  static std::vector<std::string> of(const Checkpoint& checkpoint) {
    TensorLines lines;
    for (const CheckpointTensor& entry : checkpoint.tensors()) {
      constexpr std::string_view kRoles[] = {"tensor", "parameter", "storage", "numpy"};
      lines.add(entry.name, kRoles[static_cast<size_t>(entry.role)], entry.tensor);
    }
    return std::move(lines.lines_);
  }

 private:
  static std::string list(const Dims& dims) {
    std::string text = "[";
    for (const int64_t value : dims) text += (text.size() > 1 ? "," : "") + std::to_string(value);
    return text + "]";
  }

  void add(const std::string& name, std::string_view role, const Tensor& tensor) {
    const SparseParts* parts = tensor.sparse_parts();
    std::string line = name;
    const auto field = [&](std::string_view text) { (line += '\t') += text; };
    field(role);
    field(dtype_name(tensor.dtype()));
    field(layout_name(tensor.layout()));
    field(tensor.device().to_string());
    field(tensor.requires_grad() ? "True" : "False");
    field(list(tensor.sizes()));
    if (parts != nullptr) {
      line += "\t-\t-\t-\t-\t-";
      if (tensor.layout() == Layout::kSparseCoo) field(parts->is_coalesced ? "coalesced" : "uncoalesced");
      lines_.push_back(line);
      if (parts->indices.defined()) add(name + "#indices", "part", parts->indices);
      if (parts->compressed_indices.defined()) add(name + "#compressed", "part", parts->compressed_indices);
      if (parts->plain_indices.defined()) add(name + "#plain", "part", parts->plain_indices);
      return add(name + "#values", "part", parts->values);
    }
    field(list(tensor.strides()));
    field(std::to_string(tensor.offset()));
    const size_t next = storages_.size();
    field(std::to_string(storages_.try_emplace(tensor.storage().get(), next).first->second));
    field(std::to_string(tensor.storage()->size()));
    field(tensor.is_meta() ? "-" : hex(tensor.to_contiguous().contiguous_bytes()));
    const Quantizer* quantizer = tensor.quantizer();
    if (quantizer != nullptr) field(scheme_name(quantizer->scheme));
    if (quantizer != nullptr && !quantizer->is_per_channel()) {
      char scale[40];
      std::snprintf(scale, sizeof scale, " %.13a ", quantizer->scale);
      line += scale + std::to_string(quantizer->zero_point);
    } else if (quantizer != nullptr) {
      line += " axis " + std::to_string(quantizer->axis);
    }
    lines_.push_back(line);
    if (quantizer == nullptr || !quantizer->is_per_channel()) return;
    add(name + "#scales", "part", quantizer->scales);
    add(name + "#zero_points", "part", quantizer->zero_points);
  }

  std::vector<std::string> lines_;
  std::unordered_map<const Storage*, size_t> storages_;
};

// Builds a torch.save file whose pickle says whatever a test wants.
class TorchFileBuilder {
 public:
  pickle::Tree tree;

  pickle::Node* ints(std::initializer_list<int64_t> values) {
    std::vector<pickle::Node*> items;
    for (const int64_t value : values) items.push_back(tree.integer(value));
    return tree.tuple(items);
  }
  pickle::Node* storage_id(std::string_view type, std::string_view key, int64_t count,
                           std::string_view location = "cpu") {
    return tree.persistent(tree.tuple({tree.string("storage"), tree.global("torch", type), tree.string(key),
                                       tree.string(location), tree.integer(count)}));
  }
  pickle::Node* utils(std::string_view function, std::initializer_list<pickle::Node*> args) {
    return tree.call(tree.global("torch._utils", function), tree.tuple(args));
  }
  pickle::Node* hooks() { return tree.call(tree.global("collections", "OrderedDict"), tree.tuple()); }
  pickle::Node* tensor_v2(pickle::Node* storage, int64_t offset, std::initializer_list<int64_t> sizes,
                          std::initializer_list<int64_t> strides) {
    return utils("_rebuild_tensor_v2",
                 {storage, tree.integer(offset), ints(sizes), ints(strides), tree.boolean(false), hooks()});
  }
  // float32[2, 3] over the record "data/0" of 24 bytes.
  pickle::Node* plain_tensor() { return tensor_v2(storage_id("FloatStorage", "0", 6), 0, {2, 3}, {3, 1}); }

  void record(std::string name, std::string data) { records_.emplace_back(std::move(name), std::move(data)); }

  // {"x": value} as the file's object.
  std::shared_ptr<Mapping> with_x(pickle::Node* value) {
    tree.set_root(tree.dict({{tree.string("x"), value}}));
    return finish();
  }
  std::shared_ptr<Mapping> finish() { return with_pickle(pickle::write_python(*tree.root())); }
  std::shared_ptr<Mapping> with_pickle(std::string_view pickle) {
    MemorySink sink;
    zip::Writer writer(sink, {});
    writer.add_text("data.pkl", pickle);
    for (const auto& [name, data] : records_) writer.add_text(name, data);
    writer.add_text("version", "3\n");
    writer.finish();
    return Mapping::from_buffer(sink.take());
  }

 private:
  std::vector<std::pair<std::string, std::string>> records_;
};

}  // namespace flambeau::testing
