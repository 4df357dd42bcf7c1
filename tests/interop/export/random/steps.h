// What the makers of steps share.
#pragma once

#include <optional>
#include <string>

#include "builder.h"
#include "flambeau/nn.h"

namespace flambeau::random_modules {

// Of a function of the inputs alone that gives one tensor.
template <typename Function>
Run one(Function function) {
  return [function](Frame&, const TensorList& in) { return TensorList{function(in)}; };
}

using Made = std::optional<Proposal>;

// Of a value with so many dimensions.
inline std::optional<size_t> pick_ranked(Builder& b, size_t least, size_t most = 5) {
  return b.pick([&](size_t at) { return b.rank(at) >= least && b.rank(at) <= most; });
}

// Products, in steps_products.cpp.
Made make_product(Builder& b);
Made make_product_with_parameter(Builder& b);
Made make_attention(Builder& b);

// What sizes are used for, in steps_sizes.cpp.
Made make_created(Builder& b);
Made make_size_number(Builder& b);
Made make_table_rows(Builder& b);
Made make_counted(Builder& b);

}  // namespace flambeau::random_modules
