// Dicts, which keep the order of insertion.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/builtins/sequences.h"
#include "flambeau/interpreter/builtins/tensors.h"

namespace flambeau::interpreter {
namespace {

using script::DictBox;
using script::DictItems;
using script::ListBox;

[[noreturn]] void fail_key(Call& call, const IValue& key) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("KeyError: {}", printable(text_of(call, key))));
}

IValue dict_get(Call& call, DictBox& dict, const IValue& key) {
  const IValue* const found = dict.items.find(key);
  if (found == nullptr) fail_key(call, key);
  return *found;
}

IValue dict_get_or(DictBox& dict, const IValue& key, const IValue& otherwise) {
  const IValue* const found = dict.items.find(key);
  return found == nullptr ? otherwise : *found;
}

IValue dict_pop(Call& call, DictBox& dict, const IValue& key) {
  IValue value = dict_get(call, dict, key);
  dict.items.remove(key);
  return value;
}

IValue dict_pop_or(DictBox& dict, const IValue& key, const IValue& otherwise) {
  const IValue* const found = dict.items.find(key);
  if (found == nullptr) return otherwise;
  IValue value = *found;
  dict.items.remove(key);
  return value;
}

// The first one: a quirk of PyTorch's.
IValue first_pair(DictBox& dict) {
  if (dict.items.size() == 0) throw Error(ErrorCode::kInvalidArgument, "popitem(): dictionary is empty");
  DictItems::Entry entry = dict.items.take_first();
  return IValue::tuple({std::move(entry.key), std::move(entry.value)});
}

IValue set_default(DictBox& dict, const IValue& key, const IValue& value) {
  if (const IValue* const found = dict.items.find(key)) return *found;
  dict.items.set(key, value);
  return value;
}

void update(DictBox& dict, DictBox& by) {
  for (DictItems::Entry& entry : by.items.entries())
    dict.items.set(std::move(entry.key), std::move(entry.value));
}

IValue dict_copy(DictBox& dict) {
  IValue copy = IValue::dict(dict.key, dict.value);
  update(copy.as_dict(), dict);
  return copy;
}

IValue keys(DictBox& dict) {
  std::vector<IValue> items;
  for (DictItems::Entry& entry : dict.items.entries()) items.push_back(std::move(entry.key));
  return IValue::list(dict.key, std::move(items));
}

IValue values(DictBox& dict) {
  std::vector<IValue> items;
  for (DictItems::Entry& entry : dict.items.entries()) items.push_back(std::move(entry.value));
  return IValue::list(dict.value, std::move(items));
}

IValue pairs(DictBox& dict) {
  std::vector<IValue> items;
  for (DictItems::Entry& entry : dict.items.entries())
    items.push_back(IValue::tuple({std::move(entry.key), std::move(entry.value)}));
  return IValue::list(Type::tuple({dict.key, dict.value}), std::move(items));
}

IValue from_pairs(ListBox& list) {
  const std::span<const Type> types = list.element.elements();
  if (types.size() != 2) throw Error(ErrorCode::kInvalidArgument, "a dict is made of pairs");
  IValue dict = IValue::dict(types[0], types[1]);
  for (const IValue& pair : list.items) dict.as_dict().items.set(pair.items().at(0), pair.items().at(1));
  return dict;
}

}  // namespace

void define_dicts(Builtins& builtins) {
  const Definer define(builtins);
  for (const std::string kind : {"str", "int", "float", "bool", "complex", "Tensor"}) {
    define("aten::__getitem__.Dict_" + kind, dict_get);
    define("aten::get." + kind, [](DictBox& dict, const IValue& key) { return dict_get_or(dict, key, {}); });
    define("aten::get.default_" + kind, dict_get_or);
    define("aten::__contains__." + kind,
           [](DictBox& dict, const IValue& key) { return dict.items.find(key) != nullptr; });
    define("aten::_set_item." + kind,
           [](DictBox& dict, const IValue& key, const IValue& value) { dict.items.set(key, value); });
    define("aten::setdefault." + kind, set_default);
    define("aten::Delete.Dict_" + kind,
           [](Call& call, DictBox& dict, const IValue& key) { dict_pop(call, dict, key); });
    define("aten::pop.Dict_" + kind, dict_pop);
    define("aten::pop.Dict_default_" + kind, dict_pop_or);
    define("aten::popitem." + kind, first_pair);
    define("aten::clear." + kind, [](DictBox& dict) { dict.items.clear(); });
    define("aten::update." + kind, update);
    define("aten::len.Dict_" + kind, [](DictBox& dict) { return static_cast<int64_t>(dict.items.size()); });
    define("aten::keys." + kind, keys);
    define("aten::values." + kind, values);
    define("aten::items." + kind, pairs);
    define("aten::copy.Dict_" + kind, dict_copy);
    define("aten::dict.Dict_" + kind, dict_copy);
    define("aten::dict." + kind, from_pairs);
  }
  define("aten::dict", [](Call& call) { call.give(IValue::dict(TypeKind::kString, TypeKind::kTensor)); });
}

}  // namespace flambeau::interpreter
