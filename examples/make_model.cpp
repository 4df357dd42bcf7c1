// Writes a small state dict that torch.load opens: the shortest useful program with Flambeau.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "flambeau/flambeau.h"

namespace {

// A float32 tensor whose values are a smooth function of their place.
flambeau::Tensor make_weight(std::initializer_list<int64_t> sizes, float phase) {
  flambeau::Tensor tensor = flambeau::Tensor::zeros(flambeau::DType::kFloat32, flambeau::Dims(sizes));
  const flambeau::MutableByteSpan bytes = tensor.mutable_contiguous_bytes();
  for (size_t i = 0; i < static_cast<size_t>(tensor.element_count()); ++i) {
    const float value = std::sin(phase + 0.1F * static_cast<float>(i));
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return tensor;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_model OUT.pt\n", stderr);
    return 2;
  }
  try {
    flambeau::NamedTensors weights;
    weights.push_back({"embedding.weight", make_weight({64, 16}, 0)});
    weights.push_back({"encoder.weight", make_weight({32, 16}, 1)});
    weights.push_back({"encoder.bias", make_weight({32}, 2)});
    weights.push_back({"decoder.weight", weights[0].tensor});  // tied: both names share one storage
    weights.push_back({"step", flambeau::Tensor::zeros(flambeau::DType::kInt64, flambeau::Dims())});
    flambeau::save_checkpoint(flambeau::Checkpoint::from_tensors(std::move(weights)), argv[1],
                              flambeau::FileKind::kTorchSave);
  } catch (const flambeau::Error& error) {
    std::fprintf(stderr, "make_model: %s\n", error.what());
    return 1;
  }
  return 0;
}
