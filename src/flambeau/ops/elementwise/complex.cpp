// Complex numbers: their parts, and numbers made of parts. There is no lazy conjugation: conj() of a complex
// tensor computes it.
#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/ops/elementwise/kernels.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"

namespace flambeau::ops {
namespace {

struct Conjugate {
  static constexpr std::string_view kName = "conj_physical";
  template <typename T>
  std::complex<T> operator()(std::complex<T> z) const {
    return std::conj(z);
  }
};

Tensor conjugate(Context& context, const Tensor& self) {
  if (!is_complex(self.dtype())) return self;
  Tensor out = context.allocate(elementwise_info<Size>(self.dtype(), info_of(self)));
  if (out.element_count() > 0) run_body(context, unary<Conjugate>(self, out), out);
  return out;
}
std::optional<Info<SymInt>> conjugate_shape(DataNumbers&, const Info<SymInt>& self) {
  return is_complex(self.dtype) ? elementwise_info<SymInt>(self.dtype, self) : self;
}
Body conjugate_copy(const Tensor& self, const Tensor& out) {
  if (!is_complex(self.dtype())) return copy_body(self, out);
  return unary<Conjugate>(self, out);
}
// Real numbers are their own conjugates, and the tensor its own result.
Tensor conj_physical(Context& context, const Tensor& self) {
  return is_complex(self.dtype()) ? call(context, "aten::_conj_physical", self) : self;
}
struct Negative {
  static constexpr std::string_view kName = "neg";
  static constexpr Hot kHot = Hot::kNeg;
  template <typename T>
  T operator()(T a) const {
    return -a;
  }
};
Tensor negated(Context& context, const Tensor& self) {
  Tensor out = context.allocate(elementwise_info<Size>(self.dtype(), info_of(self)));
  if (out.element_count() > 0) run_body(context, unary<Negative>(self, out), out);
  return out;
}

bool is_never(const Tensor&) { return false; }

struct Angle {
  static constexpr std::string_view kName = "angle";
  static constexpr int kCost = 20;
  template <RealNumber T>
  T operator()(T x) const {
    return x < T(0) ? T(3.14159265358979323846) : (x != x ? x : T(0));
  }
  template <typename T>
  T operator()(std::complex<T> z) const {
    return std::arg(z);
  }
};
Body angle(const Tensor& self, const Tensor& out) {
  if (is_complex(self.dtype())) {
    return body_of<Angle, RealOut>(Angle::kName, Angle{}, self.dtype(), out, self);
  }
  return unary<Angle>(self, out);
}
struct AngleType {
  template <typename N>
  static DType type(const Info<N>& self) {
    return int_to_float(to_real(self.dtype));
  }
};

struct Join {
  static constexpr std::string_view kName = "complex";
  template <RealNumber T>
  std::complex<T> operator()(T real, T imaginary) const {
    return {real, imaginary};
  }
};
struct Polar {
  static constexpr std::string_view kName = "complex";
  static constexpr std::string_view kBody = "polar";
  static constexpr int kCost = 30;
  template <RealNumber T>
  std::complex<T> operator()(T length, T turn) const {
    return {length * std::cos(turn), length * std::sin(turn)};
  }
};
struct JoinedType {
  template <typename N>
  static DType type(const Info<N>& a, const Info<N>& b) {
    if (!is_floating(a.dtype) || !is_floating(b.dtype) || a.dtype == DType::kBFloat16 ||
        b.dtype == DType::kBFloat16) {
      throw Error(ErrorCode::kInvalidArgument,
                  "Expected both inputs to be Half, Float or Double tensors but got " +
                      std::string(dtype_name(a.dtype)) + " and " + std::string(dtype_name(b.dtype)));
    }
    if (a.dtype != b.dtype) {
      throw Error(ErrorCode::kInvalidArgument,
                  "Expected object of scalar type " + std::string(dtype_name(a.dtype)) +
                      " but got scalar type " + std::string(dtype_name(b.dtype)) + " for second argument");
    }
    return to_complex(a.dtype);
  }
};
template <typename F>
Body joined(const Tensor& a, const Tensor& b, const Tensor& out) {
  return body_of<F, ComplexOut>(F::kName, F{}, to_real(out.dtype()), out, a, b);
}

}  // namespace

void define_complex(Library& library) {
  library.define("aten::conj(Tensor(a) self) -> Tensor(a)")
      .function<conjugate>()
      .data_shape<conjugate_shape>();
  library.define("aten::_conj(Tensor(a) self) -> Tensor(a)")
      .function<conjugate>()
      .data_shape<conjugate_shape>()
      .is(Trait::kPrimitiveView);
  elementwise<SameType, conjugate_copy>(library, "aten::_conj_physical(Tensor self) -> Tensor");
  library.define("aten::conj_physical(Tensor self) -> Tensor").decomposition<conj_physical>();
  library.define("aten::_neg_view(Tensor(a) self) -> Tensor(a)")
      .function<negated>()
      .is(Trait::kPrimitiveView);
  library.define("aten::is_conj(Tensor self) -> bool").function<is_never>();
  library.define("aten::is_neg(Tensor self) -> bool").function<is_never>();
  elementwise<AngleType, angle>(library, "aten::angle(Tensor self) -> Tensor");
  elementwise<JoinedType, joined<Join>>(library, "aten::complex(Tensor real, Tensor imag) -> Tensor")
      .is(Trait::kExactOut);
  elementwise<JoinedType, joined<Polar>>(library, "aten::polar(Tensor abs, Tensor angle) -> Tensor")
      .is(Trait::kExactOut);
}

}  // namespace flambeau::ops
