#include "flambeau/script/compiler/text.h"

#include <limits>
#include <optional>

#include "flambeau/script/compiler/classes.h"
#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/compiler/names.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/operators/python_names.h"
#include "flambeau/script/syntax/failure.h"
#include "flambeau/script/syntax/parser.h"

namespace flambeau::script::compiler {
namespace {

using syntax::fail_at;
using syntax::Kind;

class TextNames : public OuterNames {
 public:
  TextNames(Unit& unit, std::string prefix, bool is_library)
      : unit_(unit), prefix_(std::move(prefix)), is_library_(is_library) {}

  std::optional<Meaning> find(Emitter&, std::string_view name, const SourceRange&) const override {
    if (is_library_) {
      if (name == "torch") return Meaning::of(Meaning::Kind::kTorch);
      return std::nullopt;
    }
    if (is_python_module(name)) return Meaning::of(Meaning::Kind::kPython, std::string(name));
    if (std::shared_ptr<Function> found = unit_.find_function(full_name(name)))
      return Meaning::of(std::move(found));
    if (std::shared_ptr<Class> found = find_class(name)) {
      const ClassKind kind = found->kind();
      return Meaning::of(kind == ClassKind::kNamedTuple ? Meaning::Kind::kNamedTuple
                         : kind == ClassKind::kEnum     ? Meaning::Kind::kEnum
                                                        : Meaning::Kind::kClass,
                         std::move(found));
    }
    // Python's exceptions are known by their names alone.
    if (name.ends_with("Error") || name == "Exception") {
      return Meaning::of(Meaning::Kind::kException, "builtins." + std::string(name));
    }
    return std::nullopt;
  }

  std::shared_ptr<Class> find_class(std::string_view name) const override {
    if (is_library_) return nullptr;
    if (is_native_class(name) && unit_.find_class(name) == nullptr) unit_.add(make_native_class(name));
    if (std::shared_ptr<Class> found = unit_.find_class(full_name(name))) return found;
    return prefix_.empty() ? nullptr : unit_.find_class(name);
  }

  IValue constant(std::string_view name, const SourceRange& range) const override {
    fail_at(range, "text that is no archive's has no constant '" + printable(name) + "'");
  }
  std::optional<int64_t> version() const override { return std::nullopt; }
  bool uses_scripted_operators() const override { return !is_library_; }

 private:
  std::string full_name(std::string_view name) const {
    return prefix_.empty() ? std::string(name) : prefix_ + "." + std::string(name);
  }
  Unit& unit_;
  std::string prefix_;
  bool is_library_;
};

}  // namespace

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
