// What the graph says of a value: shapes that can be, types the format has, expressions that can be read.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/graph/verify/context.h"

namespace flambeau::graph::verifying {
namespace {

// Quantized and raw bits have no number in the format.
bool has_schema_number(DType dtype) {
  switch (dtype) {
    case DType::kQInt8:
    case DType::kQUInt8:
    case DType::kQInt32:
    case DType::kQUInt4x2:
    case DType::kQUInt2x4:
    case DType::kBits1x8:
    case DType::kBits2x4:
    case DType::kBits4x2:
    case DType::kBits8:
    case DType::kBits16:
    case DType::kFloat4E2M1FNx2:
      return false;
    default:
      return true;
  }
}

class MetaVerifier {
 public:
  MetaVerifier(Context& context, const Scope& scope, const Value& value, Symbols& symbols)
      : context_(context), scope_(scope), value_(value), symbols_(symbols) {}

  void tensor(const TensorMeta& meta) {
    if (meta.layout == Layout::kStrided && meta.sizes.size() != meta.strides.size()) {
      add("tensor-rank",
          fmt::format("it has {} sizes but {} strides", meta.sizes.size(), meta.strides.size()));
    }
    lengths("negative-size", "size", meta.sizes);
    lengths("negative-stride", "stride", meta.strides);
    if (meta.storage_offset.is_literal() && meta.storage_offset.literal() < 0) {
      add("negative-offset",
          fmt::format("its storage offset is {}; expected 0 or more", meta.storage_offset.literal()));
    }
    // PyTorch does not read offsets when it loads, so they tell nothing and ask for nothing.
    notes_symbols_ = false;
    number(meta.storage_offset);
    count(meta.sizes);
    if (!has_schema_number(meta.dtype)) {
      add("tensor-dtype",
          fmt::format("its type is {}, which exported programs cannot have", dtype_name(meta.dtype)));
    } else if (meta.requires_grad && !dtype_info(meta.dtype).is_floating &&
               !dtype_info(meta.dtype).is_complex) {
      add("requires-grad", fmt::format("it is {} and requires a gradient; only floating-point and complex "
                                       "tensors can",
                                       dtype_name(meta.dtype)));
    }
    device(meta.device);
  }

  void number(const SymInt& number) {
    if (number.is_literal()) return;
    expression(number.expr());
    if (!std::holds_alternative<std::monostate>(number.expr().hint) &&
        !std::holds_alternative<int64_t>(number.expr().hint))
      add("expression-hint", "the hint of an integer expression is no integer");
  }

  void number(const SymFloat& number) {
    if (number.is_literal()) return;
    expression(number.expr());
    if (!std::holds_alternative<std::monostate>(number.expr().hint) &&
        !std::holds_alternative<double>(number.expr().hint))
      add("expression-hint", "the hint of a floating-point expression is no float");
  }

  void number(const SymBool& number) {
    if (!number.is_literal()) expression(number.expr());
  }

 private:
  void add(std::string_view rule, std::string message) {
    context_.add(rule, Place{&scope_, nullptr, where()}, std::move(message), kExportAgain);
  }

  std::string_view where() {
    if (where_.empty()) where_ = fmt::format("value '{}'", printable(value_.name()));
    return where_;
  }

  void lengths(std::string_view rule, std::string_view what, const std::vector<SymInt>& list) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i].is_literal() && list[i].literal() < 0)
        add(rule, fmt::format("its {} {} is {}; expected 0 or more", what, i, list[i].literal()));
      number(list[i]);
    }
  }

  // PyTorch counts the elements of what is known, even where another size is zero.
  void count(const std::vector<SymInt>& sizes) {
    int64_t product = 1;
    for (const SymInt& size : sizes) {
      if (!size.is_literal() || size.literal() <= 0) continue;
      if (!__builtin_mul_overflow(product, size.literal(), &product)) continue;
      add("tensor-too-large", "the number of its elements does not fit into 64 bits");
      return;
    }
  }

  void device(const DeviceSpec& device) {
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    if (device.type.empty() || !std::ranges::all_of(device.type, is_letter)) {
      add("device", fmt::format("'{}' is not the name of a kind of device", printable(device.type)));
    } else if (device.index && (*device.index < 0 || *device.index > 127)) {
      add("device",
          fmt::format("the device '{}' has the index {}; expected 0 to 127", device.type, *device.index));
    }
  }

  void expression(const SymExpr& expr) {
    const Expression& found = context_.expression(expr);
    if (notes_symbols_ && value_.is_defined()) {
      for (const std::string_view symbol : found.symbols) {
        if (is_unbacked_symbol(symbol)) symbols_[symbol] |= found.tells_symbol;
      }
    }
    if (found.problem.empty()) return;
    add("bad-expression",
        fmt::format("the expression '{}' cannot be read: {}", printable(expr.text), found.problem));
  }

  Context& context_;
  const Scope& scope_;
  const Value& value_;
  Symbols& symbols_;
  bool notes_symbols_ = true;
  std::string where_;
};

}  // namespace

void verify_meta(Context& context, const Scope& scope, const Value& value, Symbols& symbols) {
  MetaVerifier verifier(context, scope, value, symbols);
  if (const TensorMeta* meta = value.tensor()) {
    verifier.tensor(*meta);
  } else if (const SymInt* integer = std::get_if<SymInt>(&value.meta())) {
    verifier.number(*integer);
  } else if (const SymFloat* real = std::get_if<SymFloat>(&value.meta())) {
    verifier.number(*real);
  } else if (const SymBool* truth = std::get_if<SymBool>(&value.meta())) {
    verifier.number(*truth);
  } else if (const CustomObjMeta* object = std::get_if<CustomObjMeta>(&value.meta())) {
    if (object->class_fqn.empty()) {
      const std::string where = fmt::format("value '{}'", printable(value.name()));
      context.add("object-class", Place{&scope, nullptr, where}, "the object has no class", kExportAgain);
    }
  }
}

void verify_symbols(Context& context, const Scope& scope, const Symbols& symbols) {
  for (const auto& [symbol, is_told] : symbols) {
    if (is_told) continue;
    context.add(
        "unbound-symbol", Place{&scope},
        fmt::format("expressions have the symbol '{}', which is only known when the program runs, but "
                    "no value says what it is",
                    printable(symbol)),
        kExportAgain);
  }
}

}  // namespace flambeau::graph::verifying
