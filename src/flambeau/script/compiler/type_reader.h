// Annotations of a script to types.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "flambeau/script/syntax/tree.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/type.h"

namespace flambeau::script::compiler {

// For messages: as it is written in a text, "Optional[int]"; and with its article, "an int".
std::string shown(const Type& type);
std::string with_article(const Type& type);

class OuterNames;

// Throws Error located at the place for what is no type.
Type read_type(const Unit& unit, const OuterNames& names, const syntax::Tree& tree, const syntax::Node& node);

// "BroadcastingList2[int]" and "_size_2_t": lists for which one number will do.
struct BroadcastingList {
  Type type;
  int64_t size;
};
std::optional<BroadcastingList> read_broadcasting_list(const syntax::Tree& tree, const syntax::Node& node);

// "__torch__.a.M" of the nodes that select it; empty for other expressions.
std::string dotted_name(const syntax::Node& node);

// What a definition's annotations say it takes and gives; without a result's annotation it gives nothing yet.
// The first argument of a method is the object.
Signature read_signature(Unit& unit, const OuterNames& names, const syntax::Tree& tree,
                         const syntax::Node& definition, const Class* self);
// The value of an expression that needs nothing to run, e.g. of a default, as a value of the type.
IValue read_constant(Unit& unit, const OuterNames& names, const syntax::Tree& tree, const syntax::Node& node,
                     const Type& type);

}  // namespace flambeau::script::compiler
