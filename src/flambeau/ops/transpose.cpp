#include "flambeau/ops/transpose.h"

#include <algorithm>

#include "flambeau/ops/transpose_tiles.h"

namespace flambeau::ops {
bool copy_transposed(Context& context, const Walk& walk, const uint8_t* from, uint8_t* to,
                     size_t element_size) {
  const auto size = static_cast<int64_t>(element_size);
  if (walk.step(0) != size || walk.step(1) == size || walk.step(1) == 0 || walk.row_length() < 4)
    return false;
  const ShortList<Walk::Dimension>& outer = walk.outer();
  size_t packed = outer.size();
  for (size_t d = 0; d < outer.size(); ++d) {
    if (outer[d].strides[1] == size && outer[d].size >= 4) packed = d;
  }
  if (packed == outer.size()) return false;
  const int64_t rows = outer[packed].size;
  const int64_t bands = (rows + kTile - 1) / kTile;
  int64_t planes = 1;
  for (size_t d = 0; d < outer.size(); ++d) {
    if (d != packed) planes *= outer[d].size;
  }
  const CopyTile copy = FLAMBEAU_PICK(tile_of)(element_size);
  const int64_t columns = walk.row_length();
  const auto run = [&](size_t begin, size_t end) {
    for (auto work = static_cast<int64_t>(begin); work < static_cast<int64_t>(end); ++work) {
      const int64_t first_row = work % bands * kTile;
      int64_t rest = work / bands;
      const uint8_t* source = from + first_row * outer[packed].strides[1];
      uint8_t* target = to + first_row * outer[packed].strides[0];
      for (size_t d = outer.size(); d-- > 0;) {
        if (d == packed) continue;
        const int64_t index = rest % outer[d].size;
        rest /= outer[d].size;
        source += index * outer[d].strides[1];
        target += index * outer[d].strides[0];
      }
      for (int64_t c = 0; c < columns; c += kTile) {
        copy(source + c * walk.step(1), walk.step(1), target + c * size, outer[packed].strides[0],
             std::min(kTile, rows - first_row), std::min(kTile, columns - c));
      }
    }
  };
  const int64_t elements_a_band = columns * std::min(kTile, rows);
  const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(elements_a_band, 1));
  context.pool().for_each_range(static_cast<size_t>(planes * bands), static_cast<size_t>(grain), run);
  return true;
}

}  // namespace flambeau::ops
