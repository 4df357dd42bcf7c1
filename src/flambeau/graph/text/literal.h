// Constants, names and lists as the text has them, before it is known what the operator takes.
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "flambeau/graph/argument.h"
#include "flambeau/graph/text/scanner.h"

namespace flambeau::graph {

struct Literal {
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInteger,
    kReal,
    kComplex,
    kString,
    kName,      // a value or a subgraph
    kTorch,     // "float32" of torch.float32
    kOperator,  // a dotted name, or operator('...')
    kDevice,    // text: type; number: index
    kJson,      // text
    kList,
    kTuple,
    kDict,  // keys and items
  };
  Kind kind = Kind::kNone;
  bool flag = false;  // of kBool; of kDevice: has an index
  int64_t integer = 0;
  std::complex<double> number;
  std::string text;
  std::vector<Literal> items;
  std::vector<std::string> keys;
  TextPlace place;
};

// Behind "as": the kind of an argument where its text does not show it, and what it holds besides.
struct KindSpec {
  std::optional<ArgumentKind> kind;  // nothing: as the text shows
  std::string class_fqn;
  std::string extras;           // JSON
  std::vector<KindSpec> items;  // of a dictionary
  TextPlace place;
};

Literal parse_literal(TextScanner& scanner, size_t depth = 0);
// Inside ( or [ that has been read, up to the closing character.
std::vector<Literal> parse_literals(TextScanner& scanner, std::string_view close, size_t depth = 0);
// "_" says nothing.
KindSpec parse_kind(TextScanner& scanner, size_t depth = 0);
// "(a, b)".
std::vector<KindSpec> parse_kinds(TextScanner& scanner, size_t depth = 0);

double parse_real(std::string_view text, TextPlace place);
Extras parse_extras(const std::string& text, TextPlace place);

}  // namespace flambeau::graph
