// Tuples, enums, objects, futures: what scripts do with values of any kind.
#include <functional>

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/builtins/sequences.h"
#include "flambeau/interpreter/builtins/tensors.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/interpreter/traceback.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/types/text.h"

namespace flambeau::interpreter {
namespace {

using script::EnumBox;
using script::FutureBox;
using Tag = IValue::Tag;

IValue tuple_at(const IValue& tuple, int64_t index) {
  const std::vector<IValue>& items = tuple.as_tuple().items;
  const int64_t place = place_of(index, items.size());
  if (place < 0 || place >= static_cast<int64_t>(items.size()))
    throw Error(ErrorCode::kInvalidArgument, "Tuple list index out of range");
  return items[static_cast<size_t>(place)];
}

IValue submodule(const IValue& module, const std::string& name) {
  const script::ObjectBox& object = module.as_object();
  const std::optional<size_t> slot = object.type->find_attribute(name);
  if (!slot || *slot >= object.slots.size()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} has no submodule '{}'", printable(object.type->qualified_name()), printable(name)));
  }
  return object.slots[*slot];
}

IValue waited(FutureBox& future) {
  if (future.make) {
    // It is taken away first, so that a result which waits for itself finds nothing to run.
    const std::function<IValue()> make = std::exchange(future.make, nullptr);
    try {
      future.value = make();
    } catch (const Error&) {
      future.error = std::current_exception();
    }
  }
  if (future.error) std::rethrow_exception(future.error);
  return future.value;
}

// As the standard library hashes what it knows; others by their identity.
int64_t hash_value(const IValue& value) {
  switch (value.tag()) {
    case Tag::kInt:
      return static_cast<int64_t>(std::hash<int64_t>()(value.as_int()));
    case Tag::kFloat:
      return static_cast<int64_t>(std::hash<double>()(value.as_float()));
    case Tag::kBool:
      return int64_t{value.as_bool()};
    case Tag::kString:
      return static_cast<int64_t>(std::hash<std::string>()(value.as_string()));
    case Tag::kNone:
      return 0;
    case Tag::kTensor:
    case Tag::kObject:
      return static_cast<int64_t>(reinterpret_cast<intptr_t>(value.identity()));
    case Tag::kList:
    case Tag::kDict:
    case Tag::kFuture:
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("unhashable type: '{}'",
                              printable(script::annotation_text(script::runtime_type(value)))));
    case Tag::kTuple: {
      uint64_t all = 0x9e3779b97f4a7c15;
      for (const IValue& item : value.items()) all = all * 31 + static_cast<uint64_t>(hash_value(item));
      return static_cast<int64_t>(all);
    }
    default:
      return static_cast<int64_t>(script::hash_of(value));
  }
}

void define_devices(const Definer& define) {
  define("aten::device", [](const std::string& text) {
    const std::optional<Device> device = parse_device(text);
    if (!device || device->type == DeviceType::kOther)
      throw Error(ErrorCode::kInvalidArgument, fmt::format("Invalid device string: '{}'", printable(text)));
    return *device;
  });
  define("aten::device.with_index", [](const std::string& type, int64_t index) {
    std::optional<Device> device = parse_device(type);
    if (!device || device->index != -1 || index < -1 || index > INT16_MAX) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("no device of type '{}' has the index {}", printable(type), index));
    }
    device->index = static_cast<int16_t>(index);
    return *device;
  });
  define("prim::type", [](Device device) {
    device.index = -1;
    return device.to_string();
  });
  define("prim::index",
         [](Device device) { return device.index < 0 ? IValue() : IValue(int64_t{device.index}); });
}

void define_futures(const Definer& define) {
  define("aten::wait", waited);
  define("prim::awaitable_wait", waited);
  define("prim::awaitable_nowait", [](const IValue& value) {
    auto* const box = new FutureBox(TypeKind::kAny, {});
    IValue made = IValue::adopt(box);
    box->is_await = true;
    box->value = value;
    return made;
  });
}

}  // namespace

void define_values(Builtins& builtins) {
  const Definer define(builtins);
  define_devices(define);
  define_futures(define);
  define("prim::TupleIndex", tuple_at);
  define("prim::TupleUnpack", [](Call& call) {
    for (const IValue& item : call[0].as_tuple().items) call.give(item);
  });
  define("prim::EnumName", [](EnumBox& value) { return value.name; });
  define({"prim::EnumValue.int", "prim::EnumValue.float", "prim::EnumValue.str"},
         [](EnumBox& value) { return value.value; });
  define("prim::ModuleContainerIndex.list",
         [](const IValue& module, int64_t index) { return submodule(module, std::to_string(index)); });
  define("prim::ModuleContainerIndex.dict",
         [](const IValue& module, const std::string& name) { return submodule(module, name); });
  define({"prim::unchecked_cast", "prim::unchecked_unwrap_optional"},
         [](const IValue& value) { return value; });
  define("prim::Uninitialized", [](Call& call) { call.give(IValue::uninitialized()); });
  define("prim::IfThenElse",
         [](bool condition, const IValue& a, const IValue& b) { return condition ? a : b; });
  define("aten::_unwrap_optional", [](const IValue& value) {
    if (value.is_none()) throw Error(ErrorCode::kInvalidArgument, "Unwrapping null optional");
    return value;
  });
  define("prim::RaiseException", [](Call& call) {
    const bool has_class = call.size() > 1 && !call[1].is_none();
    throw RaisedError(call[0].as_string(), has_class ? call[1].as_string() : std::string());
  });
  define("prim::id", [](const IValue& value) {
    return static_cast<int64_t>(reinterpret_cast<intptr_t>(value.identity()));
  });
  define("aten::hash.generic", hash_value);
  define("aten::_pack_sequence", [](Call& call) {
    for (size_t i = 0; i < call.size(); ++i) call.give(call[i]);
  });
}

}  // namespace flambeau::interpreter
