// What an operator takes and gives: a tensor, a number, a list, a name. A closed set; copying shares tensors'
// bytes.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "flambeau/symbolic/sym_int.h"
#include "flambeau/tensor/memory_format.h"
#include "flambeau/tensor/tensor.h"
#include "flambeau/value/scalar.h"

namespace flambeau {

class Value;
using symbolic::SymInt;
using TensorList = std::vector<Tensor>;  // an undefined tensor is None
using SymIntList = ShortList<SymInt>;
using ValueList = std::vector<Value>;
using KeywordArguments = std::vector<std::pair<std::string, Value>>;  // {{"mask", mask}, {"scale", 0.5}}

// An object that only some operators understand, e.g. a random number generator.
struct Object {
  std::string class_name;
  std::shared_ptr<void> pointer;
  bool operator==(const Object& other) const { return pointer == other.pointer; }
};

class Value {
 public:
  using Data =
      std::variant<std::monostate, Tensor, TensorList, int64_t, Dims, double, std::vector<double>, bool,
                   std::vector<bool>, std::complex<double>, std::string, std::vector<std::string>, DType,
                   Device, Layout, MemoryFormat, SymInt, SymIntList, Object, ValueList>;

  Value() = default;  // None
  template <typename T>
    requires(!std::is_same_v<std::decay_t<T>, Value> && !std::is_same_v<std::decay_t<T>, Size> &&
             !std::is_same_v<std::decay_t<T>, ShortList<Size>> && std::is_constructible_v<Data, T>)
  Value(T&& data)
      : data_(std::forward<T>(data)) {}      // NOLINT(google-explicit-constructor): it holds any of them
  Value(int data) : data_(int64_t{data}) {}  // NOLINT
  Value(const char* data) : data_(std::string(data)) {}                                 // NOLINT
  Value(std::string_view data) : data_(std::string(data)) {}                            // NOLINT
  Value(Size data) : data_(data.value()) {}                                             // NOLINT
  Value(const ShortList<Size>& data) : data_(Dims(data)) {}                             // NOLINT
  Value(std::span<const int64_t> data) : data_(Dims(data)) {}                           // NOLINT
  Value(std::span<const Size> data) : data_(Dims(plain(data))) {}                       // NOLINT
  Value(std::span<const Tensor> data) : data_(TensorList(data.begin(), data.end())) {}  // NOLINT
  Value(std::nullopt_t) {}                                                              // NOLINT
  Value(const Tensor* tensor) {                                                         // NOLINT
    if (tensor != nullptr) data_ = *tensor;
  }
  Value(const Scalar& scalar);  // NOLINT
  template <typename T>
  Value(const std::optional<T>& data) {  // NOLINT
    if (data) *this = Value(*data);
  }

  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(data_);
  }
  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&data_);
  }
  template <typename T>
  T* get_if() {
    return std::get_if<T>(&data_);
  }
  // Throws Error(kInvalidArgument) that says what it is instead.
  template <typename T>
  const T& get() const {
    if (const T* const data = get_if<T>()) return *data;
    fail(Value(T{}).kind_name());
  }
  bool is_none() const { return is<std::monostate>(); }
  bool is_tensor() const { return is<Tensor>(); }
  const Tensor& tensor() const { return get<Tensor>(); }
  // An int, float, bool or complex number.
  bool is_number() const;
  // Throws Error(kInvalidArgument) for what is no number.
  Scalar scalar() const;

  const Data& data() const { return data_; }
  Data& data() { return data_; }
  // "Tensor", "int", "int[]", "None", ...: as schemas call it.
  std::string_view kind_name() const;
  // For messages: "float32[2, 3]", "5", "[1, 2]".
  std::string summary() const;

 private:
  [[noreturn]] void fail(std::string_view wanted) const;
  Data data_;
};

}  // namespace flambeau
