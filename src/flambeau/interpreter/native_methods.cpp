#include "flambeau/interpreter/native_methods.h"

#include <fmt/format.h>

#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/ops/left_out.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::interpreter {
namespace {

constexpr std::string_view kGetState = "__getstate__";
constexpr std::string_view kConstructor = "__init__";

// What every backend has, by PyTorch's interface of backends.
std::vector<script::NativeMethod> backend_methods() {
  return {
      {.name = std::string(kConstructor), .result = "NoneType", .arguments = {}},
      {.name = "is_available", .result = "bool", .arguments = {}},
      {.name = "compile",
       .result = "Dict[str, Any]",
       .arguments = {{"processed", "Any"}, {"method_compile_spec", "Dict[str, Any]"}}},
      {.name = "execute", .result = "List[Any]", .arguments = {{"handle", "Any"}, {"input", "List[Any]"}}}};
}

IValue call_backend(const script::Backends* backends, const std::string& name,
                    std::span<const IValue> arguments) {
  script::NativeBox& box = arguments[0].as_native();
  const std::string_view called =
      std::string_view(box.object.class_name).substr(script::kBackendClassPrefix.size());
  if (backends == nullptr || backends->find(called) == backends->end())
    script::fail_missing_backend(std::string(called));
  const std::shared_ptr<script::Backend>& backend = backends->find(called)->second;
  const auto require = [&](size_t count) {
    if (arguments.size() == count + 1) return;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the method '{}' of a backend takes {} arguments, {} are given", printable(name),
                            count, arguments.size() - 1));
  };
  if (name == kConstructor) {
    require(0);
    box.object.pointer = backend;
    return {};
  }
  if (name == "is_available") {
    require(0);
    return backend->is_available();
  }
  if (name == "compile") {
    require(2);
    IValue handles = backend->compile(arguments[1], arguments[2]);
    if (handles.is(IValue::Tag::kDict)) return handles;
    throw Error(ErrorCode::kInvalidArgument, fmt::format("the backend '{}' gave no dict of handles, but {}",
                                                         printable(called), handles.kind_name()));
  }
  if (name == "execute") {
    require(2);
    return IValue::list(TypeKind::kAny, backend->execute(arguments[1], arguments[2].items()));
  }
  throw Error(ErrorCode::kUnsupported, fmt::format("backends have no method '{}'", printable(name)));
}

}  // namespace

script::NativeMethods native_methods(std::shared_ptr<const ops::Library> library) {
  return [library = std::move(library)](std::string_view class_name) {
    std::vector<script::NativeMethod> found;
    const ops::ObjectClass* const type = library->find_class(class_name);
    if (type == nullptr)
      return class_name.starts_with(script::kBackendClassPrefix) ? backend_methods() : found;
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
                          std::span<const IValue> arguments, const script::Backends* backends) {
  script::NativeBox& box = arguments[0].as_native();
  const std::string class_name = box.object.class_name;
  const ops::ObjectClass* const type = library.find_class(class_name);
  if (type == nullptr && class_name.starts_with(script::kBackendClassPrefix))
    return call_backend(backends, name, arguments);
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
