// What a variable of a script holds. Numbers, strings and tuples are values; lists, dicts, objects and
// tensors are references: copying an IValue shares them. Counts are atomic: threads may share what nobody
// writes.
#pragma once

#include <atomic>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/tensor/device.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {
class Type;
class Value;
struct Object;
}  // namespace flambeau

namespace flambeau::script {

class Class;
struct TensorBox;
struct StringBox;
struct ComplexBox;
struct TupleBox;
struct ListBox;
struct DictBox;
struct ObjectBox;
struct EnumBox;
struct FutureBox;
struct NativeBox;
struct SymbolicBox;

class IValue {
 public:
  enum class Tag : uint8_t {
    kNone,
    kUninitialized,  // prim::Uninitialized: never read by a right program
    kBool,
    kInt,  // also data types, layouts, memory formats and quantization schemes, by PyTorch's numbers
    kFloat,
    kDevice,
    // On the heap.
    kTensor,
    kString,
    kComplex,
    kTuple,
    kList,
    kDict,
    kObject,
    kEnum,
    kFuture,    // and Await
    kNative,    // an object of ops::Library's classes, or a Generator
    kSymbolic,  // a number that is not known, while a script is traced
  };

  IValue() = default;                                                  // None
  IValue(bool value) : tag_(Tag::kBool) { data_.boolean = value; }     // NOLINT(google-explicit-constructor)
  IValue(int64_t value) : tag_(Tag::kInt) { data_.integer = value; }   // NOLINT
  IValue(int value) : IValue(int64_t{value}) {}                        // NOLINT
  IValue(double value) : tag_(Tag::kFloat) { data_.real = value; }     // NOLINT
  IValue(Device value) : tag_(Tag::kDevice) { data_.device = value; }  // NOLINT
  IValue(Tensor tensor);                                               // NOLINT
  IValue(std::string text);                                            // NOLINT
  IValue(std::string_view text) : IValue(std::string(text)) {}         // NOLINT
  IValue(const char* text) : IValue(std::string(text)) {}              // NOLINT
  IValue(std::complex<double> value);                                  // NOLINT
  static IValue uninitialized();
  static IValue tuple(std::vector<IValue> items);
  // `type`: of a named tuple, its class; it decides how it prints and what isinstance says.
  static IValue named_tuple(std::vector<IValue> items, std::shared_ptr<const Class> type);
  static IValue list(const Type& element, std::vector<IValue> items = {});
  static IValue dict(const Type& key, const Type& value);
  // All slots None.
  static IValue object(std::shared_ptr<const Class> type);
  static IValue enumerator(std::shared_ptr<const Class> type, std::string name, IValue value);
  static IValue native(Object object);
  // A SymInt, which stands for an int; or a traced tensor of one element, which stands for a bool or a float.
  static IValue symbolic(const Value& value);
  // A result that `make` gives when it is first waited for.
  static IValue future(const Type& element, std::function<IValue()> make);
  static IValue awaitable(const Type& element, std::function<IValue()> make);
  // What everything on the heap begins with.
  struct Box {
    explicit Box(Tag of) : tag(of) {}
    Box(const Box&) = delete;
    Box& operator=(const Box&) = delete;
    mutable std::atomic<uint32_t> owners{1};
    const Tag tag;
    Box* next_freed = nullptr;  // while it waits for its destructor
  };
  // Takes over a box that was just made, with its one owner.
  static IValue adopt(Box* made) { return IValue(made); }

  IValue(const IValue& other) : tag_(other.tag_), data_(other.data_) {
    if (is_boxed()) retain();
  }
  IValue(IValue&& other) noexcept : tag_(other.tag_), data_(other.data_) { other.tag_ = Tag::kNone; }
  IValue& operator=(const IValue& other) {
    IValue copy(other);
    swap(copy);
    return *this;
  }
  IValue& operator=(IValue&& other) noexcept {
    swap(other);
    return *this;
  }
  ~IValue() {
    if (is_boxed()) release();
  }
  void swap(IValue& other) noexcept {
    std::swap(tag_, other.tag_);
    std::swap(data_, other.data_);
  }

  Tag tag() const { return tag_; }
  bool is(Tag tag) const { return tag_ == tag; }
  bool is_none() const { return tag_ == Tag::kNone; }
  bool is_boxed() const { return tag_ >= Tag::kTensor; }

  // Each throws Error(kInvalidArgument) that says what it is instead.
  bool as_bool() const { return need(Tag::kBool).data_.boolean; }
  int64_t as_int() const { return need(Tag::kInt).data_.integer; }
  double as_float() const { return need(Tag::kFloat).data_.real; }
  Device as_device() const { return need(Tag::kDevice).data_.device; }
  std::complex<double> as_complex() const;
  const std::string& as_string() const;
  const Tensor& as_tensor() const;
  TensorBox& tensor_box() const;
  std::vector<IValue>& items() const;  // of a tuple or list
  TupleBox& as_tuple() const;
  ListBox& as_list() const;
  DictBox& as_dict() const;
  ObjectBox& as_object() const;
  EnumBox& as_enum() const;
  FutureBox& as_future() const;
  NativeBox& as_native() const;
  const Value& as_symbolic() const;

  // The heap object of a boxed value: what `is` compares. Null for the others.
  const void* identity() const { return is_boxed() ? data_.box : nullptr; }
  // How many IValues share it; 1 for what is not on the heap.
  uint32_t owners() const;
  // "int", "List[int]", "__torch__.M": as messages say it.
  std::string kind_name() const;

 private:
  const IValue& need(Tag tag) const {
    if (tag_ != tag) [[unlikely]]
      fail(tag);
    return *this;
  }
  [[noreturn, gnu::cold]] void fail(Tag wanted) const;
  void retain() const { data_.box->owners.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    const Box& box = *data_.box;
    // A sole owner has nobody to race with.
    if (box.owners.load(std::memory_order_acquire) == 1 ||
        box.owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
      free_box(data_.box);
  }
  static void free_box(Box* box) noexcept;
  explicit IValue(Box* box) : tag_(box->tag) { data_.box = box; }

  Tag tag_ = Tag::kNone;
  union Data {
    bool boolean;
    int64_t integer;
    double real;
    Device device;
    Box* box;
    Data() : integer(0) {}
  } data_;
};

}  // namespace flambeau::script
