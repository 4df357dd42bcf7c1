// Reads a whole schema; types are read by TypeParser.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "flambeau/tensor/dtype.h"
#include "flambeau/value/schema.h"
#include "flambeau/value/schema_cursor.h"
#include "flambeau/value/type_parser.h"

namespace flambeau {
namespace {

class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : cursor_(text), types_(cursor_) {}

  Schema parse() {
    parse_name();
    parse_arguments();
    cursor_.expect("->");
    parse_returns();
    if (!cursor_.at_end()) cursor_.fail_expected("the end of the schema");
    return std::move(schema_);
  }

 private:
  void parse_name() {
    schema_.name.name = cursor_.identifier("the name of an operator");
    if (cursor_.take("::"))
      schema_.name.name.append("::").append(cursor_.identifier("the name of an operator"));
    const size_t start = cursor_.offset();
    if (!cursor_.take('.')) return;
    schema_.name.overload = cursor_.identifier("the name of an overload");
    // Python's attribute of that name is the overload without a name.
    if (schema_.name.overload == "default" || schema_.name.overload.starts_with("__")) {
      SchemaCursor::fail_at(
          start, fmt::format("'{}' cannot be the name of an overload", printable(schema_.name.overload, 40)));
    }
  }

  void parse_arguments() {
    bool is_kwarg_only = false;
    bool has_default = false;
    cursor_.expect('(');
    if (!cursor_.at(')')) {
      do {
        const size_t start = cursor_.offset();
        if (schema_.is_vararg) SchemaCursor::fail_at(start, "'...' must be the last argument");
        if (cursor_.take("...")) {
          schema_.is_vararg = true;
        } else if (cursor_.take('*')) {
          is_kwarg_only = true;
        } else {
          SchemaArgument argument = parse_argument();
          argument.is_kwarg_only = is_kwarg_only;
          has_default |= argument.default_value.has_value();
          check_default_order(argument, has_default, start);
          schema_.arguments.push_back(std::move(argument));
        }
      } while (cursor_.take(','));
    }
    cursor_.expect(')');
    if (schema_.is_vararg && has_default) cursor_.fail("with '...', no argument may have a default");
  }

  // A list may follow: PyTorch has such schemas.
  static void check_default_order(const SchemaArgument& argument, bool has_default, size_t start) {
    if (!has_default || argument.default_value || argument.is_kwarg_only || argument.type.is(TypeKind::kList))
      return;
    SchemaCursor::fail_at(start, fmt::format("argument '{}' has no default but follows one that has",
                                             printable(argument.name, 40)));
  }

  SchemaArgument parse_argument() {
    AnnotatedType found = types_.parse();
    SchemaArgument argument;
    argument.type = std::move(found.type);
    argument.alias = std::move(found.alias);
    argument.name = cursor_.identifier("the name of an argument");
    if (cursor_.take('=')) {
      const size_t start = cursor_.offset();
      argument.default_value = parse_default(argument.type);
      argument.default_text = cursor_.text_since(start);
    }
    return argument;
  }

  SchemaArgument parse_return() {
    AnnotatedType found = types_.parse();
    SchemaArgument result;
    result.type = std::move(found.type);
    result.alias = std::move(found.alias);
    if (cursor_.at_identifier()) result.name = cursor_.identifier("the name of a return value");
    return result;
  }

  void parse_returns() {
    if (cursor_.take("...")) {
      schema_.is_varret = true;
      return;
    }
    if (!cursor_.take('(')) {
      schema_.returns.push_back(parse_return());
      return;
    }
    if (!cursor_.at(')')) {
      do {
        if (schema_.is_varret) cursor_.fail("'...' must be the last return value");
        if (cursor_.take("...")) {
          schema_.is_varret = true;
        } else {
          schema_.returns.push_back(parse_return());
        }
      } while (cursor_.take(','));
    }
    cursor_.expect(')');
  }

  DefaultValue parse_default(const Type& type) {
    const Type& list = type.without_optional();
    if (!list.is(TypeKind::kList)) return parse_constant(type);
    if (cursor_.take("None")) return {};
    if (cursor_.at('[')) return parse_list(list.element());
    DefaultValue value = parse_constant(list.element());
    // PyTorch takes "int[2]? size=3" for a number, and "int[2] size=3" for a list.
    if (!type.is(TypeKind::kList) || !list.list_size()) return value;
    return {DefaultValue::List(static_cast<size_t>(*list.list_size()), value)};
  }

