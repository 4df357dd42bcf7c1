// One call of an operator against its schema: names, presence and kinds of the arguments, and what it gives.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/graph/verify/context.h"

namespace flambeau::graph::verifying {
namespace {

using K = ArgumentKind;

bool is_one_of(K kind, std::initializer_list<K> kinds) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

bool accepts_list(const Type& element, K kind);

// Whether PyTorch takes an argument of that kind for that type. As it converts what its own exporter writes:
// an integer is a tensor, a boolean is an integer, one number is a list of a known length.
bool accepts(const Type& type, const Argument& argument) {
  const K kind = argument.kind();
  switch (type.kind()) {
    case TypeKind::kOptional:
      return kind == K::kNone || kind == K::kOptionalTensor || accepts(type.element(), argument);
    case TypeKind::kTensor:
      return is_one_of(kind, {K::kTensor, K::kOptionalTensor, K::kNone, K::kInt, K::kFloat, K::kBool,
                              K::kComplex, K::kSymInt, K::kSymFloat, K::kSymBool});
    case TypeKind::kInt:
    case TypeKind::kSymInt:
      return is_one_of(
          kind, {K::kInt, K::kSymInt, K::kBool, K::kSymBool, K::kScalarType, K::kLayout, K::kMemoryFormat});
    case TypeKind::kFloat:
    case TypeKind::kSymFloat:
      return is_one_of(kind, {K::kFloat, K::kSymFloat, K::kInt, K::kSymInt, K::kBool});
    case TypeKind::kBool:
    case TypeKind::kSymBool:
      return is_one_of(kind, {K::kBool, K::kSymBool, K::kInt, K::kSymInt});
    case TypeKind::kComplex:
      return is_one_of(kind, {K::kComplex, K::kFloat, K::kInt, K::kSymFloat, K::kSymInt});
    case TypeKind::kNumber:
      return is_one_of(kind, {K::kInt, K::kFloat, K::kBool, K::kComplex, K::kSymInt, K::kSymFloat,
                              K::kSymBool, K::kTensor, K::kScalarType});
    case TypeKind::kString:
      return kind == K::kString;
    case TypeKind::kDevice:
      return kind == K::kDevice || kind == K::kString;
    case TypeKind::kScalarType:
      return kind == K::kScalarType || kind == K::kInt;
    case TypeKind::kLayout:
      return kind == K::kLayout || kind == K::kInt;
    case TypeKind::kMemoryFormat:
      return kind == K::kMemoryFormat || kind == K::kInt;
    case TypeKind::kList: {
      const std::optional<size_t> length = list_length(argument);
      if (!length) return type.list_size() && accepts(type.element(), argument) && kind != K::kNone;
      // The kind of an empty list is the writer's guess.
      return *length == 0 || accepts_list(type.element(), kind);
    }
    default:
      // Generators, objects, dictionaries, any type: the format has no fixed form for them.
      return kind != K::kGraph;
  }
}

bool accepts_list(const Type& element, K kind) {
  switch (element.kind()) {
    case TypeKind::kTensor:
      return kind == K::kTensors;
    case TypeKind::kOptional:
      return kind == K::kOptionalTensors || accepts_list(element.element(), kind);
    case TypeKind::kInt:
    case TypeKind::kSymInt:
      return is_one_of(kind, {K::kInts, K::kSymInts, K::kBools});
    case TypeKind::kFloat:
    case TypeKind::kSymFloat:
      return is_one_of(kind, {K::kFloats, K::kSymFloats, K::kInts, K::kSymInts});
    case TypeKind::kBool:
    case TypeKind::kSymBool:
      return is_one_of(kind, {K::kBools, K::kSymBools, K::kInts});
    case TypeKind::kNumber:
      return is_one_of(kind, {K::kInts, K::kFloats, K::kBools, K::kSymInts, K::kSymFloats, K::kSymBools});
    case TypeKind::kString:
      return kind == K::kStrings;
    case TypeKind::kList:
      return is_one_of(kind, {K::kNestedTensors, K::kIntLists, K::kFloatLists});
    default:
      return true;
  }
}

// Whether a value of that kind can be what an operator returns as that type; an undefined tensor is none.
bool returns(const Type& type, const Argument& output) {
  const K kind = output.kind();
  switch (type.kind()) {
    case TypeKind::kOptional:
      return kind == K::kNone || returns(type.element(), output);
    case TypeKind::kTensor:
      return is_one_of(kind, {K::kTensor, K::kOptionalTensor, K::kNone});
    case TypeKind::kInt:
    case TypeKind::kSymInt:
      return kind == K::kSymInt;
    case TypeKind::kFloat:
    case TypeKind::kSymFloat:
      return kind == K::kSymFloat || kind == K::kSymInt;
    case TypeKind::kBool:
    case TypeKind::kSymBool:
      return kind == K::kSymBool;
    case TypeKind::kNumber:
      return is_one_of(kind, {K::kSymInt, K::kSymFloat, K::kSymBool});
    case TypeKind::kList:
      if (type.element().without_optional().is(TypeKind::kTensor))
        return kind == K::kTensors || kind == K::kOptionalTensors;
      return list_length(output).has_value();
    default:
      return true;
  }
}

class CallVerifier {
 public:
  CallVerifier(Context& context, const Place& place, const Node& node, const Schema& schema)
      : context_(context), place_(place), node_(node), schema_(schema), given_(schema.arguments.size()) {}

