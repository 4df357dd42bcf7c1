// dict(...): a copy of a dict, or a comprehension over pairs, which literals and keywords become first.
#include <deque>

#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/syntax/failure.h"

namespace flambeau::script::compiler {

using syntax::fail_at;
using syntax::Kind;

namespace {

// Nodes that stand for what was not written, all at the place of the call.
class MadeNodes {
 public:
  explicit MadeNodes(const syntax::Node& place) : place_(place) {}

  const syntax::Node* make(Kind kind, std::string text, std::vector<const syntax::Node*> children = {}) {
    nodes_.push_back({.kind = kind,
                      .start = place_.start,
                      .end = place_.end,
                      .text = std::move(text),
                      .children = std::move(children)});
    return &nodes_.back();
  }

 private:
  const syntax::Node& place_;
  std::deque<syntax::Node> nodes_;
};

}  // namespace

Meaning Emitter::emit_dict_call(const Node& node, const Type* hint) {
  const SourceRange place = range(node);
  const Node* given = nullptr;
  std::vector<const Node*> keywords;
  for (const Node* argument : std::span(node.children).subspan(1)) {
    if (argument->is(Kind::kKeyword)) {
      keywords.push_back(argument);
    } else if (given != nullptr) {
      fail_at(place, ErrorCode::kInvalidArgument, "dict() takes one thing, and keywords");
    } else {
      given = argument;
    }
  }
  const std::optional<Type> wanted = dict_hint(hint, place);
  const Type* type = wanted ? &*wanted : nullptr;
  const auto add_keywords = [&](Value* dict) {
    for (const Node* keyword : keywords) {
      Value* key = constant(keyword->text, range(*keyword));
      operate(LanguageOperators::kSetItem, {dict, key, emit(keyword->child(0))}, range(*keyword));
    }
    return Meaning::of(dict);
  };

  if (given != nullptr) {
    if (const Meaning made = emit_hinted(*given, hint);
        made.is(Meaning::Kind::kValue) && made.value->type().is(TypeKind::kDict)) {
      return add_keywords(operate(LanguageOperators::kDict, {made.value}, place));
    }
    if (given->children.empty() && (given->is(Kind::kDict) || given->is(Kind::kList))) given = nullptr;
  }
  if (given == nullptr && keywords.empty()) {
    const Type made = wanted.value_or(Type::dict(TypeKind::kString, TypeKind::kTensor));
    if (!made.is(TypeKind::kDict)) {
      fail_at(place, ErrorCode::kInvalidArgument, "dict() gives a dict, not " + with_article(made));
    }
    return Meaning::of(insert_one(ir::NodeKind::kDictConstruct, {}, made));
  }
  if (given != nullptr && given->is(Kind::kDictComprehension)) {
    return add_keywords(emit_dict_comprehension(given->child(0), given->child(1), given->child(2),
                                                given->child(3), range(*given), type));
  }

  MadeNodes nodes(node);
  std::vector<const Node*> pairs;
  if (given != nullptr && given->is(Kind::kDict)) {
    for (size_t i = 0; i + 1 < given->children.size(); i += 2) {
      pairs.push_back(nodes.make(Kind::kTuple, {}, {given->children[i], given->children[i + 1]}));
    }
    given = nodes.make(Kind::kList, {}, std::exchange(pairs, {}));
  }
  if (!keywords.empty() && (given == nullptr || given->is(Kind::kList))) {
    if (given != nullptr) pairs = given->children;
    for (const Node* keyword : keywords) {
      pairs.push_back(
          nodes.make(Kind::kTuple, {}, {nodes.make(Kind::kString, keyword->text), keyword->children.at(0)}));
    }
    given = nodes.make(Kind::kList, {}, std::move(pairs));
    keywords.clear();
  }
  Meaning walked = emit_meaning(*given);
  const Node* iterable = nodes.make(Kind::kName, temporary("$_iter"));
  const Node* key = nodes.make(Kind::kName, temporary("$_key"));
  const Node* value = nodes.make(Kind::kName, temporary("$_value"));
  const Node* target = nodes.make(Kind::kTuple, {}, {key, value});
  assign(iterable->text, std::move(walked), place);
  return add_keywords(emit_dict_comprehension(*key, *value, *target, *iterable, place, type));
}

// The one dict type that a hint means, or the hint itself where it means none.
std::optional<Type> Emitter::dict_hint(const Type* hint, const SourceRange& place) {
  if (hint == nullptr) return std::nullopt;
  if (hint->is(TypeKind::kOptional)) return hint->element();
  if (!hint->is(TypeKind::kUnion)) return *hint;
  std::optional<Type> found;
  for (const Type& element : hint->elements()) {
    if (!element.is(TypeKind::kDict)) continue;
    if (found) {
      fail_at(place, ErrorCode::kInvalidArgument,
              "which dict of " + shown(*hint) + " dict() gives is not known");
    }
    found = element;
  }
  return found ? *found : *hint;
}

// With the hint where that goes, else without: what dict() is given may be another type than it gives.
Meaning Emitter::emit_hinted(const Node& node, const Type* hint) {
  if (hint != nullptr) {
    const size_t depth = frames_.size();
    ir::Node* const before = graph_->insert_point();
    try {
      return emit_meaning(node, 1, hint);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kLimit || error.code() == ErrorCode::kInternal) throw;
      frames_.resize(depth);
      graph_->set_insert_point(before);
    }
  }
  return emit_meaning(node);
}

}  // namespace flambeau::script::compiler
