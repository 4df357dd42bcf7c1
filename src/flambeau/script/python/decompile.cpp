#include "flambeau/script/python/decompile.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/script/printer/name_maker.h"
#include "flambeau/script/python/body.h"
#include "flambeau/script/python/file.h"
#include "flambeau/script/python/lines.h"
#include "flambeau/script/python/modules.h"

namespace flambeau::script {

namespace {

// What other definitions may need while Python reads them: bases, default values.
std::string data_class_text(PythonFile& file, const Class& written, const std::string& name) {
  std::string text;
  if (written.kind() == ClassKind::kEnum) {
    text += fmt::format("\n\nclass {}(Enum):\n", name);
    for (const Enumerator& each : written.enumerators) {
      text += python_line(fmt::format("{} = {}", each.name, file.literal(each.value)), 1);
    }
    return text;
  }
  text += fmt::format("\n\nclass {}(NamedTuple):\n", name);
  for (const Attribute& field : written.attributes) {
    text += python_line(fmt::format("{}: {}", field.name, file.annotation(field.type)), 1);
  }
  if (written.attributes.empty()) text += "    pass\n";
  return text;
}

std::string plain_class_text(PythonFile& file, const Class& written, const std::string& name) {
  std::string text = fmt::format("\n\nclass {}:\n", name);
  for (const ClassConstant& constant : written.constants) {
    text += python_line(fmt::format("{} = {}", constant.name, file.literal(constant.value)), 1);
  }
  for (const std::shared_ptr<Function>& method : written.methods) {
    if (!text.ends_with(":\n")) text += "\n";
    text += PythonBody(file).write(*method, method->name(), 1);
  }
  if (text.ends_with(":\n")) text += "    pass\n";
  return text;
}

}  // namespace

std::string decompile(const Unit& unit, const IValue& module, const NativeState& native_state) {
  if (!module.is(IValue::Tag::kObject) || !module.as_object().type->is_module()) {
    throw Error(ErrorCode::kInvalidArgument, "only modules can be written as Python");
  }
  PythonFile file(unit, native_state);
  PythonModules modules(file, module);
  modules.look();
  const std::string module_classes = modules.write();
  // Each may name more of them.
  std::string data;
  std::string others;
  for (size_t i = 0, k = 0; i < file.classes().size() || k < file.functions().size();) {
    if (i < file.classes().size()) {
      const std::string qualified = file.classes()[i++];
      const Class& written = unit.get_class(qualified);
      const std::string name = file.class_name(qualified);
      const bool is_data = written.kind() == ClassKind::kEnum || written.kind() == ClassKind::kNamedTuple;
      (is_data ? data : others) +=
          is_data ? data_class_text(file, written, name) : plain_class_text(file, written, name);
      continue;
    }
    const std::string qualified = file.functions()[k++];
    const std::string name = file.function_name(qualified);
    others += "\n\n" + PythonBody(file).write(unit.get_function(qualified), name, 0);
  }
  std::string text = fmt::format("\"\"\"{}, from TorchScript.\n\n    model = {}()\n", modules.root_name(),
                                 modules.root_name());
  if (modules.has_tensors()) text += "    model.load_state_dict(torch.load(\"weights.pt\"))\n";
  return text + "\"\"\"\n\n" + file.head() + data + others + module_classes + file.constants();
}

}  // namespace flambeau::script
