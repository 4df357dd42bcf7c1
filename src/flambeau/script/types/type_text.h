// The text of types in archives: "Dict[str, List[Tensor]]", "__torch__.m.M". Other than Type::to_string(),
// which is the text of schemas.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "flambeau/value/type.h"

namespace flambeau::script {

// As PyTorch annotates with it: what is a number there (data types, layouts, ...) is "int".
std::string annotation_text(const Type& type);

// Reads such a text, as pickles hold it. A dotted name is a class. Throws Error(kCorrupt) for any other text,
// and Error(kLimit) for nesting deeper than kMostTypeDepth.
Type parse_annotation(std::string_view text);

// The plain type of that name: "Tensor", "int", "NoneType", also "LongTensor", which is a Tensor; nothing for
// others.
std::optional<TypeKind> find_plain_annotation(std::string_view name);

}  // namespace flambeau::script
