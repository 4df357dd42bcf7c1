// Any bytes are a TorchScript module, or an Error; a module can be written, and read again, and be Python.
#include <memory>

#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/torchscript/script_file.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/python/decompile.h"
#include "flambeau/value/schema_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flambeau;
  static const auto operators =
      std::make_shared<const script::OperatorTable>(std::make_shared<const SchemaTable>());
  const auto open = [](std::vector<uint8_t> bytes) {
    return std::make_shared<const RecordArchive>(RecordArchive::open(Mapping::from_buffer(std::move(bytes))));
  };
  try {
    const script::ScriptFile file = script::read_script(open({data, data + size}), operators);
    MemorySink sink;
    script::write_script(sink, file, file.module, {}, {}, {}, Progress::silent());
    script::read_script(open(sink.take()), operators);
    script::decompile(*file.unit, file.module, nullptr);
  } catch (const Error&) {
    // Refusing is fine. Anything else that leaves the reader is a bug.
  }
  return 0;
}
