// A module from one text: which of the three kinds of text it is, and what becomes of it.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/text.h"
#include "flambeau/script/syntax/diagnostics.h"
#include "flambeau/script/syntax/parser.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script_build.h"
#include "flambeau/script_module.h"

namespace flambeau::script {
namespace {

struct Outline {
  bool has_classes = false;
  std::string last_module;  // the last class that inherits from something called Module
  bool is_methods = false;  // functions that take self
  std::vector<std::string> functions;
};

Outline outline_of(std::string_view text, const std::string& file_name) {
  syntax::Diagnostics errors;
  const auto source = std::make_shared<Source>(std::string(text), file_name);
  const std::shared_ptr<const syntax::Tree> tree = syntax::parse_text(source, false, errors);
  Outline outline;
  for (const syntax::Node* node : tree->definitions) {
    if (node->is(syntax::Kind::kClass)) {
      outline.has_classes = true;
      const syntax::Node* of = node->maybe(0);
      const bool is_module = of != nullptr && of->text == "Module" && node->children.size() == 2;
      if (is_module) outline.last_module = node->text;
    } else if (node->is(syntax::Kind::kDefinition)) {
      const auto& parameters = node->child(0).children;
      if (!parameters.empty() && parameters[0]->text == "self") outline.is_methods = true;
      outline.functions.push_back(node->text);
    }
  }
  return outline;
}

// A default that can be written in a text; empty for others.
std::string literal(const IValue& value) {
  switch (value.tag()) {
    case IValue::Tag::kNone:
      return "None";
    case IValue::Tag::kBool:
      return value.as_bool() ? "True" : "False";
    case IValue::Tag::kInt:
      return std::to_string(value.as_int());
    case IValue::Tag::kFloat:
      return fmt::format("{:#.17g}", value.as_float());
    default:
      return {};
  }
}

// def name(self, x : Tensor) -> Tensor:
//   return called(x)
std::string method_that_calls(const Signature& signature, std::string_view name, std::string_view called) {
  std::string parameters = "self";
  std::string arguments;
  bool is_keyword_only = false;
  for (const Argument& argument : signature.arguments) {
    if (argument.is_kwarg_only && !is_keyword_only) parameters += ", *";
    is_keyword_only = argument.is_kwarg_only;
    parameters += fmt::format(", {} : {}", argument.name, annotation_text(argument.type));
    const std::string value = argument.default_value ? literal(*argument.default_value) : std::string();
    if (!value.empty()) parameters += " = " + value;
    arguments += fmt::format("{}{}{}", arguments.empty() ? "" : ", ",
                             is_keyword_only ? argument.name + "=" : std::string(), argument.name);
  }
  return fmt::format("def {}({}) -> {}:\n  return {}({})\n", name, parameters,
                     annotation_text(signature.returns.at(0)), called, arguments);
}

}  // namespace

ScriptModule CompilationUnit::make_module_of_functions(const std::vector<std::string>& functions) {
  ScriptModule made = make_module("Model");
  std::vector<std::pair<std::string, std::string>> methods;
  for (const std::string& name : functions) methods.emplace_back(name, name);
  if (functions.size() == 1 && functions[0] != "forward") methods.emplace_back("forward", functions[0]);
  for (const auto& [method, called] : methods) {
    const Signature& signature = loaded_->file.unit->get_function("__torch__." + called).signature();
    made.define(method_that_calls(signature, method, called), "<methods>");
  }
  return made;
}

ScriptModule compile_module(std::string_view text, const std::string& file_name, const NamedTensors& weights,
                            const std::string& class_name, const ScriptLoadOptions& options) {
  const Outline outline = outline_of(text, file_name);
  if (outline.is_methods && !outline.has_classes && class_name.empty()) {
    CompilationUnit unit(options);
    ScriptModule made = unit.make_module("Model");
    for (const NamedTensor& weight : weights) {
      if (weight.name.find('.') != std::string::npos) {
        throw Error(
            ErrorCode::kInvalidArgument,
            fmt::format("the weight '{}' is of a module inside of the module", printable(weight.name)),
            "write the modules as classes: class Model(Module)");
      }
      made.add_parameter(weight.name, weight.tensor);
    }
    made.define(text, file_name);
    return made;
  }
  CompilationUnit unit(text, file_name, options);
  const std::string wanted = class_name.empty() ? outline.last_module : class_name;
  if (!wanted.empty()) return unit.make_module_of(wanted, weights);
  if (!weights.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "functions have no weights",
                "write a class Model(Module) that has them as attributes");
  }
  if (outline.functions.empty())
    throw Error(ErrorCode::kInvalidArgument, "the text has neither a function nor a module's class");
  return unit.make_module_of_functions(outline.functions);
}

void check_source(std::string_view text, const std::string& file_name) {
  syntax::Diagnostics errors;
  syntax::parse_text(std::make_shared<Source>(std::string(text), file_name), false, errors);
  errors.throw_if_any();
  const Outline outline = outline_of(text, file_name);
  if (!outline.is_methods || outline.has_classes) CompilationUnit unit(text, file_name);
}

}  // namespace flambeau::script
