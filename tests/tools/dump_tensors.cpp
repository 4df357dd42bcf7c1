// Prints every tensor of a file with all its bits, as JSON: how the interop tests see what Flambeau read.
#include <fmt/format.h>

#include <cstdio>
#include <unordered_map>

#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/json.h"
#include "flambeau/tensor.h"

namespace {

using namespace flambeau;  // NOLINT: a test program

std::unordered_map<const Storage*, int> storage_numbers;

json::Value numbers(std::span<const int64_t> values) {
  json::Array array;
  for (const int64_t value : values) array.emplace_back(value);
  return array;
}

json::Value describe(const Tensor& tensor) {
  json::Value value;
  value.set("dtype", dtype_name(tensor.dtype()));
  value.set("layout", layout_name(tensor.layout()));
  value.set("device", tensor.device().to_string());
  value.set("requires_grad", tensor.requires_grad());
  value.set("shape", numbers(tensor.sizes()));
  if (const SparseParts* parts = tensor.sparse_parts()) {
    value.set("coalesced", parts->is_coalesced);
    if (parts->indices.defined()) value.set("indices", describe(parts->indices));
    if (parts->compressed_indices.defined())
      value.set("compressed_indices", describe(parts->compressed_indices));
    if (parts->plain_indices.defined()) value.set("plain_indices", describe(parts->plain_indices));
    value.set("values", describe(parts->values));
    return value;
  }
  value.set("strides", numbers(tensor.strides()));
  value.set("offset", tensor.offset());
  value.set("storage",
            storage_numbers.try_emplace(tensor.storage().get(), storage_numbers.size()).first->second);
  value.set("storage_bytes", static_cast<uint64_t>(tensor.storage()->size()));
  if (!tensor.is_meta()) {
    std::string hex;
    const Tensor contiguous = tensor.to_contiguous();
    for (const uint8_t byte : contiguous.contiguous_bytes()) hex += fmt::format("{:02x}", byte);
    value.set("data", hex);
  }
  if (const Quantizer* quantizer = tensor.quantizer()) {
    value.set("scheme", scheme_name(quantizer->scheme));
    if (quantizer->is_per_channel()) {
      value.set("scales", describe(quantizer->scales));
      value.set("zero_points", describe(quantizer->zero_points));
      value.set("axis", quantizer->axis);
    } else {
      value.set("scale", quantizer->scale);
      value.set("zero_point", quantizer->zero_point);
    }
  }
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: dump_tensors FILE\n", stderr);
    return 2;
  }
  try {
    const Checkpoint checkpoint = load_checkpoint(std::string(argv[1]));
    json::Array tensors;
    for (const CheckpointTensor& entry : checkpoint.tensors()) {
      json::Value value = describe(entry.tensor);
      value.set("name", entry.name);
      value.set("parameter", entry.role == TensorRole::kParameter);
      tensors.push_back(std::move(value));
    }
    std::puts(json::dump(json::Value(std::move(tensors))).c_str());
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
