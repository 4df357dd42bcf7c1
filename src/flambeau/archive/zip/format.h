// The numbers of the zip format that the reader and the writer share.
#pragma once

#include <cstdint>

namespace flambeau::zip {

inline constexpr uint32_t kLocalSignature = 0x04034b50;
inline constexpr uint32_t kCentralSignature = 0x02014b50;
inline constexpr uint32_t kDescriptorSignature = 0x08074b50;
inline constexpr uint32_t kEndSignature = 0x06054b50;
inline constexpr uint32_t kEnd64Signature = 0x06064b50;
inline constexpr uint32_t kLocator64Signature = 0x07064b50;

// Fixed parts; names, extra fields and comments follow.
inline constexpr uint64_t kLocalSize = 30;
inline constexpr uint64_t kCentralSize = 46;
inline constexpr uint64_t kEndSize = 22;
inline constexpr uint64_t kEnd64Size = 56;
inline constexpr uint64_t kLocator64Size = 20;

// Records in an archive, read or written: each takes more of the file than of memory.
inline constexpr uint64_t kMostEntries = uint64_t{1} << 24;

// A field that holds this value has its real one in the ZIP64 structures.
inline constexpr uint16_t kSaturated16 = 0xffff;
inline constexpr uint32_t kSaturated32 = 0xffffffff;

inline constexpr uint16_t kExtraZip64 = 0x0001;
inline constexpr uint16_t kExtraUnicodePath = 0x7075;
inline constexpr uint16_t kExtraPadding = 0x4246;  // "FB", PyTorch's

inline constexpr uint16_t kFlagEncrypted = 1U << 0;
inline constexpr uint16_t kFlagDeflateEffort = 3U << 1;  // a hint from the compressor, without meaning
inline constexpr uint16_t kFlagDescriptor = 1U << 3;
inline constexpr uint16_t kFlagUtf8 = 1U << 11;

}  // namespace flambeau::zip
