// How the compiler goes on behind a statement that has errors, and what it suggests for names it does not
// know.
#include "flambeau/base/nearest.h"
#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/operators/attributes.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/syntax/diagnostics.h"
#include "flambeau/script/syntax/failure.h"

namespace flambeau::script::compiler {

using syntax::Kind;

void Emitter::recover(const Error& error, const Node& statement, const Place& place) {
  names_.diagnostics()->add(error, range(statement));
  has_errors_ = true;
  while (frames_.size() > place.frames) frames_.pop_back();
  while (definitions_.size() > place.definitions) definitions_.pop_back();
  graph_->set_insert_point(place.insert_point);
  forget_targets(statement);
  if (statement.is(Kind::kReturn) || statement.is(Kind::kRaise)) exits_.insert(&frame().block());
}

// What uses these variables later has no errors of its own. Trees are not deep.
void Emitter::forget_targets(const Node& node) {
  const auto forget = [&](const Node& target, const auto& again) -> void {
    if (target.is(Kind::kName)) {
      unknown_.insert(target.text);
    } else if (target.is(Kind::kTuple) || target.is(Kind::kList) || target.is(Kind::kStarred) ||
               target.is(Kind::kSequence)) {
      for (const Node* part : target.children) again(*part, again);
    }
  };
  switch (node.kind) {
    case Kind::kAssign:
      for (size_t i = 2; i < node.children.size(); ++i) forget(node.child(i), forget);
      return;
    case Kind::kAugmentedAssign:
    case Kind::kFor:
      forget(node.child(0), forget);
      break;
    case Kind::kWithItem:
      if (const Node* name = node.maybe(1)) forget(*name, forget);
      return;
    case Kind::kDefinition:
      unknown_.insert(node.text);
      return;
    default:
      break;
  }
  const bool has_blocks = node.is(Kind::kIf) || node.is(Kind::kWhile) || node.is(Kind::kFor) ||
                          node.is(Kind::kWith) || node.is(Kind::kSequence);
  if (!has_blocks) return;
  for (const Node* part : node.children) {
    if (part != nullptr) forget_targets(*part);
  }
}

std::string Emitter::near_name(const std::string& name) const {
  std::vector<std::string> known = names_.suggestions();
  for (const Frame* at = frames_.back().get(); at != nullptr; at = at->outer()) {
    for (std::string& variable : at->all_names()) known.push_back(std::move(variable));
  }
  for (const char* word :
       {"print",  "len",   "range", "enumerate", "zip",     "isinstance", "getattr", "hasattr",
        "int",    "float", "bool",  "str",       "complex", "list",       "dict",    "tuple",
        "min",    "max",   "abs",   "sum",       "all",     "any",        "round",   "sorted",
        "divmod", "pow",   "ord",   "chr",       "hex",     "torch",      "math"}) {
    known.emplace_back(word);
  }
  return did_you_mean(name, known);
}

std::string Emitter::near_attribute(const Type& type, const std::string& name) const {
  std::vector<std::string> known;
  if (const std::shared_ptr<Class> of = type.is(TypeKind::kClass) ? unit_.find_class(type.name()) : nullptr) {
    for (const Attribute& attribute : of->attributes) known.push_back(attribute.name);
    for (const ClassConstant& constant : of->constants) known.push_back(constant.name);
    for (const auto& method : of->methods) known.emplace_back(method->name());
    for (const Enumerator& enumerator : of->enumerators) known.push_back(enumerator.name);
  } else {
    known.assign(type.fields().begin(), type.fields().end());
    known.insert(known.end(), {"append",  "extend",     "insert",   "remove",  "clear", "copy",   "count",
                               "index",   "pop",        "reverse",  "sort",    "keys",  "values", "items",
                               "get",     "setdefault", "update",   "popitem", "split", "join",   "strip",
                               "replace", "startswith", "endswith", "upper",   "lower", "format", "find"});
    // Only what such a value has.
    std::erase_if(known, [&](const std::string& method) { return !has_method(type, method); });
  }
  std::string found = did_you_mean(name, known);
  if (found.empty() && type.is(TypeKind::kTensor)) {
    constexpr std::string_view kPrefix = "aten::";
    found = unit_.operator_table().did_you_mean("aten::" + name);
    for (size_t at = found.find(kPrefix); at != std::string::npos; at = found.find(kPrefix))
      found.erase(at, kPrefix.size());
  }
  return found;
}

}  // namespace flambeau::script::compiler
