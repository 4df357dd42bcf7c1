#include "flambeau/script/compiler/text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "flambeau/script/compiler/classes.h"
#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/compiler/names.h"
#include "flambeau/script/compiler/type_reader.h"
#include "flambeau/script/operators/functional_texts.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/operators/python_names.h"
#include "flambeau/script/syntax/diagnostics.h"
#include "flambeau/script/syntax/failure.h"
#include "flambeau/script/syntax/parser.h"
#include "flambeau/script/types/runtime_type.h"

namespace flambeau::script::compiler {
namespace {

using syntax::fail_at;
using syntax::Kind;

class TextNames : public OuterNames {
 public:
  TextNames(Unit& unit, std::string prefix, bool is_library)
      : unit_(unit), prefix_(std::move(prefix)), is_library_(is_library) {}

  std::optional<Meaning> find(Emitter& emitter, std::string_view name,
                              const SourceRange& place) const override {
    if (is_library_) {
      if (name == "torch") return Meaning::of(Meaning::Kind::kTorch);
      return std::nullopt;
    }
    if (const auto found = constants_.find(name); found != constants_.end())
      return Meaning::of(insert_constant(emitter.graph(), found->second.value, found->second.type, place));
    if (std::shared_ptr<Function> found = unit_.find_function(full_name(name)))
      return Meaning::of(std::move(found));
    if (std::shared_ptr<Class> found = find_class(name)) {
      const ClassKind kind = found->kind();
      return Meaning::of(kind == ClassKind::kNamedTuple ? Meaning::Kind::kNamedTuple
                         : kind == ClassKind::kEnum     ? Meaning::Kind::kEnum
                                                        : Meaning::Kind::kClass,
                         std::move(found));
    }
    if (const auto found = imports_.find(name); found != imports_.end())
      return imported(emitter, found->second, place);
    if (is_python_module(name)) return Meaning::of(Meaning::Kind::kPython, std::string(name));
    if (name == "F") return Meaning::of(Meaning::Kind::kPython, "torch.nn.functional");
    if (name == "nn") return Meaning::of(Meaning::Kind::kPython, "torch.nn");
    // Python's exceptions are known by their names alone.
    if (name.ends_with("Error") || name == "Exception") {
      return Meaning::of(Meaning::Kind::kException, "builtins." + std::string(name));
    }
    return std::nullopt;
  }

  std::shared_ptr<Class> find_class(std::string_view name) const override {
    if (is_library_) return nullptr;
    if (is_native_class(name) && unit_.find_class(name) == nullptr) unit_.add(make_native_class(unit_, name));
    if (std::shared_ptr<Class> found = unit_.find_class(full_name(name))) return found;
    return prefix_.empty() ? nullptr : unit_.find_class(name);
  }

  std::shared_ptr<Function> find_function(std::string_view name) const override {
    return is_library_ ? nullptr : unit_.find_function(name);
  }

  IValue constant(std::string_view name, const SourceRange& range) const override {
    fail_at(range, "text that is no archive's has no constant '" + printable(name) + "'");
  }
  std::optional<int64_t> version() const override { return std::nullopt; }
  bool uses_scripted_operators() const override { return !is_library_; }
  std::string without_aliases(std::string name) const override {
    const size_t dot = std::min(name.find('.'), name.size());
    const auto found = imports_.find(name.substr(0, dot));
    if (found != imports_.end()) return found->second + name.substr(dot);
    if (name.starts_with("nn.")) return "torch." + name;
    return name;
  }
  std::vector<std::string> suggestions() const override { return known_; }
  syntax::Diagnostics* diagnostics() const override { return errors_; }

  void set_diagnostics(syntax::Diagnostics* errors) { errors_ = errors; }
  void add_known(const std::string& name) { known_.push_back(name); }
  void add_imports(const syntax::Tree& tree) {
    for (const auto& [name, meant] : tree.imports) {
      imports_.insert_or_assign(name, meant);
      known_.push_back(name);
    }
  }
  // NAME = value, NAME : Final[T] = value
  void add_constant(const syntax::Tree& tree, const syntax::Node& statement) {
    const syntax::Node* type = statement.maybe(0);
    if (!statement.is(Kind::kAssign) || statement.children.size() != 3 || statement.maybe(1) == nullptr ||
        !statement.child(2).is(Kind::kName)) {
      fail_at(tree.range(statement), ErrorCode::kUnsupported,
              "outside of functions stand classes, functions and constants alone",
              "a constant is written as NAME = value");
    }
    if (type != nullptr && type->is(Kind::kSubscript) && dotted_name(type->child(0)).ends_with("Final"))
      type = type->maybe(1);
    const Type wanted = type != nullptr ? read_type(unit_, *this, tree, *type) : Type(TypeKind::kAny);
    IValue value = read_constant(unit_, *this, tree, statement.child(1), wanted);
    Type of = type != nullptr ? wanted : runtime_type(value);
    constants_.insert_or_assign(statement.child(2).text, TextConstant{std::move(value), std::move(of)});
    known_.push_back(statement.child(2).text);
  }

