// Constants in printed code, and the table of those that the text only refers to: CONSTANTS.c0.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flambeau/script/types/text.h"
#include "flambeau/script/values/ivalue.h"

namespace flambeau::script {

class ConstantTable {
 public:
  // Its index. A tensor that equals one in the table has the index of that; other constants are never shared.
  size_t add(const IValue& value);
  const std::vector<IValue>& values() const { return values_; }

 private:
  std::vector<IValue> values_;
  std::unordered_map<std::string, size_t> tensors_;  // by what makes them equal
};

// "0.10000000000000001", "\"a\\n\"", "[1, 2]", "CONSTANTS.c0": what the compiler reads back as that value.
// Throws Error(kUnsupported) for values that no code can make, and Error(kLimit) for deep nesting.
std::string constant_text(const IValue& value, ConstantTable& constants, const ClassNames& names = {});
// What a class or function is called where the text is for.
std::string printed_name(const std::string& qualified_name, const ClassNames& names);
// In double quotes, with escapes.
std::string quoted_text(std::string_view text);
// A number as a literal that is read back as a float.
std::string float_text(double value);
// Whether the elements of a list say which type the list is of.
bool is_inferred_from_members(const Type& element, bool is_interface);

}  // namespace flambeau::script
