// A program of a user, built against an installed Flambeau: saves weights and opens them again.
#include <flambeau/flambeau.h>

#include <cstdio>

int main() {
  try {
    flambeau::NamedTensors weights;
    weights.push_back({"weight", flambeau::Tensor::zeros(flambeau::DType::kFloat32, flambeau::Dims{2, 3})});
    flambeau::save_checkpoint(flambeau::Checkpoint::from_tensors(weights), "consumer.pt",
                              flambeau::FileKind::kTorchSave);
    const flambeau::Checkpoint loaded = flambeau::load_checkpoint(std::string("consumer.pt"));
    std::puts(loaded.find("weight")->summary().c_str());
    return 0;
  } catch (const flambeau::Error& error) {
    std::puts(error.what());
    return 1;
  }
}