 private:
  struct TextConstant {
    IValue value;
    Type type;
  };
  Meaning imported(Emitter& emitter, const std::string& meant, const SourceRange& place) const {
    if (is_python_module(meant)) return Meaning::of(Meaning::Kind::kPython, meant);
    const size_t dot = meant.rfind('.');
    if (dot != std::string::npos && is_python_module(meant.substr(0, dot)))
      return emitter.python_name(meant.substr(0, dot), meant.substr(dot + 1), place);
    fail_at(
        place, ErrorCode::kUnsupported,
        "scripts cannot use Python's '" + printable(meant) + "': of modules they know torch and math alone");
  }
  std::string full_name(std::string_view name) const {
    return prefix_.empty() ? std::string(name) : prefix_ + "." + std::string(name);
  }
  Unit& unit_;
  std::string prefix_;
  bool is_library_;
  syntax::Diagnostics* errors_ = nullptr;
  std::map<std::string, std::string, std::less<>> imports_;
  std::map<std::string, TextConstant, std::less<>> constants_;
  std::vector<std::string> known_;  // for suggestions
};

using Functions = std::vector<std::shared_ptr<Function>>;

// Gathers errors for as long as it lives: the unit keeps the names.
class Gathering {
 public:
  Gathering(TextNames& names, syntax::Diagnostics& errors) : names_(names) {
    names_.set_diagnostics(&errors);
  }
  ~Gathering() { names_.set_diagnostics(nullptr); }
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

