// The header of a .npy array: magic, version, length, and a Python dict literal that is parsed, never run.
#pragma once

#include <string>

#include "flambeau/base/bytes.h"
#include "flambeau/tensor/dims.h"

namespace flambeau {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

struct NpyHeader {
  std::string descr;           // "<f4"
  bool is_structured = false;  // the type is a list of fields; nothing else is known then
  bool is_fortran = false;
  Dims shape;
};

// Reads up to the first byte of data. Throws Error(kCorrupt) located at the byte, and Error(kUnsupported)
// for an unknown version.
NpyHeader read_npy_header(ByteReader& reader);

// Everything before the data, padded to 64 bytes, as NumPy 1.23 and later write it.
std::string npy_header_bytes(const NpyHeader& header);

}  // namespace flambeau
