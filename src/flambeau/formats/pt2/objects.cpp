#include "flambeau/formats/pt2/objects.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"

namespace flambeau::pt2 {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using graph::ExportedProgram;
using graph::NamedObject;

size_t index_of(const ExportedProgram& program, std::string_view name) {
  for (size_t i = 0; i < program.objects.size(); ++i) {
    if (program.objects[i].name == name) return i;
  }
  throw Error(ErrorCode::kNotFound, "the program has no such object");
}

const ObjectHandler& handler_of(const ExportedProgram& program, std::string_view name,
                                const ObjectHandlers& handlers) {
  const std::string class_name = class_of_object(program, name);
  if (const ObjectHandler* const handler = handlers.find(class_name)) return *handler;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("nothing is registered to read objects of the class '{}'", printable(class_name)),
              "add a handler for the class; without one the object can only be kept as it is");
}

}  // namespace

void ObjectHandlers::add(const std::string& class_name, std::shared_ptr<const ObjectHandler> handler) {
  if (!handlers_.try_emplace(class_name, std::move(handler)).second) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the class '{}' has a handler already", printable(class_name)));
  }
}

const ObjectHandler* ObjectHandlers::find(std::string_view class_name) const {
  const auto found = handlers_.find(class_name);
  return found == handlers_.end() ? nullptr : found->second.get();
}

std::string class_of_object(const ExportedProgram& program, std::string_view name) {
  for (const graph::InputSpec& spec : program.signature.inputs) {
    if (spec.kind == graph::InputKind::kCustomObj && spec.target == name) {
      return spec.argument.get<ArgumentKind::kCustomObj>().class_fqn;
    }
  }
  // Objects that are arguments themselves are named in the argument.
  std::string found;
  program.graph().for_each_graph([&](const graph::Graph& graph) {
    for (const graph::Node& node : graph.nodes()) {
      for (const graph::NamedArgument& input : node.inputs()) {
        if (!input.argument.is(ArgumentKind::kCustomObj)) continue;
        const graph::CustomObjArgument& object = input.argument.get<ArgumentKind::kCustomObj>();
        if (object.ref && object.ref->name() == name) found = object.class_fqn;
      }
    }
  });
  return found;
}

std::any read_object(const ExportedProgram& program, std::string_view name, const ObjectHandlers& handlers) {
  return with_location("object", printable(name), [&] {
    const NamedObject& object = program.objects[index_of(program, name)];
    return handler_of(program, name, handlers).read(object.bytes->bytes());
  });
}

void write_object(ExportedProgram& program, std::string_view name, const std::any& object,
                  const ObjectHandlers& handlers) {
  with_location("object", printable(name), [&] {
    NamedObject& to = program.objects[index_of(program, name)];
    to.bytes = Storage::own(handler_of(program, name, handlers).write(object));
  });
}

}  // namespace flambeau::pt2
