// Classes of all kinds.
#include <fmt/format.h>

#include "flambeau/script/printer/code_writer.h"

namespace flambeau::script {

namespace {

std::string_view last_atom(std::string_view qualified_name) {
  const size_t dot = qualified_name.rfind('.');
  return dot == std::string_view::npos ? qualified_name : qualified_name.substr(dot + 1);
}

}  // namespace

void CodeWriter::write_class(const Class& written) {
  switch (written.kind()) {
    case ClassKind::kModule:
    case ClassKind::kPlain:
      return write_plain_class(written);
    case ClassKind::kNamedTuple:
      return write_named_tuple(written);
    case ClassKind::kEnum:
      return write_enum(written);
    case ClassKind::kInterface:
    case ClassKind::kModuleInterface:
      return write_interface(written);
  }
}

void CodeWriter::write_names(std::string_view word, const std::vector<std::string>& names) {
  indent();
  put(fmt::format("{} = [", word));
  for (const std::string& name : names) put(fmt::format("\"{}\", ", name));
  put("]\n");
}

void CodeWriter::write_plain_class(const Class& written) {
  put(fmt::format("class {}{}:\n", last_atom(written.qualified_name()),
                  written.is_module() ? "(Module)" : ""));
  ++level_;
  const auto names_of = [](const std::vector<std::shared_ptr<Function>>& functions) {
    std::vector<std::string> names;
    for (const auto& function : functions) names.emplace_back(function->name());
    return names;
  };
  if (written.is_module()) {
    std::vector<std::string> parameters;
    std::vector<std::string> buffers;
    for (const Attribute& attribute : written.attributes) {
      if (attribute.is_parameter) parameters.push_back(attribute.name);
      if (attribute.is_buffer) buffers.push_back(attribute.name);
    }
    write_names("__parameters__", parameters);
    write_names("__buffers__", buffers);
    if (!written.forward_pre_hooks.empty()) {
      write_names("__forward_pre_hooks__", names_of(written.forward_pre_hooks));
    }
    if (!written.forward_hooks.empty()) write_names("__forward_hooks__", names_of(written.forward_hooks));
  }
  write_attributes(written);
  for (const auto& method : written.methods) write_function(*method, true);
  std::unordered_set<std::string_view> hooks;
  for (const auto* list : {&written.forward_hooks, &written.forward_pre_hooks}) {
    for (const auto& hook : *list) {
      if (hooks.insert(hook->name()).second) write_function(*hook, true);
    }
  }
  --level_;
}

void CodeWriter::write_attributes(const Class& written) {
  for (const Attribute& attribute : written.attributes) {
    mention(attribute.type);
    indent();
    if (is_identifier(attribute.name)) {
      put(fmt::format("{} : {}\n", attribute.name, type_of(attribute.type)));
      continue;
    }
    if (&attribute == &written.attributes.front()) {
      put("__annotations__ = []\n");
      indent();
    }
    put(fmt::format("__annotations__[\"{}\"] = {}\n", attribute.name, type_of(attribute.type)));
  }
  for (const ClassConstant& constant : written.constants) {
    indent();
    put(fmt::format("{} : Final[{}] = {}\n", constant.name, type_of(constant.type),
                    constant_text(constant.value, constants_, printed_names_)));
  }
}

void CodeWriter::write_named_tuple(const Class& written) {
  put(fmt::format("class {}(NamedTuple):\n", last_atom(written.qualified_name())));
  ++level_;
  for (const Attribute& field : written.attributes) {
    indent();
    put(fmt::format("{} : {}\n", field.name, type_of(field.type)));
  }
  --level_;
}

void CodeWriter::write_interface(const Class& written) {
  put(fmt::format("class {}({}):\n", last_atom(written.qualified_name()),
                  written.kind() == ClassKind::kModuleInterface ? "ModuleInterface" : "Interface"));
  ++level_;
  for (const auto& method : written.methods) {
    const Signature& signature = method->signature();
    indent();
    put(fmt::format("def {}(self", method->name()));
    for (size_t i = 1; i < signature.arguments.size(); ++i) {
      const Argument& argument = signature.arguments[i];
      mention(argument.type);
      put(fmt::format(", {}: {}", argument.name, type_of(argument.type)));
    }
    const Type returned = signature.returns.empty() ? Type(TypeKind::kNone) : signature.returns[0];
    mention(returned);
    put(fmt::format(") -> {}:\n", type_of(returned)));
    indent();
    put("  pass\n");
  }
  --level_;
}

// A string stands there as it is, without escapes.
void CodeWriter::write_enum(const Class& written) {
  put(fmt::format("class {}(Enum):\n", last_atom(written.qualified_name())));
  ++level_;
  for (const Enumerator& enumerator : written.enumerators) {
    const IValue& value = enumerator.value;
    indent();
    put(fmt::format("{} = {}\n", enumerator.name,
                    value.is(IValue::Tag::kString) ? fmt::format("\"{}\"", value.as_string())
                                                   : constant_text(value, constants_, printed_names_)));
  }
  --level_;
}

}  // namespace flambeau::script
