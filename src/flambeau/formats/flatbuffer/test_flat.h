// For tests: a small mobile module in a flatbuffer, any part of which can be wrong.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flambeau/archive/flatbuffer/writer.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/flatbuffer/flatbuffer_file.h"
#include "flambeau/formats/flatbuffer/schema.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::testing {

// Values: 0 None, 1 forward(self, x) -> x, 2 a tensor of two floats, 3 the number 7, 4 a dict {7: 7}, 5 the
// module with the tensor and the dict.
struct FlatSample {
  uint32_t version = 9;
  uint32_t state = 5;
  uint32_t method = 1;
  int32_t storage_count = 1;
  uint32_t storage = 0;
  int8_t dtype = 6;
  std::vector<int32_t> sizes{2};
  std::vector<int32_t> strides{1};
  int32_t offset = 0;
  std::vector<uint32_t> keys{3};
  std::vector<uint32_t> values{3};
  std::string dict_type = "Dict[int, int]";
  uint32_t object_type = 0;
  std::vector<uint32_t> attributes{2, 4};
  uint8_t kind_of_number = 1;
  uint8_t kind_of_type = 1;
  uint32_t mobile_values = 6;
  uint32_t class_type = 0;
  uint8_t opcode = 12;  // RET
  int32_t argument_register = 2;
  std::vector<uint32_t> constants{};

  std::shared_ptr<Mapping> build() const {
    using flatbuffer::Built;
    flatbuffer::Builder to;
    const auto value = [&](uint8_t kind, Built built) {
      to.begin_table();
      to.field(flat::ValueFields::kValue, built);
      to.field<uint8_t>(flat::ValueFields::kKind, kind);
      return to.end_table();
    };
    std::vector<Built> row{value(0, {})};
    // forward
    const auto argument = [&](std::string_view name, std::string_view type) {
      const Built called = to.shared_text(name), of = to.shared_text(type);
      to.begin_table();
      to.field(flat::ArgumentFields::kName, called);
      to.field(flat::ArgumentFields::kType, of);
      return to.end_table();
    };
    const std::vector<Built> taken{argument("self", "__torch__.M"), argument("x", "Tensor")};
    const std::vector<Built> given{argument("", "Tensor")};
    const Built takes = to.offsets(taken), gives = to.offsets(given);
    to.begin_table();
    to.field(flat::SchemaFields::kArguments, takes);
    to.field(flat::SchemaFields::kReturns, gives);
    const Built schema = to.end_table();
    std::vector<uint8_t> code;
    const auto instruction = [&](uint8_t of, int32_t x, uint16_t n) {
      const size_t at = code.size();
      code.resize(at + 8);
      code[at] = of;
      store_le(code.data() + at + 2, n);
      store_le(code.data() + at + 4, x);
    };
    instruction(4, 1, 2);                  // STOREN
    instruction(7, 1, 0);                  // DROPR
    instruction(3, argument_register, 0);  // MOVE
    instruction(opcode, 0, 0);
    const Built instructions = to.structures(code, 8, 4);
    const Built constant_numbers = to.numbers<uint32_t>(constants);
    const Built name = to.text("__torch__.M.forward");
    to.begin_table();
    to.field(flat::FunctionFields::kName, name);
    to.field(flat::FunctionFields::kInstructions, instructions);
    to.field(flat::FunctionFields::kConstants, constant_numbers);
    to.field<int32_t>(flat::FunctionFields::kRegisters, 2);
    to.field(flat::FunctionFields::kSchema, schema);
    to.field<uint32_t>(flat::FunctionFields::kClass, class_type);
    row.push_back(value(16, to.end_table()));
    // the tensor
    const Built size_numbers = to.numbers<int32_t>(sizes), stride_numbers = to.numbers<int32_t>(strides);
    to.begin_table();
    to.field<uint32_t>(flat::TensorFields::kStorage, storage);
    to.field<int8_t>(flat::TensorFields::kDType, dtype);
    to.field<int32_t>(flat::TensorFields::kOffset, offset);
    to.field(flat::TensorFields::kSizes, size_numbers);
    to.field(flat::TensorFields::kStrides, stride_numbers);
    row.push_back(value(5, to.end_table()));
    const int64_t seven = 7;
    uint8_t raw[8];
    store_le(raw, seven);
    row.push_back(value(kind_of_number, to.structure(raw, 8)));
    // the dict
    const Built key_numbers = to.numbers<uint32_t>(keys), value_numbers = to.numbers<uint32_t>(values);
    const Built type_text = to.text(dict_type);
    to.begin_table();
    to.field(flat::DictFields::kKeys, key_numbers);
    to.field(flat::DictFields::kValues, value_numbers);
    to.field(flat::DictFields::kType, type_text);
    row.push_back(value(9, to.end_table()));
    // the module
    const Built attribute_numbers = to.numbers<uint32_t>(attributes);
    to.begin_table();
    to.field<uint32_t>(flat::ObjectFields::kType, object_type);
    to.field(flat::ObjectFields::kAttributes, attribute_numbers);
    row.push_back(value(10, to.end_table()));
    const std::vector<Built> names{to.text("weight"), to.text("table")};
    const Built attribute_names = to.offsets(names);
    const Built type_name = to.text("__torch__.M");
    to.begin_table();
    to.field(flat::ObjectTypeFields::kName, type_name);
    to.field<uint8_t>(flat::ObjectTypeFields::kKind, kind_of_type);
    to.field(flat::ObjectTypeFields::kAttributes, attribute_names);
    const std::vector<Built> types{to.end_table()};
    const Built type_tables = to.offsets(types);
    const Built bytes = to.blob(as_bytes(std::string_view("\0\0\200?\0\0\0@", 8)), 16);
    to.begin_table();
    to.field(flat::StorageFields::kData, bytes);
    const std::vector<Built> storages{to.end_table()};
    const Built storage_tables = to.offsets(storages);
    const Built methods = to.numbers<uint32_t>(std::vector<uint32_t>{method});
    const Built all = to.offsets(row);
    to.begin_table();
    to.field<uint32_t>(flat::ModuleFields::kVersion, version);
    to.field(flat::ModuleFields::kMethods, methods);
    to.field<uint32_t>(flat::ModuleFields::kState, state);
    to.field(flat::ModuleFields::kValues, all);
    to.field<int32_t>(flat::ModuleFields::kStorageCount, storage_count);
    to.field(flat::ModuleFields::kStorages, storage_tables);
    to.field(flat::ModuleFields::kObjectTypes, type_tables);
    to.field<uint32_t>(flat::ModuleFields::kOperatorVersion, 10);
    to.field<uint32_t>(flat::ModuleFields::kMobileValues, mobile_values);
    MemorySink sink;
    to.finish(to.end_table(), flat::kIdentifier, sink);
    return Mapping::from_buffer(sink.take());
  }
};

inline MobileFile read_flat(const std::shared_ptr<Mapping>& bytes) {
  return read_flatbuffer(bytes, std::make_shared<const OperatorTable>(std::make_shared<const SchemaTable>()),
                         {}, true);
}

}  // namespace flambeau::script::testing
