// Any bytes as an archive of torch.package: its script modules are found by its pickles, and read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/package/script_package.h"
#include "flambeau/formats/state_dict/torch_readers.h"
#include "flambeau/formats/torchscript/script_file.h"
#include "flambeau/script/operators/operator_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flambeau;
  static const auto operators =
      std::make_shared<const script::OperatorTable>(std::make_shared<const SchemaTable>());
  try {
    const auto records = std::make_shared<const RecordArchive>(
        RecordArchive::open(Mapping::from_buffer(std::vector<uint8_t>(data, data + size))));
    if (!script::is_script_package(*records)) return 0;
    const auto shared = std::make_shared<SharedZipStorages>();
    for (const script::PackagedModule& module : script::packaged_modules(*records)) {
      try {
        script::read_script(records, operators, {}, script::places_in_package(module.id, shared));
      } catch (const Error& error) {
        if (error.code() == ErrorCode::kInternal) std::abort();
      }
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) std::abort();
  }
  return 0;
}
