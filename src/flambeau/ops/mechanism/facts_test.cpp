// What operators say of themselves, and that it agrees with what they do.
#include "flambeau/ops/mechanism/facts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "flambeau/ops/dense/test_tensors.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/symbolic/build.h"

namespace flambeau::ops {
namespace {

Tensor all_of(float value, const Dims& sizes) {
  Tensor tensor = Tensor::zeros(DType::kFloat32, sizes);
  std::fill_n(tensor.mutable_data<float>(), tensor.element_count(), value);
  return tensor;
}

class FactsTest : public OperatorTest {
 protected:
  template <typename... A>
  std::vector<Value> bound(const Operator& op, const A&... arguments) const {
    return bind_arguments(op.schema, std::vector<Value>{Value(arguments)...});
  }
  template <typename... A>
  uint64_t count(std::string_view name, const Dims& out, const A&... arguments) const {
    const Operator& op = library.get(name);
    const Tensor outputs[] = {all_of(0, out)};
    return operation_count(op, bound(op, arguments...), outputs);
  }
  template <typename Call, typename... A>
  std::optional<Call> as(std::string_view name, const A&... arguments) {
    const Operator& op = library.get(name);
    arguments_ = bound(op, arguments...);
    return op.facts().as<Call>(arguments_);
  }
  // Writes sevens through the view, in whichever of its results: they are there, and nothing else changes.
  template <typename... A>
  void expect_inverse(std::string_view name, size_t which, const Tensor& base, const A&... arguments) {
    const Operator& op = library.get(name);
    ASSERT_FALSE(op.facts().inverse == nullptr) << name;
    const auto viewed = [&](const Tensor& tensor) {
      const std::vector<Value> results = call(context, op, bound(op, tensor, arguments...));
      const TensorList* const list = results.at(0).get_if<TensorList>();
      return list != nullptr ? list->at(which) : results.at(0).tensor();
    };
    const Tensor view = viewed(base);
    const Tensor sevens = all_of(7, view.sizes());
    const Tensor written = op.facts().inverse(bound(op, base, arguments...), context, sevens, which);
    ASSERT_EQ(written.sizes(), base.sizes()) << name;
    const Tensor seen = viewed(written).to_contiguous();
    const Tensor whole = written.to_contiguous();
    for (int64_t i = 0; i < seen.element_count(); ++i) EXPECT_EQ(seen.data<float>()[i], 7) << name;
    int64_t changed = 0;
    for (int64_t i = 0; i < whole.element_count(); ++i)
      changed += whole.data<float>()[i] != base.data<float>()[i] ? 1 : 0;
    EXPECT_EQ(changed, view.element_count()) << name;
  }

