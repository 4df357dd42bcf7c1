#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/npy/npy.h"
#include "flambeau/formats/npy/npy_array.h"
#include "flambeau/formats/npy/npy_header.h"
#include "flambeau/formats/npy/npy_types.h"

namespace flambeau {
namespace {

Dims fortran_strides(const Dims& sizes) {
  Dims reversed = sizes;
  std::reverse(reversed.begin(), reversed.end());
  Dims strides = contiguous_strides(reversed);
  std::reverse(strides.begin(), strides.end());
  return strides;
}

}  // namespace

std::vector<uint8_t> NpyArray::elements(ByteSpan data) const {
  std::vector<uint8_t> result(data.begin(), data.end());
  const size_t word = is_swapped ? dtype_info(dtype).word : 1;
  for (size_t at = 0; word > 1 && at + word <= result.size(); at += word) {
    std::reverse(result.begin() + static_cast<long>(at), result.begin() + static_cast<long>(at + word));
  }
  return result;
}

NpyArray read_npy_array(ByteReader& reader, uint64_t size) {
  const size_t start = reader.offset();
  const NpyHeader header = read_npy_header(reader);
  if (header.is_structured) {
    throw Error(ErrorCode::kUnsupported, "the array is of a structured type, a tensor has one type only",
                "save each field as an array of its own");
  }
  const NpyType type = parse_npy_type(header.descr);
  const DTypeInfo& info = dtype_info(type.dtype);
  const size_t data_start = reader.offset() - start;
  const int64_t bytes = checked_mul(element_count(header.shape), static_cast<int64_t>(info.size),
                                    "the size of the array in bytes");
  if (static_cast<uint64_t>(bytes) != size - data_start) {
    const std::string shape = printable(fmt::format("[{}]", fmt::join(header.shape, ", ")));
    throw Error(ErrorCode::kCorrupt,
                fmt::format("an array of type {} and shape {} takes {} bytes, {} are there", info.name, shape,
                            bytes, size - data_start));
  }
  const Dims strides = header.is_fortran ? fortran_strides(header.shape) : contiguous_strides(header.shape);
  return {type.dtype, {header.shape, strides, 0}, data_start, static_cast<size_t>(bytes), type.is_swapped};
}

Tensor read_npy(std::shared_ptr<Mapping> mapping) {
  return mapping->reading([&] { return read_npy(mapping, 0, mapping->size()); });
}

Tensor read_npy(std::shared_ptr<Mapping> mapping, size_t offset, size_t size) {
  if (offset > mapping->size() || size > mapping->size() - offset) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("an array of {} bytes at byte {} leaves its file of {} bytes", size, offset,
                            mapping->size()));
  }
  ByteReader reader(mapping->bytes().subspan(offset, size), offset);
  const NpyArray array = read_npy_array(reader, size);
  const size_t data_start = offset + array.data_start;
  std::shared_ptr<Storage> storage;
  if (array.is_swapped) {
    storage = Storage::lazy(array.data_size, [mapping, data_start, array] {
      return mapping->reading(
          [&] { return array.elements(mapping->bytes().subspan(data_start, array.data_size)); });
    });
  } else {
    storage = Storage::view(std::move(mapping), data_start, array.data_size);
  }
  return Tensor::strided(array.dtype, array.geometry, std::move(storage));
}

bool looks_like_npy(ByteSpan bytes) { return as_text(bytes).starts_with(kNpyMagic); }

}  // namespace flambeau
