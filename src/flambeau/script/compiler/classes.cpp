#include "flambeau/script/compiler/classes.h"

#include <algorithm>
#include <set>

#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/compiler/type_reader.h"
#include "flambeau/script/operators/legacy.h"
#include "flambeau/script/passes/load.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/syntax/diagnostics.h"
#include "flambeau/script/syntax/failure.h"

namespace flambeau::script::compiler {
namespace {

using syntax::fail_at;
using syntax::Kind;
using syntax::Node;
using syntax::Tree;

class ClassReader {
 public:
  ClassReader(Unit& unit, std::shared_ptr<const OuterNames> names, std::shared_ptr<const Tree> tree,
              const Node& definition, const std::string& name)
      : unit_(unit), names_(std::move(names)), tree_(std::move(tree)), definition_(definition), name_(name) {}

  void run() {
    const Node* superclass = definition_.maybe(0);
    const std::string of =
        superclass == nullptr ? std::string() : names_->without_aliases(dotted_name(*superclass));
    if (superclass != nullptr && of.empty())
      fail_at(tree_->range(*superclass), ErrorCode::kInvalidArgument, "a class inherits from a name");
    const bool is_module = of == "Module" || of == "torch.nn.Module";
    for (size_t i = 2; i < definition_.children.size(); ++i) {
      if (dotted_name(definition_.child(i)) == "torch.jit.interface")
        return read_interface(is_module ? ClassKind::kModuleInterface : ClassKind::kInterface);
    }
    if (of.empty() || of == "object") return read_class(ClassKind::kPlain);
    if (is_module) return read_class(ClassKind::kModule);
    if (of == "NamedTuple" || of == "typing.NamedTuple") return read_named_tuple();
    if (of == "Enum" || of == "enum.Enum") return read_enum();
    if (of == "Interface") return read_interface(ClassKind::kInterface);
    if (of == "ModuleInterface") return read_interface(ClassKind::kModuleInterface);
    fail_at(tree_->range(definition_), ErrorCode::kUnsupported,
            "TorchScript has no class that inherits from '" + printable(of) + "'",
            "inherit from Module, NamedTuple, Enum or Interface, or from nothing");
  }

 private:
  [[noreturn]] void refuse(const Node& statement, const char* what) const {
    fail_at(tree_->range(statement), what);
  }

  // ["a", "b"]
  std::vector<std::string> strings(const Node* list) const {
    std::vector<std::string> names;
    if (list == nullptr || !list->is(Kind::kList))
      refuse(definition_, "expected a list of names in the class");
    for (const Node* item : list->children) {
      if (!item->is(Kind::kString)) refuse(*item, "expected a list of names in the class");
      names.push_back(item->text);
    }
    return names;
  }

  void read_class(ClassKind kind) {
    auto made = std::make_shared<Class>(kind, name_);
    std::vector<const Node*> attributes;
    std::vector<const Node*> constants;
    std::vector<const Node*> definitions;
    std::vector<std::string> parameters;
    std::vector<std::string> buffers;
    std::vector<std::string> hooks;
    std::vector<std::string> pre_hooks;
    for (const Node* statement : definition_.child(1).children) {
      if (statement->is(Kind::kPass)) continue;
      if (statement->is(Kind::kDefinition)) {
        definitions.push_back(statement);
        continue;
      }
      // A class may say what it is for.
      if (statement->is(Kind::kExpression) && statement->child(0).is(Kind::kString)) continue;
      if (!statement->is(Kind::kAssign) || statement->children.size() != 3)
        refuse(*statement, "no such statement in a class");
      const Node& target = statement->child(2);
      if (target.is(Kind::kSubscript)) {
        if (dotted_name(target.child(0)) != "__annotations__" || target.children.size() != 2 ||
            !target.child(1).is(Kind::kString) || statement->maybe(1) == nullptr) {
          refuse(*statement, "expected __annotations__[\"name\"] = type");
        }
        attributes.push_back(statement);
      } else if (!target.is(Kind::kName)) {
        refuse(*statement, "no such statement in a class");
      } else if (target.text == "__parameters__") {
        parameters = strings(statement->maybe(1));
      } else if (target.text == "__buffers__") {
        buffers = strings(statement->maybe(1));
      } else if (target.text == "__forward_hooks__") {
        hooks = strings(statement->maybe(1));
      } else if (target.text == "__forward_pre_hooks__") {
        pre_hooks = strings(statement->maybe(1));
      } else if (target.text != "__annotations__") {
        (statement->maybe(1) == nullptr ? attributes : constants).push_back(statement);
      }
    }
    // Types may speak of the class itself.
    unit_.add(made);
    const std::set<std::string> parameter_names(parameters.begin(), parameters.end());
    const std::set<std::string> buffer_names(buffers.begin(), buffers.end());
    for (const Node* statement : attributes) {
      const Node& target = statement->child(2);
      Attribute attribute;
      attribute.name = target.is(Kind::kSubscript) ? target.child(1).text : target.text;
      const Node* type = statement->maybe(0) != nullptr ? statement->maybe(0) : statement->maybe(1);
      attribute.type = attribute_type(attribute.name, *type);
      attribute.is_parameter = parameter_names.contains(attribute.name) ||
                               names_->without_aliases(dotted_name(*type)) == "torch.nn.Parameter";
      attribute.is_buffer = buffer_names.contains(attribute.name);
      made->attributes.push_back(std::move(attribute));
    }
    for (const Node* statement : constants) {
      if (!names_->version() && is_attribute_with_value(*statement)) {
        made->attributes.push_back(read_attribute_with_value(*statement, parameter_names, buffer_names));
      } else {
        made->constants.push_back(read_constant_statement(*statement));
      }
    }
    add_methods(made, definitions, hooks, pre_hooks);
  }

