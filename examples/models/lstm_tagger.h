// A tagger: a bidirectional LSTM over embedded words, and the log-probabilities of a tag for each.
#pragma once

#include "flambeau/nn.h"

namespace models {

using flambeau::Tensor;
namespace nn = flambeau::nn;

class LstmTagger : public nn::Layer<LstmTagger> {
 public:
  LstmTagger(int64_t vocabulary, int64_t embedding, int64_t hidden, int64_t tags)
      : word_embeddings(vocabulary, embedding),
        lstm(embedding, hidden,
             {.num_layers = 2, .batch_first = true, .dropout = 0.2, .bidirectional = true}),
        dropout(0.1),
        hidden2tag(2 * hidden, tags) {
    add_module("word_embeddings", word_embeddings);
    add_module("lstm", lstm);
    add_module("dropout", dropout);
    add_module("hidden2tag", hidden2tag);
  }

  static constexpr std::array kArguments{"sentence"};
  Tensor forward(const Tensor& sentence) {
    const auto [output, state] = lstm(word_embeddings(sentence));
    return nn::log_softmax(hidden2tag(dropout(output)), -1);
  }

  nn::Embedding word_embeddings;
  nn::LSTM lstm;
  nn::Dropout dropout;
  nn::Linear hidden2tag;
};

}  // namespace models
