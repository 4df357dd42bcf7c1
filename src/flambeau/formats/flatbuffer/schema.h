// The tables of mobile modules in flatbuffers ("PTMF") by the numbers of their fields.
#pragma once

#include <cstdint>
#include <string_view>

namespace flambeau::script::flat {

constexpr std::string_view kIdentifier = "PTMF";
// The one version of bytecode in this form.
constexpr int64_t kVersion = 9;

// What a value is: the number of its table or struct in the union.
enum class ValueKind : uint8_t {
  kNone,
  kInt,
  kBool,
  kFloat,
  kComplex,
  kTensor,
  kString,
  kList,
  kTuple,
  kDict,
  kObject,
  kIntList,
  kFloatList,
  kBoolList,
  kDevice,
  kEnum,
  kFunction,
};
constexpr uint8_t kValueKinds = static_cast<uint8_t>(ValueKind::kFunction) + 1;

// What objects of a type hold.
enum class ObjectKind : uint8_t { kUnset, kFields, kNative, kState, kNone };

struct ValueFields {
  static constexpr uint32_t kKind = 0, kValue = 1;
};
struct ModuleFields {
  static constexpr uint32_t kVersion = 0, kExtraFiles = 1, kMethods = 2, kState = 3, kValues = 4,
                            kStorageCount = 5, kStorages = 6, kObjectTypes = 7, kSources = 8, kConstants = 9,
                            kOperatorVersion = 10, kMobileValues = 11;
};
struct ExtraFileFields {
  static constexpr uint32_t kName = 0, kContents = 1;
};
struct TensorFields {
  static constexpr uint32_t kStorage = 0, kDType = 1, kOffset = 2, kSizes = 3, kStrides = 4,
                            kRequiresGrad = 5, kQuantizer = 6;
};
struct QuantizerFields {
  static constexpr uint32_t kScheme = 0, kScale = 1, kZeroPoint = 2, kScales = 3, kZeroPoints = 4, kAxis = 5;
};
// Of strings and devices.
struct TextFields {
  static constexpr uint32_t kText = 0;
};
// Of lists, tuples and lists of numbers.
struct ItemsFields {
  static constexpr uint32_t kItems = 0, kType = 1;
};
struct DictFields {
  static constexpr uint32_t kKeys = 0, kValues = 1, kType = 2;
};
struct ObjectTypeFields {
  static constexpr uint32_t kName = 0, kKind = 1, kAttributes = 2;
};
struct ObjectFields {
  static constexpr uint32_t kType = 0, kState = 1, kAttributes = 2, kSetState = 3;
};
struct EnumFields {
  static constexpr uint32_t kType = 0, kValue = 1;
};
struct OperatorFields {
  static constexpr uint32_t kName = 0, kOverload = 1, kSpecified = 2;
};
struct ArgumentFields {
  static constexpr uint32_t kName = 0, kType = 1, kDefault = 2;
};
struct SchemaFields {
  static constexpr uint32_t kArguments = 0, kReturns = 1;
};
struct DebugFields {
  static constexpr uint32_t kHandles = 0;
};
struct FunctionFields {
  static constexpr uint32_t kName = 0, kInstructions = 1, kOperators = 2, kConstants = 3, kTypes = 4,
                            kRegisters = 5, kSchema = 6, kDebug = 7, kClass = 8;
};
struct StorageFields {
  static constexpr uint32_t kData = 0;
};

// An instruction: its opcode, a byte of nothing, n, x.
struct InstructionLayout {
  static constexpr uint32_t kSize = 8, kAlignment = 4, kOpcode = 0, kN = 2, kX = 4;
};

}  // namespace flambeau::script::flat
