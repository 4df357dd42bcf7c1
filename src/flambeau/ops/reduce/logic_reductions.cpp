// Whether any, or every, element is true.
#include "flambeau/ops/engines/reduction.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

using OptionalDims = std::optional<std::span<const Size>>;

template <bool kAny>
struct LogicOp {
  template <typename T>
  using State = uint8_t;
  template <typename T>
  uint8_t start() const {
    return kAny ? 0 : 1;
  }
  template <typename T>
  void add(uint8_t& state, T x, int64_t) const {
    state = kAny ? state | x : state & x;
  }
  template <typename T>
  void merge(uint8_t& state, const uint8_t& other) const {
    add<T>(state, other, 0);
  }
  template <typename T>
  void finish(const uint8_t& state, int64_t, void* const* outputs, size_t i) const {
    static_cast<uint8_t*>(outputs[0])[i] = state;
  }
};

template <bool kAny>
void run_logic(Context& context, const Tensor& self, const DimFlags& reduced, Tensor& out) {
  const LogicOp<kAny> op;
  const Output outputs[] = {{&out, DType::kBool}};
  run_fold(context, self, DType::kBool, reduced, FoldOf<LogicOp<kAny>, uint8_t>::make(DType::kBool), outputs,
           &op);
}

// uint8 stays what it was before there was bool.
DType logic_dtype(DType self) { return self == DType::kUInt8 ? DType::kUInt8 : DType::kBool; }

// Unlike elsewhere an empty list means none.
DimFlags logic_dims(OptionalDims dims, size_t rank) {
  if (!dims) return all_dims(rank);
  return dims->empty() ? DimFlags(rank, false) : reduced_dims(*dims, rank);
}

template <typename N>
Info<N> all_shape(const Info<N>& self) {
  return reduced_info(logic_dtype(self.dtype), self, all_dims(self.dim()), false);
}
template <bool kAny>
void all_kernel(Context& context, const Tensor& self, Tensor& out) {
  run_logic<kAny>(context, self, all_dims(self.dim()), out);
}
template <typename N>
Info<N> dim_shape(const Info<N>& self, Size dim, bool keep) {
  return reduced_info(logic_dtype(self.dtype), self, one_dim(dim, self.dim()), keep);
}
template <bool kAny>
void dim_kernel(Context& context, const Tensor& self, Size dim, bool, Tensor& out) {
  run_logic<kAny>(context, self, one_dim(dim, self.dim()), out);
}
template <typename N>
Info<N> dims_shape(const Info<N>& self, OptionalDims dims, bool keep) {
  return reduced_info(logic_dtype(self.dtype), self, logic_dims(dims, self.dim()), keep);
}
template <bool kAny>
void dims_kernel(Context& context, const Tensor& self, OptionalDims dims, bool, Tensor& out) {
  run_logic<kAny>(context, self, logic_dims(dims, self.dim()), out);
}

// ---- as other operators
Tensor negated(Context& c, const Tensor& x) { return call(c, "aten::logical_not", x); }
Tensor all_parts(Context& c, const Tensor& self) {
  return negated(c, call(c, "aten::any.dims", negated(c, self)));
}
Tensor all_dim_parts(Context& c, const Tensor& self, Size dim, bool keep) {
  return negated(c, call(c, "aten::any.dim", negated(c, self), dim, keep));
}

Tensor all_dims_parts(Context& c, const Tensor& self, const Value& dims, bool keep) {
  return negated(c, call(c, "aten::any.dims", negated(c, self), dims, keep));
}

template <bool kAny>
void define_one(Library& library, const char* all, const char* dim, const char* dims, const char* alias) {
  Definition of_all = library.define(all);
  of_all.template shape<all_shape<Size>, all_shape<SymInt>>().template kernel<all_kernel<kAny>>();
  library.define(alias)
      .template shape<all_shape<Size>, all_shape<SymInt>>()
      .template kernel<all_kernel<kAny>>();
  Definition of_dim = library.define(dim);
  of_dim.template shape<dim_shape<Size>, dim_shape<SymInt>>().template kernel<dim_kernel<kAny>>();
  Definition of_dims = library.define(dims);
  of_dims.template shape<dims_shape<Size>, dims_shape<SymInt>>().template kernel<dims_kernel<kAny>>();
  if constexpr (!kAny) {
    of_all.template core_decomposition<all_parts>();
    of_dim.template core_decomposition<all_dim_parts>();
    of_dims.template core_decomposition<all_dims_parts>();
  }
}

}  // namespace

void define_logic_reductions(Library& library) {
  define_one<true>(library, "aten::any(Tensor self) -> Tensor",
                   "aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
                   "aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
                   "aten::_is_any_true(Tensor self) -> Tensor");
  define_one<false>(library, "aten::all(Tensor self) -> Tensor",
                    "aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
                    "aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
                    "aten::_is_all_true(Tensor self) -> Tensor");
}

}  // namespace flambeau::ops
