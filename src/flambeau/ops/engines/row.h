// The innermost loop of elementwise work: a function over packed arrays. A header without dependencies, as
// loops for each level of the instruction set include it.
#pragma once

#include <cstddef>

namespace flambeau::ops {

// `count` elements of each input to each output, all packed. Outputs may be the inputs' memory.
using Row = void (*)(const void* const* inputs, void* const* outputs, size_t count, const void* parameters);

// A row, and forms of it for an input of which one element stands for all: where there is such a form, the
// element need not be repeated into an array.
struct Rows {
  Rows(Row of_arrays) : plain(of_arrays) {}  // NOLINT(google-explicit-constructor): most have one form
  Rows(Row of_arrays, Row first_one, Row second_one)
      : plain(of_arrays), first_is_one(first_one), second_is_one(second_one) {}
  Row plain;
  Row first_is_one = nullptr;
  Row second_is_one = nullptr;
};

}  // namespace flambeau::ops
