// What an IValue refers to on the heap. Each counts its owners; whoever lets the last one go frees it,
// however deep it is nested.
#pragma once

#include <complex>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flambeau/script/values/ivalue.h"
#include "flambeau/value/type.h"
#include "flambeau/value/value.h"

namespace flambeau::script {

struct TensorBox : IValue::Box {
  explicit TensorBox(Tensor made) : Box(IValue::Tag::kTensor), tensor(std::move(made)) {}
  Tensor tensor;  // operators that change a tensor's description in place assign to it
};

struct StringBox : IValue::Box {
  explicit StringBox(std::string made) : Box(IValue::Tag::kString), text(std::move(made)) {}
  std::string text;
};

struct ComplexBox : IValue::Box {
  explicit ComplexBox(std::complex<double> made) : Box(IValue::Tag::kComplex), value(made) {}
  std::complex<double> value;
};

struct TupleBox : IValue::Box {
  explicit TupleBox(std::vector<IValue> made) : Box(IValue::Tag::kTuple), items(std::move(made)) {}
  std::vector<IValue> items;
  std::shared_ptr<const Class> named;  // null for a plain tuple
};

struct ListBox : IValue::Box {
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
  // The first or the last one in order, taken out. There is one.
  Entry take_first();
  Entry take_last();
  void clear();
  // In order.
  std::vector<Entry> entries() const;
  // The same without a copy: the first entry at or behind `place`, which becomes its place; null behind the
  // last one. Places stay while nothing is removed or added.
  const Entry* next(size_t& place) const;

 private:
  // The slot of the table that holds the key's place, or the free one where it would be.
  size_t slot_of(const IValue& key, uint64_t hash) const;
  void rebuild();
  std::vector<std::optional<Entry>> order_;  // nothing where an entry was removed
  std::vector<uint32_t> table_;              // places in order_ plus one, by hash; 0 for free
  uint64_t seed_ = 0;                        // so that nobody can choose keys of one hash
  size_t used_slots_ = 0;                    // of the table
  size_t removed_ = 0;                       // of order_
  size_t first_ = 0;                         // all before it in order_ were removed
};

struct DictBox : IValue::Box {
  DictBox(Type key_type, Type value_type)
      : Box(IValue::Tag::kDict), key(std::move(key_type)), value(std::move(value_type)) {}
  Type key;
  Type value;
  DictItems items;
};

struct ObjectBox : IValue::Box {
  explicit ObjectBox(std::shared_ptr<const Class> of);
  std::shared_ptr<const Class> type;
  std::vector<IValue> slots;  // as many as the class has attributes
};

struct EnumBox : IValue::Box {
  EnumBox(std::shared_ptr<const Class> of, std::string called, IValue held)
      : Box(IValue::Tag::kEnum), type(std::move(of)), name(std::move(called)), value(std::move(held)) {}
  std::shared_ptr<const Class> type;
  std::string name;
  IValue value;
};

// A result that is there, comes when it is waited for, or is an error.
struct FutureBox : IValue::Box {
  FutureBox(Type type, std::function<IValue()> made, bool awaited = false)
      : Box(IValue::Tag::kFuture), element(std::move(type)), is_await(awaited), make(std::move(made)) {}
  Type element;
  bool is_await;
  std::function<IValue()> make;  // empty once it was called
  IValue value;
  std::exception_ptr error;
};

struct NativeBox : IValue::Box {
  explicit NativeBox(Object made) : Box(IValue::Tag::kNative), object(std::move(made)) {}
  Object object;
};

struct SymbolicBox : IValue::Box {
  explicit SymbolicBox(Value made) : Box(IValue::Tag::kSymbolic), value(std::move(made)) {}
  Value value;
};

// The bits of a value that a dict's key may be; throws Error(kInvalidArgument) for others.
uint64_t hash_of(const IValue& key);
// As TorchScript compares: numbers, strings, tuples, lists and dicts by value, tensors and objects by
// identity. Throws Error(kLimit) for what is nested or shared beyond all reason.
bool equal_keys(const IValue& a, const IValue& b);

inline TensorBox& IValue::tensor_box() const {
  return static_cast<TensorBox&>(*need(Tag::kTensor).data_.box);
}
inline TupleBox& IValue::as_tuple() const { return static_cast<TupleBox&>(*need(Tag::kTuple).data_.box); }
inline ListBox& IValue::as_list() const { return static_cast<ListBox&>(*need(Tag::kList).data_.box); }
inline DictBox& IValue::as_dict() const { return static_cast<DictBox&>(*need(Tag::kDict).data_.box); }
inline ObjectBox& IValue::as_object() const { return static_cast<ObjectBox&>(*need(Tag::kObject).data_.box); }
inline EnumBox& IValue::as_enum() const { return static_cast<EnumBox&>(*need(Tag::kEnum).data_.box); }
inline FutureBox& IValue::as_future() const { return static_cast<FutureBox&>(*need(Tag::kFuture).data_.box); }
inline NativeBox& IValue::as_native() const { return static_cast<NativeBox&>(*need(Tag::kNative).data_.box); }

}  // namespace flambeau::script
