// Writes single opcodes; what both dialects write alike.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "flambeau/archive/pickle/opcodes.h"
#include "flambeau/base/bytes.h"

namespace flambeau::pickle {

// STACK_GLOBAL shares its names, GLOBAL repeats them: without a cap a small file could become a huge one.
constexpr size_t kMostGlobalText = size_t{16} << 20;

inline void emit(ByteWriter& out, Opcode opcode) { out.u8(static_cast<uint8_t>(opcode)); }

inline void emit_get(ByteWriter& out, uint32_t index) {
  if (index <= 0xFF) {
    emit(out, Opcode::kBinGet);
    out.u8(static_cast<uint8_t>(index));
  } else {
    emit(out, Opcode::kLongBinGet);
    out.le(index);
  }
}

inline void emit_put(ByteWriter& out, uint32_t index) {
  if (index <= 0xFF) {
    emit(out, Opcode::kBinPut);
    out.u8(static_cast<uint8_t>(index));
  } else {
    emit(out, Opcode::kLongBinPut);
    out.le(index);
  }
}

// False when the number takes more than 32 bits, which the dialects write differently.
inline bool emit_int32(ByteWriter& out, int64_t value) {
  if (value >= 0 && value <= 0xFF) {
    emit(out, Opcode::kBinInt1);
    out.u8(static_cast<uint8_t>(value));
  } else if (value >= 0 && value <= 0xFFFF) {
    emit(out, Opcode::kBinInt2);
    out.le(static_cast<uint16_t>(value));
  } else if (value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max()) {
    emit(out, Opcode::kBinInt);
    out.le(static_cast<int32_t>(value));
  } else {
    return false;
  }
  return true;
}

inline void emit_float(ByteWriter& out, double value) {
  emit(out, Opcode::kBinFloat);
  out.be(std::bit_cast<uint64_t>(value));
}

inline void emit_global(ByteWriter& out, std::string_view module, std::string_view name) {
  emit(out, Opcode::kGlobal);
  out.text(module);
  out.u8('\n');
  out.text(name);
  out.u8('\n');
}

}  // namespace flambeau::pickle
