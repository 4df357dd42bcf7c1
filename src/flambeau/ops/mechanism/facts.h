// What an operator says of itself beside how it is computed, so that nobody else needs to know it by its
// name: what a call costs, which layer it is and which argument has which part in it, how to write through a
// view, what data decides. Each fact is a typed function of the call's first arguments, as many as it needs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "flambeau/kernels/epilogue.h"
#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::ops {

// ---- calls by what their arguments are for. They point to the arguments; null is not given.

struct ConvolutionCall {
  const Tensor* input = nullptr;
  const Tensor* weight = nullptr;  // out and in channels, and the kernel
  const Tensor* bias = nullptr;
  std::span<const Size> stride;  // one number, or one for each dimension
  std::span<const Size> padding;
  std::span<const Size> dilation;
  int64_t groups = 1;
  bool is_transposed = false;
  std::span<const Size> output_padding = {};  // of a transposed one
};

// input * weight + bias.
struct ProductCall {
  const Tensor* input = nullptr;
  const Tensor* weight = nullptr;
  const Tensor* bias = nullptr;
  bool is_turned = false;  // the weight has its columns first
};

// (input - mean) / sqrt(variance + epsilon) * weight + bias, each by channel.
struct NormalizationCall {
  const Tensor* input = nullptr;
  const Tensor* weight = nullptr;
  const Tensor* bias = nullptr;
  const Tensor* mean = nullptr;
  const Tensor* variance = nullptr;
  double epsilon = 0;
};

enum class RnnKind : uint8_t { kTanh, kRelu, kLstm, kGru };

struct RecurrentCall {
  RnnKind kind = RnnKind::kLstm;
  const Tensor* input = nullptr;
  std::span<const Tensor> states;  // hidden, and an LSTM's cells
  std::span<const Tensor> parameters;
  bool has_biases = true;
  int64_t layers = 1;
  double dropout = 0;
  bool is_bidirectional = false;
  bool batch_first = false;

  size_t sequence_dim() const { return batch_first ? 1 : 0; }
};

// What a layer may do to each number of its result as it writes it.
struct Epilogue : kernels::Epilogue {
  const Tensor* input = nullptr;
  const Tensor* other = nullptr;  // of a sum
};

// A size, or without a dimension the number of elements.
struct SizeCall {
  const Tensor* tensor = nullptr;
  std::optional<int64_t> dim;
};

// ---- what data decides

// Whoever traces gives numbers for what only data can tell.
class DataNumbers {
 public:
  virtual ~DataNumbers() = default;
  // A new size, of which at most this is known.
  virtual SymInt size(const std::optional<SymInt>& most = {}) = 0;
  // How many elements are not zero: of the same tensor the same number, whoever asks. At most `most`.
  virtual SymInt count_of(const Tensor& /*mask*/, const SymInt& most) { return size(most); }
  // Is it such a number?
  virtual bool is_from_data(const SymInt& number) const = 0;
  // Is it known to be in [0, size]?
  virtual bool is_within(const SymInt& number, const SymInt& size) const = 0;
};

// The results where data decides about their geometry; nothing where the shape rule does.
class DataShape {
 public:
  DataShape(std::nullopt_t) {}  // NOLINT(google-explicit-constructor): what a rule gives is one
  DataShape(Info<SymInt> info) : infos_({std::move(info)}) {}   // NOLINT
  DataShape(Infos<SymInt> infos) : infos_(std::move(infos)) {}  // NOLINT
  DataShape(std::optional<Info<SymInt>> info) {                 // NOLINT
    if (info) infos_ = Infos<SymInt>{*std::move(info)};
  }
  explicit operator bool() const { return infos_.has_value(); }
  const Infos<SymInt>& infos() const { return *infos_; }
  // The first result.
  const Info<SymInt>* operator->() const { return &infos_->front(); }

 private:
  std::optional<Infos<SymInt>> infos_;
};

// ---- all of them

// `Beside` is what the function takes in front of the arguments.
template <typename Result, typename... Beside>
using BoxedFact = Boxed<Result, std::span<const Value> /* arguments */, Beside...>;
template <typename Call>
using Description = BoxedFact<std::optional<Call>>;

struct Facts {
  // How many operations on numbers a call takes: a multiplication and an addition are two. Where there is
  // none, one for each result of an elementwise operator.
  BoxedFact<uint64_t, const Tensor& /* first result */> work;
  std::tuple<Description<ConvolutionCall>, Description<ProductCall>, Description<NormalizationCall>,
             Description<RecurrentCall>, Description<Epilogue>, Description<SizeCall>>
      descriptions;
  // Of a view: its base, which is the first argument, with another value in the view's place.
  BoxedFact<Tensor, Context&, const Tensor& /* value */, size_t /* which result */> inverse;
  BoxedFact<DataShape, DataNumbers&> data_shape;
  // Arguments that it writes to, which its schema does not say, while the argument `writes_when` is true.
  std::vector<std::string_view> hidden_writes;
  std::string_view writes_when;
  // The operator that gives what this one writes as more results.
  std::string_view functional;
  // The parameters of the functions above, for tests.
  std::vector<std::span<const ParameterType>> parameters;

  // as<ConvolutionCall>(arguments): nothing where the call is no such one.
  template <typename Call>
  std::optional<Call> as(std::span<const Value> arguments) const {
    const Description<Call>& description = std::get<Description<Call>>(descriptions);
    return description == nullptr ? std::nullopt : description(arguments);
  }
};

// Sizes are all it looks at.
uint64_t operation_count(const Operator& op, std::span<const Value> arguments,
                         std::span<const Tensor> outputs);

// ---- work that several families share
uint64_t no_work(const Tensor& out);
// Each result is a sum of as many products as the left factor has columns.
uint64_t product_work(const Tensor& out, const Tensor& left);
// Few results of many elements: once for each of the many.
uint64_t reduction_work(const Tensor& out, const Tensor& self);

}  // namespace flambeau::ops