  DefaultValue parse_list(const Type& element) {
    cursor_.expect('[');
    DefaultValue::List values;
    if (!cursor_.at(']')) {
      do values.push_back(parse_constant(element));
      while (cursor_.take(','));
    }
    cursor_.expect(']');
    return {std::move(values)};
  }

  DefaultValue parse_constant(const Type& type) {
    if (cursor_.at_string()) return {cursor_.string()};
    if (cursor_.at_identifier()) return parse_word(type);
    const size_t start = cursor_.offset();
    const bool is_negative = cursor_.take('-');
    if (cursor_.take("inf")) return {-std::numeric_limits<double>::infinity()};
    if (cursor_.take("nan")) return {-std::numeric_limits<double>::quiet_NaN()};
    if (!cursor_.at_number()) cursor_.fail_expected("a default value");
    return parse_number(type, is_negative, start);
  }

  DefaultValue parse_word(const Type& type) {
    const size_t start = cursor_.offset();
    const std::string_view word = cursor_.identifier("a default value");
    if (word == "True") return {true};
    if (word == "False") return {false};
    if (word == "None") return {};
    // A few names of numbers that PyTorch's sources use; "float" and "complex" are data types here.
    if (word == "float") return {static_cast<int64_t>(DType::kFloat32)};
    if (word == "complex") return {static_cast<int64_t>(DType::kComplex64)};
    if (word == "long") return {static_cast<int64_t>(DType::kInt64)};
    if (word == "strided" || word == "contiguous_format") return {int64_t{0}};
    if (word == "Mean") return {int64_t{1}};
    if (word == "inf") return {std::numeric_limits<double>::infinity()};
    if (word == "nan") return {std::numeric_limits<double>::quiet_NaN()};
    const Type& plain = type.without_optional();
    if (plain.is(TypeKind::kScalarType)) {
      if (const auto dtype = dtype_from_name(word)) return {static_cast<int64_t>(*dtype)};
    }
    if (plain.is(TypeKind::kDevice)) {  // PyTorch prints its name without quotes: cuda:0
      if (cursor_.take(':')) cursor_.number();
      return {std::string(cursor_.text_since(start))};
    }
    SchemaCursor::fail_at(start, fmt::format("'{}' is no default value", printable(word, 40)));
  }

  DefaultValue parse_number(const Type& type, bool is_negative, size_t start) {
    const std::string_view digits = cursor_.number();
    if (digits.ends_with('j')) {
      const double part = to_double(digits.substr(0, digits.size() - 1), start);
      return {std::complex<double>(0, is_negative ? -part : part)};
    }
    if (type.is(TypeKind::kFloat) || digits.find_first_of(".eE") != std::string_view::npos) {
      const double real = is_negative ? -to_double(digits, start) : to_double(digits, start);
      const bool has_imaginary = cursor_.at('+') || cursor_.at('-');  // "0.+1.j", as PyTorch prints it
      if (!has_imaginary) return {real};
      const bool is_minus = cursor_.take('-');
      if (!is_minus) cursor_.expect('+');
      const size_t imaginary_start = cursor_.offset();
      const std::string_view imaginary = cursor_.number();
      if (!imaginary.ends_with('j')) SchemaCursor::fail_at(imaginary_start, "expected an imaginary number");
      const double part = to_double(imaginary.substr(0, imaginary.size() - 1), imaginary_start);
      return {std::complex<double>(real, is_minus ? -part : part)};
    }
    // With its sign, for the least integer has no positive counterpart.
    const std::string text = (is_negative ? "-" : "") + std::string(digits);
    int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size())
      SchemaCursor::fail_at(start, fmt::format("'{}' does not fit into an int", printable(text, 40)));
    return {value};
  }

  static double to_double(std::string_view text, size_t start) {
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size())
      SchemaCursor::fail_at(start, fmt::format("'{}' is not a number", printable(text, 40)));
    return value;
  }

  SchemaCursor cursor_;
  TypeParser types_;
  Schema schema_;
};

}  // namespace

Schema parse_schema(std::string_view text) { return SchemaParser(text).parse(); }

}  // namespace flambeau