  Type attribute_type(const std::string& attribute, const Node& type) const {
    if (type.is(Kind::kName) && type.text == "Tensor") {
      const std::string_view packed = packed_attribute_class(name_, attribute);
      if (!packed.empty() && names_->find_class(packed) != nullptr)
        return Type::class_named(std::string(packed));
    }
    return read_type(unit_, *names_, *tree_, type);
  }

  // In users' texts, name : T = value is an attribute that has this value when the object is made.
  static bool is_attribute_with_value(const Node& statement) {
    const Node* type = statement.maybe(0);
    return type != nullptr && (!type->is(Kind::kSubscript) || dotted_name(type->child(0)) != "Final");
  }
  Attribute read_attribute_with_value(const Node& statement, const std::set<std::string>& parameters,
                                      const std::set<std::string>& buffers) const {
    Attribute made;
    made.name = statement.child(2).text;
    made.type = read_type(unit_, *names_, *tree_, statement.child(0));
    made.is_parameter = parameters.contains(made.name);
    made.is_buffer = buffers.contains(made.name);
    made.default_value = read_constant(unit_, *names_, *tree_, statement.child(1), made.type);
    return made;
  }

  // name : Final[T] = value
  ClassConstant read_constant_statement(const Node& statement) const {
    const Node* type = statement.maybe(0);
    if (type == nullptr || !type->is(Kind::kSubscript) || dotted_name(type->child(0)) != "Final" ||
        type->children.size() != 2) {
      refuse(statement, "a class's constant is written as name : Final[type] = value");
    }
    Type of = read_type(unit_, *names_, *tree_, type->child(1));
    IValue value = read_constant(unit_, *names_, *tree_, statement.child(1), of);
    return {statement.child(2).text, std::move(of), std::move(value)};
  }

  void add_methods(const std::shared_ptr<Class>& made, const std::vector<const Node*>& definitions,
                   const std::vector<std::string>& hooks, const std::vector<std::string>& pre_hooks) {
    const std::set<std::string> pre_hook_names(pre_hooks.begin(), pre_hooks.end());
    const std::set<std::string> hook_names(hooks.begin(), hooks.end());
    std::map<std::string, std::shared_ptr<Function>> hooks_by_name;
    for (const Node* definition : definitions) {
      const std::string decorator = definition->children.size() > 3 ? dotted_name(definition->child(3)) : "";
      if (decorator == "staticmethod") {
        unit_.add(make_function(unit_, names_, tree_, *definition, name_ + "." + definition->text, nullptr));
        continue;
      }
      if (decorator == "property" || decorator == definition->text + ".setter") {
        add_property(made, *definition, decorator == "property");
        continue;
      }
      auto method = make_function(unit_, names_, tree_, *definition, name_ + "." + definition->text, made);
      if (pre_hook_names.contains(definition->text) || hook_names.contains(definition->text)) {
        hooks_by_name.emplace(definition->text, std::move(method));
      } else if (made->find_method(definition->text) != nullptr) {
        refuse(*definition, "the class has two methods of this name");
      } else if (made->find_attribute(definition->text)) {
        refuse(*definition, "the class has an attribute of this name");
      } else {
        made->methods.push_back(std::move(method));
      }
    }
    // A hook may be called more than once.
    const auto gather = [&](const std::vector<std::string>& wanted,
                            std::vector<std::shared_ptr<Function>>& to) {
      for (const std::string& hook : wanted) {
        const auto found = hooks_by_name.find(hook);
        if (found == hooks_by_name.end())
          refuse(definition_, "the class names a hook that it does not define");
        to.push_back(found->second);
      }
    };
    gather(hooks, made->forward_hooks);
    gather(pre_hooks, made->forward_pre_hooks);
  }

