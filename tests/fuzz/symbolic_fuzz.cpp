// Any bytes are an expression or an Error; an expression survives both of its texts, and can be evaluated and
// bounded.
#include <cstdlib>
#include <iostream>
#include <string>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/evaluate.h"
#include "flambeau/symbolic/ranges/value_range.h"
#include "flambeau/symbolic/text/parse.h"
#include "flambeau/symbolic/text/print.h"

namespace {

using namespace flambeau::symbolic;  // NOLINT: a test program

void check_texts(const Expr& expr) {
  const std::string text = to_srepr(expr);
  const Expr again = parse(text);
  if (again == expr && to_srepr(again) == text) return;
  std::cerr << text << "\n" << to_srepr(again) << "\n";
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  try {
    const Expr expr = parse(std::string_view(reinterpret_cast<const char*>(data), size));
    to_string(expr);
    try {
      check_texts(expr);
    } catch (const flambeau::Error& error) {
      // Built again, an integer may leave 64 bits on its way; nothing else may go wrong.
      if (error.code() != flambeau::ErrorCode::kLimit) {
        std::cerr << to_srepr(expr) << "\n" << error.what() << "\n";
        std::abort();
      }
    }
    const ValueRange range = bounds(expr);
    Bindings bindings;
    for (const Expr& found : free_symbols(expr)) bindings[std::string(found.name())] = Number(3);
    const Number value = evaluate(expr, bindings);
    (void)range;
    (void)value;
  } catch (const flambeau::Error&) {
  }
  return 0;
}
