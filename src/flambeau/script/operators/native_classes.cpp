#include "flambeau/script/operators/native_classes.h"

#include <fmt/format.h>

#include <string>

#include "flambeau/base/error.h"
#include "flambeau/script/backend.h"
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/types/text.h"

namespace flambeau::script {
namespace {

constexpr std::string_view kNativePrefix = "__torch__.torch.classes.";

// Of those that are known to have no methods at all, not even for pickling.
constexpr std::string_view kWithoutMethods = "profiler._RecordFunction";
constexpr std::string_view kHeldAttribute = "capsule";

}  // namespace

bool is_native_class(std::string_view qualified_name) {
  // A namespace of them is none.
  return qualified_name.starts_with(kNativePrefix) &&
         qualified_name.find('.', kNativePrefix.size()) != std::string_view::npos;
}

std::shared_ptr<Class> make_native_class(const Unit& unit, std::string_view qualified_name) {
  auto made = std::make_shared<Class>(ClassKind::kPlain, std::string(qualified_name));
  const std::string_view name = qualified_name.substr(kNativePrefix.size());
  std::vector<NativeMethod> methods;
  if (unit.native_methods()) methods = unit.native_methods()(qualified_name);
  for (const NativeMethod& method : methods) {
    Signature signature;
    signature.name = method.name;
    signature.arguments.push_back({"self", made->type(), {}});
    for (const NativeMethod::Argument& argument : method.arguments)
      signature.arguments.push_back({argument.name, parse_annotation(argument.type), {}});
    signature.returns = {parse_annotation(method.result)};
    made->methods.push_back(
        std::make_shared<Function>(made->qualified_name() + "." + method.name, std::move(signature)));
  }
  if (name == kWithoutMethods) made->attributes.push_back({std::string(kHeldAttribute), TypeKind::kCapsule});
  return made;
}

std::string backend_of(const Class& type) {
  const auto backend_in = [](const Type& held) {
    const bool is_one =
        held.is(TypeKind::kClass) && std::string_view(held.name()).starts_with(kBackendClassPrefix);
    return is_one ? std::string(held.name().substr(kBackendClassPrefix.size())) : std::string();
  };
  std::string found;
  for (const Attribute& attribute : type.attributes) {
    if (found.empty()) found = backend_in(attribute.type);
  }
  const std::shared_ptr<Function>* const setter = type.find_method("__setstate__");
  if (!found.empty() || setter == nullptr) return found;
  // Bytecode does not say what attributes are; its calls are inlined.
  ir::for_each_node((*setter)->graph()->block(), [&](const ir::Node& node) {
    if (node.is(ir::NodeKind::kCreateObject) && found.empty()) found = backend_in(node.output()->type());
  });
  return found;
}

void fail_missing_backend(const std::string& backend) {
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("the module is lowered to the backend '{}', which is not there", printable(backend)),
      "name what runs it: ScriptLoadOptions::backends");
}

bool is_printed_native_class(const Class& native) { return !native.attributes.empty(); }

}  // namespace flambeau::script
