#include "call_compare.h"

#include <fmt/format.h>

#include <cmath>
#include <complex>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::torchscript_calls {
namespace {

using script::IValue;
using Tag = IValue::Tag;

struct Tolerance {
  double relative = 0;
  double absolute = 0;
};
Tolerance tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kComplex32:
      return {1e-3, 1e-5};
    case DType::kBFloat16:
      return {1.6e-2, 1e-5};
    case DType::kFloat32:
    case DType::kComplex64:
      return {1.3e-6, 1e-5};
    case DType::kFloat64:
    case DType::kComplex128:
      return {1e-7, 1e-7};
    default:
      return {};
  }
}

bool is_close(std::complex<double> a, std::complex<double> b, Tolerance tolerance) {
  const auto both_nan = [](double x, double y) { return std::isnan(x) && std::isnan(y); };
  if (both_nan(a.real(), b.real()) && (a.imag() == b.imag() || both_nan(a.imag(), b.imag()))) return true;
  if (a == b) return true;
  return std::abs(a - b) <= tolerance.absolute + tolerance.relative * std::abs(b);
}

Tensor plain(const Tensor& tensor) {
  if (tensor.quantizer() == nullptr) return tensor.to_contiguous();
  // The integers as they are.
  const DType dtype = tensor.dtype() == DType::kQInt8    ? DType::kInt8
                      : tensor.dtype() == DType::kQUInt8 ? DType::kUInt8
                                                         : DType::kInt32;
  return Tensor::strided(dtype, tensor.geometry(), tensor.storage()).to_contiguous();
}

std::string tensor_difference(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined() ? "" : "defined";
  if (a.dtype() != b.dtype())
    return fmt::format("dtype {} for {}", dtype_name(a.dtype()), dtype_name(b.dtype()));
  if (a.layout() != b.layout()) return "layout";
  if (!(a.sizes() == b.sizes())) return fmt::format("sizes {} for {}", a.summary(), b.summary());
  if (a.sparse_parts() != nullptr) return "";
  if (a.is_meta() || b.is_meta()) return a.is_meta() == b.is_meta() ? "" : "device";
  if ((a.quantizer() == nullptr) != (b.quantizer() == nullptr)) return "quantized";
  for (size_t d = 0; d < a.dim() && a.element_count() > 1; ++d) {
    if (a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d]) {
      return fmt::format("strides: [{}] for [{}] of {}", fmt::join(a.strides().span(), ", "),
                         fmt::join(b.strides().span(), ", "), b.summary());
    }
  }
  if (a.quantizer() != nullptr) {
    if (std::fabs(a.quantizer()->scale - b.quantizer()->scale) > 1e-6 * std::fabs(b.quantizer()->scale) ||
        a.quantizer()->zero_point != b.quantizer()->zero_point)
      return "quantizer";
  }
  const Tensor x = plain(a), y = plain(b);
  const Tolerance tolerance = tolerance_of(x.dtype());
  const bool is_complex = dtype_info(x.dtype()).is_complex;
  for (int64_t i = 0; i < x.element_count(); ++i) {
    const uint8_t* const p = x.data() + i * static_cast<int64_t>(x.element_size());
    const uint8_t* const q = y.data() + i * static_cast<int64_t>(y.element_size());
    if (std::equal(p, p + x.element_size(), q)) continue;
    std::complex<double> u, v;
    double r = 0, s = 0;
    if (is_complex) {
      ops::load_packed(x.dtype(), p, 0, 1, DType::kComplex128, &u);
      ops::load_packed(y.dtype(), q, 0, 1, DType::kComplex128, &v);
    } else {
      ops::load_packed(x.dtype(), p, 0, 1, DType::kFloat64, &r);
      ops::load_packed(y.dtype(), q, 0, 1, DType::kFloat64, &s);
      u = r;
      v = s;
    }
    // Quantized numbers at a border may fall to either side.
    if (a.quantizer() != nullptr && std::fabs(r - s) <= 1) continue;
    if (!is_close(u, v, tolerance)) {
      return fmt::format("values: {}+{}j for {}+{}j at {}", u.real(), u.imag(), v.real(), v.imag(), i);
    }
  }
  return "";
}

std::string items_difference(const std::vector<IValue>& a, const std::vector<IValue>& b) {
  if (a.size() != b.size()) return fmt::format("{} items for {}", a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    std::string found = difference(a[i], b[i]);
    if (!found.empty()) return found;
  }
  return "";
}

const IValue* member(const IValue& dict, const char* name) { return dict.as_dict().items.find(IValue(name)); }

std::string dict_difference(const IValue& a, const IValue& b) {
  const auto ours = a.as_dict().items.entries(), theirs = b.as_dict().items.entries();
  if (ours.size() != theirs.size()) return "keys of a dict";
  for (size_t i = 0; i < ours.size(); ++i) {
    if (!difference(ours[i].key, theirs[i].key).empty()) return "order or keys of a dict";
    std::string found = difference(ours[i].value, theirs[i].value);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace

std::string difference(const IValue& ours, const IValue& expected) {
  if (expected.is(Tag::kDict)) {
    if (const IValue* const values = member(expected, "values");
        values != nullptr && member(expected, "__namedtuple__") != nullptr) {
      if (!ours.is(Tag::kTuple) || ours.as_tuple().named == nullptr) return "a named tuple is expected";
      return items_difference(ours.items(), values->items());
    }
    if (member(expected, "__enum__") != nullptr) {
      if (!ours.is(Tag::kEnum)) return "an enumerator is expected";
      return ours.as_enum().name == member(expected, "name")->as_string() ? "" : "enumerator";
    }
  }
  if (ours.is(Tag::kFuture)) return difference(ours.as_future().value, expected);
  if (ours.tag() != expected.tag()) return fmt::format("{} for {}", ours.kind_name(), expected.kind_name());
  switch (ours.tag()) {
    case Tag::kFloat:
      return is_close(ours.as_float(), expected.as_float(), {1e-7, 1e-7})
                 ? ""
                 : fmt::format("a float: {} for {}", ours.as_float(), expected.as_float());
    case Tag::kComplex:
      return is_close(ours.as_complex(), expected.as_complex(), {1e-7, 1e-7}) ? "" : "a complex number";
    case Tag::kTensor:
      return tensor_difference(ours.as_tensor(), expected.as_tensor());
    case Tag::kTuple:
    case Tag::kList:
      return items_difference(ours.items(), expected.items());
    case Tag::kDict:
      return dict_difference(ours, expected);
    case Tag::kInt:
      return ours.as_int() == expected.as_int()
                 ? ""
                 : fmt::format("an int: {} for {}", ours.as_int(), expected.as_int());
    case Tag::kString:
      return ours.as_string() == expected.as_string()
                 ? ""
                 : fmt::format("a string: {} for {}", ours.as_string(), expected.as_string());
    default:
      return script::equal_keys(ours, expected) ? "" : "a " + ours.kind_name();
  }
}

}  // namespace flambeau::torchscript_calls
