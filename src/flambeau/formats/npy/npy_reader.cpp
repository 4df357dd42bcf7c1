#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/npy/npy.h"
#include "flambeau/formats/npy/npy_header.h"
#include "flambeau/formats/npy/npy_types.h"

namespace flambeau {
namespace {

std::vector<uint8_t> swapped(ByteSpan bytes, size_t word) {
  std::vector<uint8_t> result(bytes.begin(), bytes.end());
  for (size_t at = 0; at + word <= result.size(); at += word) {
    std::reverse(result.begin() + static_cast<long>(at), result.begin() + static_cast<long>(at + word));
  }
  return result;
}

Dims fortran_strides(const Dims& sizes) {
  Dims reversed = sizes;
  std::reverse(reversed.begin(), reversed.end());
  Dims strides = contiguous_strides(reversed);
  std::reverse(strides.begin(), strides.end());
  return strides;
}

}  // namespace

Tensor read_npy(std::shared_ptr<Mapping> mapping) {
  const auto read = [&] { return read_npy(mapping, 0, mapping->size()); };
  return mapping->path().empty() ? read() : with_location("file", mapping->path(), read);
}

Tensor read_npy(std::shared_ptr<Mapping> mapping, size_t offset, size_t size) {
  if (offset > mapping->size() || size > mapping->size() - offset) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("an array of {} bytes at byte {} leaves its file of {} bytes", size, offset,
                            mapping->size()));
  }
  ByteReader reader(mapping->bytes().subspan(offset, size), offset);
  const NpyHeader header = read_npy_header(reader);
  if (header.is_structured) {
    throw Error(ErrorCode::kUnsupported, "the array is of a structured type, a tensor has one type only",
                "save each field as an array of its own");
  }
  const NpyType type = parse_npy_type(header.descr);
  const DTypeInfo& info = dtype_info(type.dtype);

  const int64_t bytes = checked_mul(element_count(header.shape), static_cast<int64_t>(info.size),
                                    "the size of the array in bytes");
  if (static_cast<uint64_t>(bytes) != reader.remaining()) {
    const std::string shape = printable(fmt::format("[{}]", fmt::join(header.shape, ", ")));
    throw Error(ErrorCode::kCorrupt,
                fmt::format("an array of type {} and shape {} takes {} bytes, {} are there", info.name, shape,
                            bytes, reader.remaining()));
  }
  const size_t data_start = offset + reader.offset();
  const auto data_size = static_cast<size_t>(bytes);
  std::shared_ptr<Storage> storage;
  if (type.is_swapped) {
    storage = Storage::lazy(data_size, [mapping, data_start, data_size, word = info.word] {
      return swapped(mapping->bytes().subspan(data_start, data_size), word);
    });
  } else {
    storage = Storage::view(std::move(mapping), data_start, data_size);
  }
  const Dims strides = header.is_fortran ? fortran_strides(header.shape) : contiguous_strides(header.shape);
  return Tensor::strided(type.dtype, {header.shape, strides, 0}, std::move(storage));
}

bool looks_like_npy(ByteSpan bytes) { return as_text(bytes).starts_with(kNpyMagic); }

}  // namespace flambeau
