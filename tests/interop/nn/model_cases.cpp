// The models of examples/models/, and small ones with a shape that layers alone do not have.
#include "cases.h"
#include "models/bert.h"
#include "models/gpt2.h"
#include "models/llama.h"
#include "models/lstm_tagger.h"
#include "models/resnet.h"
#include "models/unet.h"

namespace flambeau::nn_cases {
namespace {

// One linear layer in two places, a tied weight, and a buffer that is not saved.
class Tied : public nn::Layer<Tied> {
 public:
  Tied() : encoder(6, 6), decoder(6, 6, false), offset(nn::ones({6})) {
    add_module("encoder", encoder);
    decoder.weight = encoder.weight;
    add_module("decoder", decoder);
    add_module("again", encoder);
    add_buffer("offset", offset, /*persistent=*/false);
  }
  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    const Tensor y = decoder(nn::relu(encoder(x)));
    return encoder(y) + offset;
  }
  nn::Linear encoder, decoder;
  Tensor offset;
};

// Containers in and out: a dict, a list and a tuple.
class Nested : public nn::Layer<Nested> {
 public:
  Nested() : linear(4, 4) { add_module("linear", linear); }
  static constexpr std::array kArguments{"batch", "pair", "scale"};
  std::map<std::string, Tensor> forward(const std::map<std::string, std::vector<Tensor>>& batch,
                                        const std::pair<Tensor, std::optional<Tensor>>& pair, double scale) {
    Tensor x = linear(batch.at("a").at(0));
    x = x + batch.at("a").at(1);
    x = x * pair.first;
    if (pair.second) x = x - *pair.second;
    return {{"scaled", x * scale}, {"x", x}};
  }
  nn::Linear linear;
};

}  // namespace

std::span<const Case> model_cases() {
  static const std::vector<Case> kCases = {
      {"resnet18", [] { return std::make_shared<models::ResNet>(10); }},
      {"bert", [] { return std::make_shared<models::Bert>(); }},
      {"gpt2", [] { return std::make_shared<models::Gpt2>(); }},
      {"lstm_tagger", [] { return std::make_shared<models::LstmTagger>(50, 12, 10, 7); }},
      {"unet", [] { return std::make_shared<models::UNet>(3, 2); }},
      {"llama", [] { return std::make_shared<models::Llama>(); }},
      {"tied", [] { return std::make_shared<Tied>(); }},
      {"nested", [] { return std::make_shared<Nested>(); }},
  };
  return kCases;
}

}  // namespace flambeau::nn_cases
