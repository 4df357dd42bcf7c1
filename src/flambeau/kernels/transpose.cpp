#include "flambeau/kernels/transpose.h"

namespace flambeau::kernels {

void transpose(const uint8_t* from, int64_t column_step, uint8_t* to, int64_t row_step, size_t rows,
               size_t columns, size_t element_size) {
  static const auto best = FLAMBEAU_PICK(transpose);
  best(from, column_step, to, row_step, rows, columns, element_size);
}

void reverse(const uint8_t* from, uint8_t* to, size_t count, size_t element_size) {
  static const auto best = FLAMBEAU_PICK(reverse);
  best(from, to, count, element_size);
}

}  // namespace flambeau::kernels