 private:
  TextNames& names_;
};

template <typename Step>
void add_error_of(syntax::Diagnostics& errors, const SourceRange& place, const Step& step) {
  try {
    step();
  } catch (const Error& error) {
    errors.add(error, place);
  }
}

void refuse_decorators(const syntax::Tree& tree, const syntax::Node& definition, size_t first) {
  for (size_t i = first; i < definition.children.size(); ++i) {
    const syntax::Node& decorator = definition.child(i);
    const std::string name = dotted_name(decorator.is(Kind::kCall) ? decorator.child(0) : decorator);
    if (name == "staticmethod" || name == "property" || name.ends_with(".setter") ||
        name.starts_with("torch.jit.")) {
      continue;
    }
    fail_at(tree.range(decorator), ErrorCode::kUnsupported,
            "scripts have no decorator '" + printable(name) + "'", "take it away");
  }
}

// Every module has one.
void add_training_flag(Class& type) {
  if (!type.is_module() || type.find_attribute("training")) return;
  Attribute training{"training", TypeKind::kBool};
  training.default_value = true;
  type.attributes.insert(type.attributes.begin(), std::move(training));
  type.names_changed();
}

// Of all functions and methods. What a class has is known when its __init__ is compiled.
void compile_all(const Functions& functions, std::span<const std::shared_ptr<Class>> classes,
                 syntax::Diagnostics& errors) {
  const auto compile = [&](const std::shared_ptr<Function>& function) {
    add_error_of(errors, {}, [&] { function->graph(); });
  };
  for (const bool is_init : {true, false}) {
    for (const std::shared_ptr<Class>& type : classes) {
      if (type->is_interface()) continue;
      // Compiling adds no methods.
      for (const std::shared_ptr<Function>& method : type->methods) {
        if ((method->name() == "__init__") == is_init) compile(method);
      }
      for (const auto* hooks : {&type->forward_hooks, &type->forward_pre_hooks}) {
        for (const std::shared_ptr<Function>& hook : *hooks) {
          if (!is_init) compile(hook);
        }
      }
    }
  }
  for (const std::shared_ptr<Function>& function : functions) compile(function);
}

}  // namespace

Functions compile_text(Unit& unit, const std::shared_ptr<const Source>& source, const std::string& prefix) {
  syntax::Diagnostics errors;
  const std::shared_ptr<const syntax::Tree> tree = syntax::parse_text(source, false, errors);
  errors.throw_if_any();
  const auto names = std::make_shared<TextNames>(unit, prefix, false);
  const Gathering gathering(*names, errors);
  names->add_imports(*tree);
  for (const std::shared_ptr<Function>& known : unit.functions())
    names->add_known(std::string(known->name()));
  for (const syntax::Node* node : tree->definitions) {
    if (!node->is(Kind::kAssign)) names->add_known(node->text);
  }
  Functions functions;
  const size_t known_classes = unit.classes().size();
  const size_t known_functions = unit.functions().size();
  for (const syntax::Node* node : tree->definitions) {
    add_error_of(errors, tree->range(*node), [&] {
      const std::string full = prefix.empty() ? node->text : prefix + "." + node->text;
      if (node->is(Kind::kClass)) {
        refuse_decorators(*tree, *node, 2);
        define_class(unit, names, tree, *node, full);
        add_training_flag(unit.get_class(full));
      } else if (node->is(Kind::kDefinition)) {
        refuse_decorators(*tree, *node, 3);
        functions.push_back(make_function(unit, names, tree, *node, full, nullptr));
        unit.add(functions.back());
      } else {
        names->add_constant(*tree, *node);
      }
    });
  }
  // Copies: compiling may add to the unit.
  const std::vector<std::shared_ptr<Class>> classes(
      unit.classes().begin() + static_cast<ptrdiff_t>(known_classes), unit.classes().end());
  const Functions all(unit.functions().begin() + static_cast<ptrdiff_t>(known_functions),
                      unit.functions().end());
  try {
    compile_all(all, classes, errors);
    errors.throw_if_any();
  } catch (...) {
    unit.keep_first(known_classes, known_functions);
    throw;
  }
  return functions;
}

Functions compile_methods(Unit& unit, const std::shared_ptr<const Source>& source,
                          const std::shared_ptr<Class>& self, const std::string& prefix) {
  syntax::Diagnostics errors;
  const std::shared_ptr<const syntax::Tree> tree = syntax::parse_text(source, true, errors);
  errors.throw_if_any();
  const auto names = std::make_shared<TextNames>(unit, prefix, false);
  const Gathering gathering(*names, errors);
  names->add_imports(*tree);
  const size_t known_methods = self->methods.size();
  Functions methods;
  for (const syntax::Node* node : tree->definitions) {
    add_error_of(errors, tree->range(*node), [&] {
      if (node->is(Kind::kAssign)) return names->add_constant(*tree, *node);
      if (node->is(Kind::kClass))
        fail_at(tree->range(*node), ErrorCode::kInvalidArgument, "a method is a function, no class");
      refuse_decorators(*tree, *node, 3);
      if (self->find_method(node->text) != nullptr || self->find_attribute(node->text)) {
        fail_at(tree->range(*node), ErrorCode::kInvalidArgument,
                "the class has something of the name '" + printable(node->text) + "' already");
      }
      methods.push_back(
          make_function(unit, names, tree, *node, self->qualified_name() + "." + node->text, self));
      self->methods.push_back(methods.back());
    });
  }
  try {
    compile_all(methods, {}, errors);
    errors.throw_if_any();
  } catch (...) {
    // The class is as it was.
    self->methods.resize(known_methods);
    self->names_changed();
    throw;
  }
  return methods;
}

std::vector<std::shared_ptr<Function>> define_text(Unit& unit, const std::shared_ptr<const Source>& source,
                                                   const std::string& prefix) {
  const std::shared_ptr<const syntax::Tree> tree = syntax::parse_file(source);
  const auto names = std::make_shared<TextNames>(unit, prefix, false);
  std::vector<std::shared_ptr<Function>> functions;
  for (const syntax::Node* node : tree->definitions) {
    const std::string full = prefix.empty() ? node->text : prefix + "." + node->text;
    if (node->is(Kind::kClass)) {
      define_class(unit, names, tree, *node, full);
    } else {
      functions.push_back(make_function(unit, names, tree, *node, full, nullptr));
      unit.add(functions.back());
    }
  }
  return functions;
}

std::shared_ptr<Function> functional_function(Unit& unit, const std::string& name) {
  const std::string prefix(kFunctionalPrefix);
  const std::string full = prefix + "." + name;
  std::shared_ptr<Function> found = unit.find_function(full);
  if (found == nullptr) {
    const auto source = std::make_shared<Source>(std::string(functional_text()), "torch/nn/functional.py");
    define_text(unit, source, prefix);
    found = unit.find_function(full);
  }
  return found;
}

Type read_type_text(Unit& unit, std::string_view text, const std::string& prefix) {
  const auto source = std::make_shared<Source>(std::string(text), std::string());
  const std::shared_ptr<const syntax::Tree> tree = syntax::parse_expression(source);
  return read_type(unit, TextNames(unit, prefix, false), *tree, *tree->definitions.at(0));
}

std::vector<std::shared_ptr<Function>> define_methods(Unit& unit, const std::shared_ptr<const Source>& source,
                                                      const std::shared_ptr<Class>& self) {
  const std::shared_ptr<const syntax::Tree> tree = syntax::parse_methods(source);
  const auto names = std::make_shared<TextNames>(unit, std::string(), false);
  std::vector<std::shared_ptr<Function>> methods;
  for (const syntax::Node* node : tree->definitions) {
    if (node->is(Kind::kClass)) fail_at(tree->range(*node), "a method is a function, no class");
    if (self->find_method(node->text) != nullptr)
      fail_at(tree->range(*node), "the class has a method of this name");
    methods.push_back(
        make_function(unit, names, tree, *node, self->qualified_name() + "." + node->text, self));
    self->methods.push_back(methods.back());
  }
  return methods;
}

std::shared_ptr<Function> compile_library_function(Unit& unit, std::string_view text) {
  const auto source = std::make_shared<Source>(std::string(text), std::string());
  const std::shared_ptr<const syntax::Tree> tree = syntax::parse_file(source);
  if (tree->definitions.size() != 1 || !tree->definitions[0]->is(Kind::kDefinition)) {
    throw Error(ErrorCode::kInternal, "a text of the library holds something else than one function");
  }
  const syntax::Node& node = *tree->definitions[0];
  const auto names = std::make_shared<TextNames>(unit, std::string(), true);
  auto made = make_function(unit, names, tree, node, node.text, nullptr);
  made->graph();
  return made;
}

}  // namespace flambeau::script::compiler
