// What an IValue refers to on the heap. Each counts its owners; whoever lets the last one go frees it,
// however deep it is nested.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "flambeau/script/values/ivalue.h"
#include "flambeau/value/type.h"
#include "flambeau/value/value.h"

namespace flambeau::script {

struct Box {
  explicit Box(IValue::Tag of) : tag(of) {}
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;
  mutable std::atomic<uint32_t> owners{1};
  const IValue::Tag tag;
};

inline IValue IValue::adopt(Box* made) { return {made->tag, made}; }

struct TensorBox : Box {
  explicit TensorBox(Tensor made) : Box(IValue::Tag::kTensor), tensor(std::move(made)) {}
  Tensor tensor;  // operators that change a tensor's description in place assign to it
};

struct StringBox : Box {
  explicit StringBox(std::string made) : Box(IValue::Tag::kString), text(std::move(made)) {}
  std::string text;
};

struct ComplexBox : Box {
  explicit ComplexBox(std::complex<double> made) : Box(IValue::Tag::kComplex), value(made) {}
  std::complex<double> value;
};

struct TupleBox : Box {
  explicit TupleBox(std::vector<IValue> made) : Box(IValue::Tag::kTuple), items(std::move(made)) {}
  std::vector<IValue> items;
  std::shared_ptr<const Class> named;  // null for a plain tuple
};

struct ListBox : Box {
  ListBox(Type type, std::vector<IValue> made)
      : Box(IValue::Tag::kList), element(std::move(type)), items(std::move(made)) {}
  Type element;
  std::vector<IValue> items;
};

// Keeps the order of insertion. Keys are compared by value, tensors by identity.
class DictItems {
 public:
  struct Entry {
    IValue key;
    IValue value;
  };
  size_t size() const { return order_.size() - removed_; }
  // Null when there is none.
  IValue* find(const IValue& key);
  const IValue* find(const IValue& key) const { return const_cast<DictItems*>(this)->find(key); }
  // A key that is there keeps its place.
  void set(IValue key, IValue value);
  bool remove(const IValue& key);
  // The last one in order, taken out. There is one.
  Entry take_last();
  void clear();
  // In order.
  std::vector<Entry> entries() const;

 private:
  size_t place_of(const IValue& key, uint64_t hash) const;
  void rebuild();
  std::vector<std::optional<Entry>> order_;
  std::vector<uint32_t> table_;  // places in order_ plus one, by hash; 0 for free
  size_t removed_ = 0;
};

struct DictBox : Box {
  DictBox(Type key_type, Type value_type)
      : Box(IValue::Tag::kDict), key(std::move(key_type)), value(std::move(value_type)) {}
  Type key;
  Type value;
  DictItems items;
};

struct ObjectBox : Box {
  explicit ObjectBox(std::shared_ptr<const Class> of);
  std::shared_ptr<const Class> type;
  std::vector<IValue> slots;  // as many as the class has attributes
};

struct EnumBox : Box {
  EnumBox(std::shared_ptr<const Class> of, std::string called, IValue held)
      : Box(IValue::Tag::kEnum), type(std::move(of)), name(std::move(called)), value(std::move(held)) {}
  std::shared_ptr<const Class> type;
  std::string name;
  IValue value;
};

// A result that is there, comes when it is waited for, or is an error.
struct FutureBox : Box {
  FutureBox(Type type, std::function<IValue()> made)
      : Box(IValue::Tag::kFuture), element(std::move(type)), make(std::move(made)) {}
  Type element;
  bool is_await = false;
  std::function<IValue()> make;  // empty once it was called
  IValue value;
  std::exception_ptr error;
};

struct NativeBox : Box {
  explicit NativeBox(Object made) : Box(IValue::Tag::kNative), object(std::move(made)) {}
  Object object;
};

// The bits of a value that a dict's key may be; throws Error(kInvalidArgument) for others.
uint64_t hash_of(const IValue& key);
// As TorchScript compares: numbers, strings, tuples, lists and dicts by value, tensors and objects by
// identity.
bool equal_keys(const IValue& a, const IValue& b);

}  // namespace flambeau::script
