// The memory layout of DLPack (https://dmlc.github.io/dlpack), both the first one and the versioned one: how
// array libraries hand tensors to each other without a copy.
#pragma once

#include <cstdint>

namespace flambeau::python::dlpack {

constexpr int32_t kCpu = 1;
constexpr int32_t kCudaHost = 3;
constexpr uint64_t kFlagReadOnly = 1;

// Kinds of numbers.
enum Code : uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kBFloat = 4,
  kComplex = 5,
  kBool = 6,
  kFloat8E4M3FN = 10,
  kFloat8E4M3FNUZ = 11,
  kFloat8E5M2 = 12,
  kFloat8E5M2FNUZ = 13,
  kFloat8E8M0FNU = 14,
  kFloat4E2M1FN = 17,
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct View {
  void* data;
  struct {
    int32_t type;
    int32_t index;
  } device;
  int32_t dim;
  DataType dtype;
  int64_t* sizes;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};

struct Managed {
  View view;
  void* owner;
  void (*release)(Managed*);
};

struct ManagedVersioned {
  struct {
    uint32_t major;
    uint32_t minor;
  } version;
  void* owner;
  void (*release)(ManagedVersioned*);
  uint64_t flags;
  View view;
};

}  // namespace flambeau::python::dlpack