  void run() {
    for (const NamedArgument& input : node_.inputs()) check_input(input);
    check_presence();
    check_outputs();
  }

 private:
  void add(std::string_view rule, std::string message, std::string_view remedy) {
    context_.add(rule, place_, std::move(message), remedy);
  }
  std::string name() const { return schema_.name.to_string(); }

  void check_input(const NamedArgument& input) {
    // Nearly always the next one.
    std::optional<size_t> index;
    if (next_ < given_.size() && schema_.arguments[next_].name == input.name) {
      index = next_;
    } else {
      index = schema_.find_argument(input.name);
    }
    if (!index) {
      if (schema_.is_vararg) return;
      add("unknown-argument", fmt::format("{} has no argument '{}'", name(), printable(input.name)),
          "the program may come from another version of PyTorch: export it again with this one");
      return;
    }
    next_ = *index + 1;
    const SchemaArgument& argument = schema_.arguments[*index];
    if (given_[*index] != nullptr) {
      add("duplicate-argument",
          fmt::format("argument '{}' of {} is given twice", printable(input.name), name()),
          "remove one of them");
      return;
    }
    given_[*index] = &input;
    if (argument.is_kwarg_only && input.passed_by == PassedBy::kPositional) {
      add("keyword-only",
          fmt::format("argument '{}' of {} is given by position, but can only be given by name",
                      printable(input.name), name()),
          "mark it as a keyword argument");
    }
    if (input.argument.is(K::kUnknown) || accepts(argument.type, input.argument)) return;
    add("argument-type",
        fmt::format("argument '{}' of {} is {}; expected {}", printable(input.name), name(),
                    kind_words(input.argument), argument.type.to_string()),
        "the file is damaged or its writer is wrong: export the program again");
  }

  void check_presence() {
    const SchemaArgument* absent = nullptr;
    for (size_t i = 0; i < given_.size(); ++i) {
      const SchemaArgument& argument = schema_.arguments[i];
      if (given_[i] == nullptr) {
        if (absent == nullptr) absent = &argument;
        if (!argument.default_value) {
          add("missing-argument",
              fmt::format("argument '{}' of {} is missing; it has no default", argument.name, name()),
              "the file is damaged or its writer is wrong: export the program again");
        }
      } else if (absent != nullptr && absent->default_value && !argument.is_kwarg_only &&
                 given_[i]->passed_by == PassedBy::kPositional) {
        // PyTorch would take it for the absent one.
        add("positional-gap",
            fmt::format("argument '{}' of {} is given by position, but '{}' before it is not given",
                        argument.name, name(), absent->name),
            "give it by name, or give the ones before it too");
        return;
      }
    }
  }

  void check_outputs() {
    if (schema_.is_varret) return;
    const auto& outputs = node_.outputs();
    const bool is_nothing = schema_.returns.empty() && outputs.size() == 1 && outputs[0].is(K::kNone);
    if (outputs.size() != schema_.returns.size() && !is_nothing) {
      add("output-count",
          fmt::format("it has {} outputs, but {} returns {}", outputs.size(), name(), schema_.returns.size()),
          "the file is damaged or its writer is wrong: export the program again");
      return;
    }
    for (size_t i = 0; i < schema_.returns.size(); ++i) {
      const Type& type = schema_.returns[i].type;
      if (outputs[i].is(K::kUnknown) || returns(type, outputs[i])) continue;
      add("output-type",
          fmt::format("output {} is {}, but {} returns {}", i, kind_words(outputs[i]), name(),
                      type.to_string()),
          "the file is damaged or its writer is wrong: export the program again");
    }
  }

  Context& context_;
  const Place& place_;
  const Node& node_;
  const Schema& schema_;
  std::vector<const NamedArgument*> given_;
  size_t next_ = 0;
};

}  // namespace

void verify_call(Context& context, const Place& place, const Node& node, const Schema& schema) {
  CallVerifier(context, place, node, schema).run();
}

}  // namespace flambeau::graph::verifying
