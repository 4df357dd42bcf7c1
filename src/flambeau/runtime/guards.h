// The conditions a program's guards state over its inputs, such as "L['x'].size()[0] == 2*L['y'].size()[0]":
// read once, checked before each run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/symbolic/expr.h"
#include "flambeau/value/value.h"

namespace flambeau::runtime {

class Guard {
 public:
  // A number it speaks of.
  struct Term {
    enum class Kind : uint8_t { kValue, kSize, kStride, kOffset };
    std::string symbol;  // its name in the condition
    std::string input;   // "L['x']", "L['x'][0]['k']"
    Kind kind = Kind::kValue;
    size_t dim = 0;
  };

  // Nothing for text in a form nobody here knows.
  static std::optional<Guard> parse(std::string_view text);

  const std::string& text() const { return text_; }
  const std::vector<Term>& terms() const { return terms_; }
  // `input` gives the value of a term's input, or null where there is none. Throws Error(kInvalidArgument)
  // when it cannot be computed.
  bool holds(const std::function<const Value*(const std::string&)>& input) const;

 private:
  std::string text_;
  std::vector<Term> terms_;
  symbolic::Expr condition_;
};

}  // namespace flambeau::runtime
