#include "flambeau/interpreter/native_methods.h"

#include <fmt/format.h>

#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/ops/left_out.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::interpreter {
namespace {

constexpr std::string_view kGetState = "__getstate__";
constexpr std::string_view kConstructor = "__init__";

}  // namespace

script::NativeMethods native_methods(std::shared_ptr<const ops::Library> library) {
  return [library = std::move(library)](std::string_view class_name) {
    std::vector<script::NativeMethod> found;
    const ops::ObjectClass* const type = library->find_class(class_name);
    if (type == nullptr) return found;
    for (const ops::ObjectMethod& method : type->methods) {
      script::NativeMethod& made = found.emplace_back();
      made.name = method.name;
      made.result = method.result;
      for (const ops::ObjectMethod::Argument& argument : method.arguments)
        made.arguments.push_back({argument.name, argument.type});
    }
    if (type->state) found.push_back({.name = std::string(kGetState), .result = type->state_type});
    return found;
  };
}

IValue call_native_method(const ops::Library& library, const script::Unit& unit, const std::string& name,
                          std::span<const IValue> arguments) {
  script::NativeBox& box = arguments[0].as_native();
  const std::string class_name = box.object.class_name;
  const ops::ObjectClass* const type = library.find_class(class_name);
  const ops::ObjectMethod* const method = type == nullptr ? nullptr : type->find_method(name);
  const bool is_state = type != nullptr && type->state && name == kGetState;
  if (type == nullptr) ops::check_is_built(class_name);
  if (!is_state && (method == nullptr || !method->function)) {
    throw Error(ErrorCode::kUnsupported, fmt::format("the method '{}' of {} cannot be called",
                                                     printable(name), printable(class_name)));
  }
  const size_t count = is_state ? 0 : method->arguments.size();
  if (arguments.size() != count + 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the method '{}' of {} takes {} arguments, {} are given", printable(name),
                            printable(class_name), count, arguments.size() - 1));
  }
  const bool is_constructor = !is_state && method->name == kConstructor;
  if (!is_constructor && box.object.pointer == nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("an object of {} is used before its __init__ ran", printable(class_name)));
  }
  if (is_state) return native_state(library, box.object);
  std::vector<Value> given;
  for (size_t i = 0; i < count; ++i)
    given.push_back(to_value(arguments[i + 1], script::parse_annotation(method->arguments[i].type, &unit)));
  Value result = method->function(box.object, given);
  if (!is_constructor) return to_ivalue(std::move(result), script::parse_annotation(method->result, &unit));
  box.object.pointer = result.get<Object>().pointer;
  return {};
}

IValue native_from_state(const ops::Library& library, std::string_view class_name, const IValue& state) {
  const ops::ObjectClass* const type = library.find_class(class_name);
  if (type == nullptr || !type->from_state) return {};
  return IValue::native(type->from_state(to_value(state)));
}

IValue native_state(const ops::Library& library, const Object& object) {
  const ops::ObjectClass* const type = library.find_class(object.class_name);
  if (type == nullptr || !type->state) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("nothing says what the state of {} is", printable(object.class_name)),
                "give its class state, from_state and state_type");
  }
  return to_ivalue(type->state(object), script::parse_annotation(type->state_type));
}

}  // namespace flambeau::interpreter
