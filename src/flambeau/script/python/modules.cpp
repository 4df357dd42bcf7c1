#include "flambeau/script/python/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/script/printer/name_maker.h"
#include "flambeau/script/python/body.h"
#include "flambeau/script/python/lines.h"

namespace flambeau::script {

namespace {

constexpr int kMostModuleDepth = 200;

bool is_child(const IValue& value) {
  return value.is(IValue::Tag::kObject) && value.as_object().type->is_module();
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<bool> is_training(const ObjectBox& module) {
  const std::optional<size_t> slot = module.type->find_attribute("training");
  if (!slot || !module.slots[*slot].is(IValue::Tag::kBool)) return {};
  return module.slots[*slot].as_bool();
}

std::string sizes_of(std::span<const int64_t> numbers) {
  std::string text;
  for (const int64_t number : numbers) text += fmt::format("{}{}", text.empty() ? "" : ", ", number);
  return text;
}

}  // namespace

void PythonModules::visit(const ObjectBox& module, int depth) {
  if (depth > kMostModuleDepth) throw Error(ErrorCode::kLimit, "modules are nested too deep");
  if (!seen_.insert(&module).second) return;
  all_.push_back(&module);
  for (const IValue& value : module.slots) {
    if (is_child(value)) visit(value.as_object(), depth + 1);
  }
}

void PythonModules::look() {
  visit(root_.as_object(), 0);
  std::vector<std::shared_ptr<const Class>> classes;
  std::unordered_set<const Class*> known;
  for (const ObjectBox* module : all_) {
    if (known.insert(module->type.get()).second) classes.push_back(module->type);
  }
  file_.look(classes);
  // All modules of a class are that layer, or none is: code says nothing of single ones.
  std::unordered_set<const Class*> others;
  if (has_methods_of_its_own(*root_.as_object().type)) others.insert(root_.as_object().type.get());
  for (const ObjectBox* module : all_) {
    if (others.contains(module->type.get()) || container_of(*module) != PythonContainer::kNone) continue;
    if (std::optional<std::string> text = layer_text(file_, *module)) {
      layers_[module] = *std::move(text);
    } else {
      others.insert(module->type.get());
    }
  }
  for (const ObjectBox* module : all_) {
    if (others.contains(module->type.get())) {
      layers_.erase(module);
    } else {
      file_.add_layer(module->type->qualified_name());
    }
  }
}

std::string PythonModules::write() {
  const ObjectBox& root = root_.as_object();
  if (!file_.is_layer(root.type->qualified_name())) {
    root_name_ = class_text(root, "self", 0);
    return text_;
  }
  // A layer is the base of its class: "class Linear(nn.Linear)".
  root_name_ = file_.new_name(python_class_name(root.type->qualified_name()));
  const std::string made = construct(root, "self", 0);
  const size_t bracket = made.find('(');
  text_ += fmt::format("\n\nclass {}({}):\n    def __init__(self):\n", root_name_, made.substr(0, bracket));
  text_ += python_line("super().__init__" + made.substr(bracket), 2);
  if (!is_training(root).value_or(true)) text_ += python_line("self.eval()", 2);
  for (const std::string& line : last_lines_) text_ += python_line(line, 2);
  return text_;
}

std::string PythonModules::child_path(const ObjectBox& module, const std::string& path,
                                      const std::string& name) const {
  const bool is_container = file_.is_layer(module.type->qualified_name());
  if (is_container && is_digits(name)) return fmt::format("{}[{}]", path, name);
  if (is_container) return fmt::format("{}[{}]", path, python_quoted(name));
  if (is_identifier(name)) return path + "." + name;
  return fmt::format("getattr({}, {})", path, python_quoted(name));
}

std::string PythonModules::construct(const ObjectBox& module, const std::string& path, int depth) {
  if (depth > kMostModuleDepth) throw Error(ErrorCode::kLimit, "modules are nested too deep");
  const auto [known, is_new] = paths_.try_emplace(&module, path);
  if (!is_new) {
    last_lines_.push_back(fmt::format("{} = {}", path, known->second));
    return "nn.Identity()";  // until then
  }
  note_training(module, path);
  if (const auto layer = layers_.find(&module); layer != layers_.end()) {
    note_tensors(module, path);
    return layer->second;
  }
  const PythonContainer kind = container_of(module);
  if (kind != PythonContainer::kNone && file_.is_layer(module.type->qualified_name())) {
    return container_text(module, kind, path, depth);
  }
  return class_text(module, path, depth) + "()";
}

std::string PythonModules::container_text(const ObjectBox& module, PythonContainer kind,
                                          const std::string& path, int depth) {
  std::string items;
  for (size_t i = 0; i < module.slots.size(); ++i) {
    const Attribute& attribute = module.type->attributes.at(i);
    if (is_of_every_module(attribute)) continue;
    if (!items.empty()) items += ", ";
    if (kind == PythonContainer::kModuleDict) items += python_quoted(attribute.name) + ": ";
    items += construct(module.slots[i].as_object(), child_path(module, path, attribute.name), depth + 1);
  }
  switch (kind) {
    case PythonContainer::kModuleList:
      return "nn.ModuleList([" + items + "])";
    case PythonContainer::kModuleDict:
      return "nn.ModuleDict({" + items + "})";
    default:
      return "nn.Sequential(" + items + ")";
  }
}

const std::string& PythonModules::methods_text(const Class& type) {
  const auto [found, is_new] = methods_.try_emplace(&type);
  if (!is_new) return found->second;
  std::string text;
  std::unordered_set<const Function*> seen;
  for (const auto* list : {&type.methods, &type.forward_hooks, &type.forward_pre_hooks}) {
    for (const std::shared_ptr<Function>& method : *list) {
      // What scripts keep of themselves in files is nothing to Python's pickle.
      const bool is_state = method->name() == "__getstate__" || method->name() == "__setstate__";
      if (is_state || !seen.insert(method.get()).second) continue;
      text += "\n" + PythonBody(file_).write(*method, method->name(), 1);
    }
  }
  return methods_[&type] = std::move(text);
}

// Modules that are the same share a class; those that differ in what they hold share the methods.
std::string PythonModules::class_text(const ObjectBox& module, const std::string& path, int depth) {
  paths_.try_emplace(&module, path);
  const bool is_root = &module == &root_.as_object();
  const std::string wanted = python_class_name(module.type->qualified_name());
  const std::string name = is_root ? file_.new_name(wanted) : std::string();  // the root has the best name
  std::string init;
  for (const std::string& line : init_lines(module, path, depth)) init += python_line(line, 2);
  if (is_root) {
    for (const std::string& line : last_lines_) init += python_line(line, 2);
  }
  const std::string& methods = methods_text(*module.type);
  std::string& same = written_[{wanted, methods, init}];
  if (!same.empty() && !is_root) return same;
  const auto base = bases_.find({wanted, methods});
  same = is_root ? name : file_.new_name(wanted);
  const bool is_derived = base != bases_.end() && !methods.empty();
  text_ += fmt::format("\n\nclass {}({}):\n", same, is_derived ? base->second : "nn.Module");
  text_ += "    def __init__(self):\n";
  text_ += is_derived ? "        nn.Module.__init__(self)\n" : "        super().__init__()\n";
  text_ += init;
  if (!is_derived) {
    text_ += methods;
    bases_[{wanted, methods}] = same;
  }
  return same;
}

std::vector<std::string> PythonModules::init_lines(const ObjectBox& module, const std::string& path,
                                                   int depth) {
  std::vector<std::string> lines;
  const Class& type = *module.type;
  for (const ClassConstant& constant : type.constants) {
    if (is_identifier(constant.name) && !type.find_attribute(constant.name)) {
      lines.push_back(fmt::format("self.{} = {}", constant.name, file_.literal(constant.value)));
    }
  }
  for (size_t i = 0; i < module.slots.size(); ++i) {
    const Attribute& attribute = type.attributes.at(i);
    if (attribute.name == "training" || (is_of_every_module(attribute) && module.slots[i].is_none())) {
      continue;
    }
    lines.push_back(slot_line(attribute, module.slots[i], path, depth));
  }
  note_tensors(module, path);
  if (&module != &root_.as_object()) return lines;
  for (const auto& hook : type.forward_pre_hooks) {
    lines.push_back(
        fmt::format("self.register_forward_pre_hook(lambda module, given: module.{}(given))", hook->name()));
  }
  for (const auto& hook : type.forward_hooks) {
    lines.push_back(fmt::format(
        "self.register_forward_hook(lambda module, given, output: module.{}(given, output))", hook->name()));
  }
  if (!is_training(module).value_or(true)) last_lines_.insert(last_lines_.begin(), "self.eval()");
  return lines;
}

std::string PythonModules::slot_line(const Attribute& attribute, const IValue& value, const std::string& path,
                                     int depth) {
  const std::string quoted = python_quoted(attribute.name);
  const bool is_name = is_identifier(attribute.name);
  if (is_child(value)) {
    const std::string below =
        is_name ? path + "." + attribute.name : fmt::format("getattr({}, {})", path, quoted);
    const std::string made = construct(value.as_object(), below, depth + 1);
    return is_name ? fmt::format("self.{} = {}", attribute.name, made)
                   : fmt::format("self.add_module({}, {})", quoted, made);
  }
  const bool is_none = value.is_none();
  const bool is_tensor = value.is(IValue::Tag::kTensor) && value.as_tensor().defined();
  if (attribute.is_parameter && (is_tensor || is_none)) {
    if (is_none) return fmt::format("self.register_parameter({}, None)", quoted);
    const Tensor& tensor = value.as_tensor();
    return fmt::format("self.register_parameter({}, nn.Parameter({}{}))", quoted, placeholder(tensor),
                       tensor.requires_grad() ? "" : ", requires_grad=False");
  }
  if (attribute.is_buffer && (is_tensor || is_none)) {
    return fmt::format("self.register_buffer({}, {})", quoted,
                       is_none ? "None" : placeholder(value.as_tensor()));
  }
  // Code may change it in place; the constant is everybody's.
  const std::string text = file_.literal(value) + (is_tensor ? ".clone()" : "");
  return is_name ? fmt::format("self.{} = {}", attribute.name, text)
                 : fmt::format("setattr(self, {}, {})", quoted, text);
}

// A tensor whose values the state dict brings.
std::string PythonModules::placeholder(const Tensor& tensor) {
  if (tensor.layout() != Layout::kStrided || tensor.quantizer() != nullptr || tensor.is_meta()) {
    return file_.literal(tensor);
  }
  const std::string sizes = sizes_of(tensor.sizes());
  const std::string dtype = tensor.dtype() == DType::kFloat32
                                ? ""
                                : ", dtype=" + PythonFile::dtype_text(static_cast<int64_t>(tensor.dtype()));
  if (tensor.is_contiguous()) return fmt::format("torch.empty([{}]{})", sizes, dtype);
  return fmt::format("torch.empty_strided([{}], [{}]{})", sizes, sizes_of(tensor.strides()), dtype);
}

// Tensors that several modules have stay one tensor.
void PythonModules::note_tensors(const ObjectBox& module, const std::string& path) {
  for (size_t i = 0; i < module.slots.size(); ++i) {
    const Attribute& attribute = module.type->attributes.at(i);
    if (!module.slots[i].is(IValue::Tag::kTensor) || !(attribute.is_parameter || attribute.is_buffer))
      continue;
    const Tensor& tensor = module.slots[i].as_tensor();
    if (!tensor.defined() || tensor.storage() == nullptr || tensor.element_count() == 0 || tensor.is_meta())
      continue;
    const std::string shape = sizes_of(tensor.sizes()) + ";" + sizes_of(tensor.strides());
    const std::string here = is_identifier(attribute.name)
                                 ? path + "." + attribute.name
                                 : fmt::format("getattr({}, {})", path, python_quoted(attribute.name));
    const auto [known, is_new] = tensors_.try_emplace({tensor.storage().get(), tensor.offset(), shape}, here);
    if (!is_new && is_identifier(attribute.name))
      last_lines_.push_back(fmt::format("{} = {}", here, known->second));
  }
}

void PythonModules::note_training(const ObjectBox& module, const std::string& path) {
  const std::optional<bool> own = is_training(module);
  const bool whole = is_training(root_.as_object()).value_or(true);
  if (own && *own != whole)
    last_lines_.push_back(fmt::format("{}.training = {}", path, *own ? "True" : "False"));
}

}  // namespace flambeau::script
