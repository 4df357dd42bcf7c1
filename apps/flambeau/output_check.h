// Whether a program's outputs are those in a file: flambeau run --check-against.
#pragma once

#include <string>
#include <vector>

#include "flambeau/json.h"
#include "flambeau/runtime.h"

namespace flambeau::cli {

// The file beside the tensors that `flambeau run --output` writes.
inline constexpr const char* kOutputIndex = "outputs.json";

// "['logits'][0]" of "output['logits'][0]" as state dicts name it: "logits.0". Empty for a single output.
std::string dotted_path(std::string_view path);

// PyTorch's tolerances for a type (torch.testing.assert_close): |a - b| <= absolute + relative * |b|.
struct Tolerances {
  double relative;
  double absolute;
};
Tolerances tolerances_of(DType dtype);

struct OutputCheck {
  std::string name;
  std::string problem;  // empty when it is the same
  int64_t elements = 0;
  int64_t differing = 0;  // beyond the tolerances
  double max_absolute = 0;
  double max_relative = 0;
  Tolerances tolerances{0, 0};
};

// `path` is .npy, .pt, .safetensors, .npz or a folder that --output wrote. Negative tolerances: those of the
// type. Throws Error(kNotFound) where the file has no tensor for an output.
std::vector<OutputCheck> check_outputs(const std::string& path, const std::vector<Leaf>& leaves,
                                       const std::vector<Value>& outputs, Tolerances wanted);

}  // namespace flambeau::cli
