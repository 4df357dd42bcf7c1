// The weights of a model as PyTorch's interface knows them: a numbered list, each with a name of letters and
// digits and the one that the model's author gave.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flambeau/graph/program.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau::aot {

// By PyTorch's numbers.
enum class ConstantKind : int32_t { kUnknown = 0, kParameter = 1, kBuffer = 2, kTensorConstant = 3 };

struct Constant {
  std::string name;      // "layer1_weight"
  std::string original;  // "layer1.weight"
  ConstantKind kind = ConstantKind::kUnknown;
  DType dtype = DType::kFloat32;
  Dims sizes;
  Dims strides;
  uint64_t bytes = 0;   // of its elements
  uint64_t offset = 0;  // where it begins in a file of all of them
};

class Constants {
 public:
  explicit Constants(const graph::ExportedProgram& program);

  const std::vector<Constant>& all() const { return all_; }
  // Throws Error(kInvalidArgument).
  const Constant& at(size_t index) const;
  // By either name; all_.size() when there is none.
  size_t find(std::string_view name) const;
  // Of a file of all of them, each at a multiple of 64 bytes.
  uint64_t blob_bytes() const { return blob_bytes_; }

 private:
  std::vector<Constant> all_;
  std::unordered_map<std::string, size_t> places_;
  uint64_t blob_bytes_ = 0;
};

// Sets what the program has of that name.
void set_weight(graph::ExportedProgram& program, std::string_view name, const Tensor& tensor);
// The values in memory of our own, laid out as the constant is. Throws Error(kInvalidArgument) where they do
// not fit.
Tensor fitted(const Constant& constant, const Tensor& values);
void require_fit(const Constant& constant, const Tensor& values);

}  // namespace flambeau::aot