  std::vector<Value> arguments_;
};

TEST_F(FactsTest, WritesThroughViewsCanBeUndone) {
  const Tensor base = all_of(-1, {2, 1, 3});
  expect_inverse("aten::view", 0, base, Dims{3, 2});
  expect_inverse("aten::_reshape_alias", 0, base, Dims{6}, Dims{1});
  expect_inverse("aten::alias", 0, base);
  expect_inverse("aten::detach", 0, base);
  expect_inverse("aten::t", 0, all_of(-1, {2, 3}));
  expect_inverse("aten::transpose.int", 0, base, 0, -1);
  expect_inverse("aten::permute", 0, base, Dims{2, 0, -2});
  expect_inverse("aten::unsqueeze", 0, base, -1);
  expect_inverse("aten::squeeze", 0, base);
  expect_inverse("aten::squeeze.dim", 0, base, 1);
  expect_inverse("aten::squeeze.dim", 0, base, 0);
  expect_inverse("aten::squeeze.dim", 0, all_of(-1, {}), 0);
  expect_inverse("aten::squeeze.dims", 0, all_of(-1, {1, 2, 1}), Dims{0, -1});
  expect_inverse("aten::select.int", 0, base, 2, -1);
  expect_inverse("aten::slice.Tensor", 0, base, 2, 0, 3, 2);
  expect_inverse("aten::diagonal", 0, base, 1, 0, 2);
  expect_inverse("aten::split.Tensor", 1, base, 2, -1);
  expect_inverse("aten::split_with_sizes", 1, base, Dims{1, 2}, 2);
  expect_inverse("aten::unbind.int", 1, base, 0);
  expect_inverse("aten::as_strided", 0, base, Dims{2}, Dims{2}, 1);
}

TEST_F(FactsTest, DerivedFormsHaveTheFactsThatHoldForThem) {
  const Tensor x = all_of(1, {2});
  EXPECT_EQ(as<Epilogue>("aten::relu_", x)->kind, Epilogue::Kind::kRelu);
  EXPECT_TRUE(library.get("aten::relu_").is(Trait::kElementwise));
  EXPECT_TRUE(library.get("aten::view").is(Trait::kPrimitiveView));
  EXPECT_FALSE(library.get("aten::view_copy").is(Trait::kPrimitiveView));
  EXPECT_TRUE(library.get("aten::bernoulli.out").is(Trait::kRandom));
}

TEST_F(FactsTest, OperationsAreCounted) {
  const Tensor x = all_of(1, {2, 3});
  EXPECT_EQ(count("aten::mm", {2, 4}, x, all_of(1, {3, 4})), 48U);
  EXPECT_EQ(count("aten::addmm", {2, 4}, all_of(1, {4}), x, all_of(1, {3, 4})), 48U);
  EXPECT_EQ(count("aten::linear", {2, 4}, x, all_of(1, {4, 3})), 48U);
  const Tensor image = all_of(1, {1, 2, 4, 4});
  EXPECT_EQ(count("aten::conv2d", {1, 3, 2, 2}, image, all_of(1, {3, 2, 3, 3})), 12U * 36);
  EXPECT_EQ(count("aten::conv_transpose2d.input", {1, 3, 6, 6}, image, all_of(1, {2, 3, 3, 3})), 32U * 54);
  const Tensor query = all_of(1, {1, 2, 5, 4});
  EXPECT_EQ(count("aten::scaled_dot_product_attention", {1, 2, 5, 4}, query, query, query), 2U * 10 * 5 * 8);
  EXPECT_EQ(count("aten::gru.input", {5, 1, 2}, all_of(1, {5, 1, 4}), all_of(0, {1, 1, 2}),
                  TensorList{all_of(1, {6, 4}), all_of(1, {6, 2})}, false, 1, 0.0, false, false, false),
            2U * 36 * 5);
  EXPECT_EQ(count("aten::sum", {}, x), 6U);
  EXPECT_EQ(count("aten::exp", {2, 3}, x), 6U);
  EXPECT_EQ(count("aten::exp_", {2, 3}, x), 6U);
  EXPECT_EQ(count("aten::clone", {2, 3}, x), 0U);
  EXPECT_EQ(count("aten::where.self", {2, 3}, x, x, x), 0U);
}

TEST_F(FactsTest, CallsSayWhatTheirArgumentsAreFor) {
  const Tensor a = all_of(1, {2, 2});
  const Tensor b = all_of(2, {2, 2});
  const Tensor c = all_of(3, {2});
  const auto addmm = as<ProductCall>("aten::addmm", c, a, b);
  ASSERT_TRUE(addmm);
  EXPECT_EQ(addmm->input->storage(), a.storage());
  EXPECT_EQ(addmm->weight->storage(), b.storage());
  EXPECT_EQ(addmm->bias->storage(), c.storage());
  EXPECT_TRUE(as<ProductCall>("aten::linear", a, b)->is_turned);
  EXPECT_FALSE(as<ConvolutionCall>("aten::linear", a, b));
  const auto transposed = as<ConvolutionCall>("aten::conv_transpose2d.input", all_of(1, {1, 2, 4, 4}),
                                              all_of(1, {2, 3, 3, 3}), Value(), Dims{2}, Dims{0}, Dims{1});
  ASSERT_TRUE(transposed);
  EXPECT_TRUE(transposed->is_transposed);
  EXPECT_EQ(transposed->output_padding[0], 1);
  EXPECT_FALSE(as<NormalizationCall>("aten::batch_norm", a, Value(), Value(), c, c, true, 0.1, 1e-5, false));
  EXPECT_EQ(as<NormalizationCall>("aten::batch_norm", a, Value(), Value(), c, c, false, 0.1, 1e-5, false)
                ->variance->storage(),
            c.storage());
  EXPECT_EQ(as<Epilogue>("aten::hardtanh", a, -2, 3)->beta, 3);
  EXPECT_EQ(as<Epilogue>("aten::add.Tensor", a, b)->kind, Epilogue::Kind::kSum);
  const Operator& add = library.get("aten::add.Tensor");
  const std::vector<Value> twice = {a, b, 2};
  EXPECT_FALSE(add.facts().as<Epilogue>(twice));
  EXPECT_EQ(as<SizeCall>("aten::sym_size.int", a, -1)->dim, -1);
  EXPECT_FALSE(as<SizeCall>("aten::sym_numel", a)->dim);
}

// Gives out u0, u1, ... and knows nothing of them.
class Unknown final : public DataNumbers, public symbolic::Decider {
 public:
  SymInt size(const std::optional<SymInt>& most) override {
    most_ = most ? most->literal() : -1;
    return SymInt(symbolic::symbol("u" + std::to_string(count_++)), *this);
  }
  bool is_from_data(const SymInt& number) const override { return !number.is_literal(); }
  bool is_within(const SymInt&, const SymInt&) const override { return false; }
  bool decide(const symbolic::Expr& condition) override { return condition.kind() == symbolic::Kind::kTrue; }

