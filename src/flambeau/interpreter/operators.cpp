#include "flambeau/interpreter/operators.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/tensors.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/interpreter/prepared.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::interpreter {
namespace {

std::optional<size_t> written_argument(const Schema& schema, const SchemaArgument& result) {
  if (!result.alias || !result.alias->is_write || !result.type.is(TypeKind::kTensor)) return {};
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const SchemaArgument& argument = schema.arguments[i];
    if (argument.is_written() && argument.alias->before == result.alias->before &&
        argument.type.is(TypeKind::kTensor))
      return i;
  }
  return {};
}

}  // namespace

std::unique_ptr<OperatorSite> make_site(const ops::Library& library, const OperatorEntry& entry,
                                        std::span<const IValue* const> constants, size_t number) {
  auto site = std::make_unique<OperatorSite>();
  site->number = number;
  site->entry = &entry;
  site->op = library.find(entry.schema.name);
  site->asks_description = asks_description(entry.schema.name.to_string());
  if (entry.has(OperatorFlag::kFiles)) site->needs |= static_cast<uint32_t>(Capability::kFiles);
  const Schema& schema = entry.schema;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const SchemaArgument& argument = schema.arguments[i];
    OperatorSite::Argument made = {.type = &argument.type.without_optional()};
    if (site->op != nullptr && (i >= constants.size() || constants[i] != nullptr)) {
      try {
        made.constant = i >= constants.size()
                            ? ops::default_argument(site->op->schema, i)
                            : ops::fit_argument(site->op->schema, i, to_value(*constants[i], argument.type));
      } catch (const Error&) {
        // It is refused when it is called, if ever.
      }
    }
    site->arguments.push_back(std::move(made));
  }
  for (const SchemaArgument& result : schema.returns)
    site->results.push_back({.type = &result.type, .same_as = written_argument(schema, result)});
  return site;
}

void call_operator(const OperatorSite& site, Call& call) {
  Machine& machine = call.machine();
  // What may not be done is no matter of whether it could be.
  if (!machine.is_granted(site.needs)) [[unlikely]]
    machine.refuse(site.needs, site.entry->schema.name.to_string());
  if (site.op == nullptr) {
    machine.program().library().get(site.entry->schema.name);
    throw Error(ErrorCode::kUnsupported, site.entry->schema.name.to_string() + " cannot be run");
  }
  PreparedCall& prepared = machine.prepared(site);
  if (!prepared.is_running()) return prepared.run(machine.context(), call);
  // An operator of the user's that calls the script again.
  PreparedCall(site).run(machine.context(), call);
}

}  // namespace flambeau::interpreter