  // A property is a pair of methods, which PyTorch calls so.
  void add_property(const std::shared_ptr<Class>& made, const Node& definition, bool is_getter) {
    const std::string name = "__" + definition.text + (is_getter ? "_getter" : "_setter");
    if (made->find_method(name) != nullptr) refuse(definition, "the class has two properties of this name");
    made->methods.push_back(make_function(unit_, names_, tree_, definition, name_ + "." + name, made));
  }

  void read_named_tuple() {
    auto made = std::make_shared<Class>(ClassKind::kNamedTuple, name_);
    for (const Node* statement : definition_.child(1).children) {
      if (statement->is(Kind::kPass)) continue;
      if (!statement->is(Kind::kAssign) || statement->maybe(0) == nullptr ||
          !statement->child(2).is(Kind::kName)) {
        refuse(*statement, "a named tuple has fields with types alone");
      }
      Attribute field;
      field.name = statement->child(2).text;
      field.type = read_type(unit_, *names_, *tree_, statement->child(0));
      if (const Node* value = statement->maybe(1)) {
        field.default_value = read_constant(unit_, *names_, *tree_, *value, field.type);
      }
      made->attributes.push_back(std::move(field));
    }
    unit_.add(std::move(made));
  }

  void read_enum() {
    auto made = std::make_shared<Class>(ClassKind::kEnum, name_);
    for (const Node* statement : definition_.child(1).children) {
      if (!statement->is(Kind::kAssign) || statement->maybe(1) == nullptr ||
          !statement->child(2).is(Kind::kName)) {
        refuse(*statement, "an enum has names with values alone");
      }
      IValue value = read_constant(unit_, *names_, *tree_, statement->child(1), TypeKind::kAny);
      TypeKind type = TypeKind::kInt;
      if (value.is(IValue::Tag::kFloat)) {
        type = TypeKind::kFloat;
      } else if (value.is(IValue::Tag::kString)) {
        type = TypeKind::kString;
      } else if (!value.is(IValue::Tag::kInt)) {
        refuse(*statement, "an enum's values are ints, floats or strings");
      }
      if (!made->enumerators.empty() && !made->value_type.is(type))
        refuse(*statement, "an enum's values are of one type");
      made->value_type = type;
      made->enumerators.push_back({statement->child(2).text, std::move(value)});
    }
    if (made->enumerators.empty()) refuse(definition_, "an enum has at least one value");
    unit_.add(std::move(made));
  }

  void read_interface(ClassKind kind) {
    auto made = std::make_shared<Class>(kind, name_);
    unit_.add(made);
    for (const Node* statement : definition_.child(1).children) {
      if (statement->is(Kind::kPass)) continue;
      if (!statement->is(Kind::kDefinition) || statement->maybe(1) == nullptr) {
        refuse(*statement, "an interface has methods with the type of their result alone");
      }
      Signature signature = read_signature(unit_, *names_, *tree_, *statement, made.get());
      made->methods.push_back(
          std::make_shared<Function>(name_ + "." + statement->text, std::move(signature)));
    }
  }

  Unit& unit_;
  std::shared_ptr<const OuterNames> names_;
  std::shared_ptr<const Tree> tree_;
  const Node& definition_;
  const std::string& name_;
};

}  // namespace

void define_class(Unit& unit, const std::shared_ptr<const OuterNames>& names,
                  const std::shared_ptr<const Tree>& tree, const Node& definition,
                  const std::string& qualified_name) {
  ClassReader(unit, names, tree, definition, qualified_name).run();
}

std::shared_ptr<Function> make_function(Unit& unit, const std::shared_ptr<const OuterNames>& names,
                                        const std::shared_ptr<const Tree>& tree, const Node& definition,
                                        const std::string& qualified_name,
                                        const std::shared_ptr<Class>& self) {
  // The class owns its methods, and the unit all of them.
  const Class* of = self.get();
  const bool is_annotated = definition.maybe(1) != nullptr;
  Function::Step declare;
  if (is_annotated) {
    declare = [&unit, names, tree, &definition, of](Function& function) {
      function.set_signature(read_signature(unit, *names, *tree, definition, of));
    };
  }
  const auto compile = [&unit, names, tree, &definition, of](Function& function) {
    syntax::Diagnostics* const errors = names->diagnostics();
    if (errors != nullptr) {
      // One that has errors is not compiled again for each of its callers.
      if (errors->has_failed(function.qualified_name())) throw syntax::ConsequentError();
      errors->add_failed(function.qualified_name());
    }
    Emitter emitter(unit, *names, *tree, function, of);
    const std::shared_ptr<ir::Graph> graph = emitter.emit_definition(definition);
    run_load_passes(*graph, unit);
    if (names->version() && of != nullptr && of->is_module()) replace_old_convolutions(*graph, unit);
    function.set_graph(graph);
    if (errors != nullptr) errors->remove_failed(function.qualified_name());
  };
  return std::make_shared<Function>(unit, qualified_name, std::move(declare), compile);
}

}  // namespace flambeau::script::compiler
