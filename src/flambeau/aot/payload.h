// What lies behind the code of a compiled model's library: the program with its weights, as an archive of
// torch.export.save, or the word which archive has them. The last bytes of the file say where it begins.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/base/bytes.h"
#include "flambeau/base/files/mapping.h"

namespace flambeau {
class RecordArchive;
namespace graph {
class ExportedProgram;
}
namespace pt2 {
struct Package;
}
}  // namespace flambeau

namespace flambeau::aot {

enum class PayloadKind : uint8_t {
  kWhole = 1,      // the archive itself
  kReference = 2,  // JSON that tells the archive apart from all others
  kKernels = 3,    // kernels/table.h; lies before one of the others
};

// A library with something behind it. The code is a multiple of 64 bytes then, so that weights lie as in any
// other archive.
std::vector<uint8_t> with_payload(ByteSpan library, PayloadKind kind, ByteSpan payload);
// The library with kernels behind it, for with_payload().
std::vector<uint8_t> with_kernels(ByteSpan library, ByteSpan kernels);

struct Payload {
  PayloadKind kind = PayloadKind::kWhole;
  std::shared_ptr<Mapping> bytes;
};
// Nothing where the file has none. Throws Error(kCorrupt) where its end is not what with_payload() wrote.
std::optional<Payload> find_payload(const std::shared_ptr<Mapping>& file);
// The bytes of the kernels; null where there are none. Throws likewise.
std::shared_ptr<Mapping> find_kernels(const std::shared_ptr<Mapping>& file);

// The package that has the program: it holds the same token, which no package with other weights has.
struct Reference {
  std::string model;
  std::string token;
};
// Made of everything that a run depends on.
std::string token_of(const graph::ExportedProgram& program);
std::string write_reference(const Reference& reference);
// Throws Error(kCorrupt).
Reference read_reference(std::string_view text);
// The record that holds the token.
std::string token_record(std::string_view model);
bool is_meant(const Reference& reference, const RecordArchive& archive);

// The programs of such an archive. Throws what load_package() throws.
pt2::Package read_programs(const std::shared_ptr<Mapping>& archive);

}  // namespace flambeau::aot