  int count_ = 0;
  int64_t most_ = 0;
};

TEST_F(FactsTest, ArgwhereIsNonzero) {
  Unknown data;
  const Operator& op = library.get("aten::argwhere");
  const DataShape info = op.facts().data_shape(bound(op, all_of(1, {2, 3})), data);
  EXPECT_EQ(info->sizes[0].expr().name(), "u0");
  EXPECT_EQ(info->sizes[1].literal(), 2);
  EXPECT_EQ(data.most_, 6);
}

TEST_F(FactsTest, DataDecidesSizes) {
  Unknown data;
  const auto shape = [&](std::string_view name, const auto&... arguments) {
    const Operator& op = library.get(name);
    return op.facts().data_shape(bound(op, arguments...), data);
  };
  const Tensor x = all_of(1, {2, 3});
  EXPECT_EQ(shape("aten::nonzero", x)->strides[1].expr().name(), "u0");
  EXPECT_EQ(data.most_, 6);
  EXPECT_EQ(shape("aten::masked_select", x, x)->dim(), 1U);
  EXPECT_FALSE(shape("aten::slice.Tensor", x, 1, 0, 2));
  EXPECT_FALSE(shape("aten::index.Tensor", x, TensorList{Tensor()}));
  EXPECT_EQ(data.count_, 2);
  const SymInt u = data.size({});
  EXPECT_EQ(shape("aten::slice.Tensor", x, 1, u, Value())->offset.expr().name(), "u4");
  const Tensor mask = call(context, "aten::gt.Scalar", x, 0);
  EXPECT_EQ(shape("aten::index.Tensor", x, TensorList{mask})->dim(), 1U);
  EXPECT_FALSE(shape("aten::one_hot", x, -1));
  EXPECT_EQ(shape("aten::one_hot", x, 5)->sizes[2].literal(), 5);
}

TEST_F(FactsTest, DataDecidesSizesOfSeveralResults) {
  Unknown data;
  const auto infos = [&](std::string_view name, const auto&... arguments) {
    const Operator& op = library.get(name);
    return op.facts().data_shape(bound(op, arguments...), data).infos();
  };
  const Tensor x = all_of(1, {2, 3});
  const Infos<SymInt> unique = infos("aten::_unique2", x, true, true, true);
  ASSERT_EQ(unique.size(), 3U);
  EXPECT_EQ(unique[0].sizes[0].expr().name(), "u0");
  EXPECT_EQ(unique[1].sizes[1].literal(), 3);
  EXPECT_EQ(unique[2].sizes[0].expr().name(), "u0");
  EXPECT_EQ(infos("aten::unique_dim", x, 1)[0].sizes[1].expr().name(), "u1");
  EXPECT_EQ(infos("aten::nonzero_numpy", x).size(), 2U);
  EXPECT_EQ(infos("aten::_unique2", all_of(1, {0}))[0].sizes[0].literal(), 0);
}

TEST_F(FactsTest, WhatIsNamedIsThere) {
  for (const std::string& name : library.names()) {
    const Operator& op = library.get(name);
    const Facts& facts = op.facts();
    for (const std::string_view argument : facts.hidden_writes)
      EXPECT_TRUE(op.schema.find_argument(argument)) << name;
    EXPECT_EQ(facts.hidden_writes.empty(), !op.schema.find_argument(facts.writes_when)) << name;
    if (facts.functional.empty()) continue;
    const Schema& functional = library.get(facts.functional).schema;
    const auto written = static_cast<size_t>(
        std::ranges::count_if(op.schema.arguments, [](const auto& each) { return each.is_written(); }));
    EXPECT_EQ(functional.returns.size(), op.schema.returns.size() + written) << name;
    EXPECT_FALSE(functional.is_mutable());
  }
}

}  // namespace
}  // namespace flambeau::ops
