// Reads a type with its alias annotations. Internal to the reader of schemas.
#pragma once

#include <optional>

#include "flambeau/value/schema.h"
#include "flambeau/value/schema_cursor.h"

namespace flambeau {

struct AnnotatedType {
  Type type = TypeKind::kTensor;
  std::optional<AliasInfo> alias;
};

class TypeParser {
 public:
  explicit TypeParser(SchemaCursor& cursor) : cursor_(cursor) {}

  // Also with a list size, "int[2]?", which PyTorch knows only outermost.
  AnnotatedType parse();

 private:
  AnnotatedType parse_unsized();
  AnnotatedType parse_base();
  // What stands in parentheses after "Future"; aliases inside are dropped, as PyTorch drops them.
  std::vector<Type> parse_elements(std::string_view of, size_t least, size_t most);
  Type parse_named(size_t start);
  std::optional<AliasInfo> parse_alias();
  std::vector<std::string> parse_alias_sets();
  bool at_unsized_brackets();
  void parse_optional(AnnotatedType& found);
  static void wrap_in_list(AnnotatedType& found, std::optional<int64_t> size, std::optional<AliasInfo> outer);

  SchemaCursor& cursor_;
  int depth_ = 0;
  int next_fresh_set_ = 0;  // "Tensor!" is in a set of its own: $0, $1
};

}  // namespace flambeau
