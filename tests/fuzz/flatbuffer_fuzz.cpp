// Any bytes are a mobile module in a flatbuffer, or an Error; every function of one can be lifted, or
// compiled, or is refused.
#include <memory>

#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/flatbuffer/flatbuffer_file.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/value/schema_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flambeau;
  static const auto operators =
      std::make_shared<const script::OperatorTable>(std::make_shared<const SchemaTable>());
  for (const bool from_bytecode : {true, false}) {
    try {
      const script::MobileFile file = script::read_flatbuffer(
          Mapping::from_buffer(std::vector<uint8_t>(data, data + size)), operators, {}, from_bytecode);
      for (const std::shared_ptr<script::Class>& type : file.script.unit->classes()) {
        for (const std::shared_ptr<script::Function>& method : type->methods) {
          try {
            method->graph()->check();
          } catch (const Error& error) {
            if (error.code() == ErrorCode::kInternal) __builtin_trap();
          }
        }
      }
    } catch (const Error&) {
      // Refusing is fine. Anything else that leaves the reader is a bug.
    }
  }
  return 0;
}
