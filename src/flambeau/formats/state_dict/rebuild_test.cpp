#include "flambeau/formats/state_dict/rebuild.h"

#include <gtest/gtest.h>

#include "flambeau/formats/state_dict/resolve_bits.h"
#include "support/torch_files.h"

namespace flambeau {
namespace {

using pickle::Node;
using testing::error_text;
using testing::TorchFileBuilder;
using testing::values_of;

class Rebuild : public ::testing::Test {
 protected:
  Rebuild() : tree(file.tree) {
    std::string bytes;
    for (float value = 0; value < 6; ++value)
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    file.record("data/0", bytes);
  }
  Checkpoint load(Node* x) { return load_checkpoint(file.with_x(x)); }
  Tensor tensor(Node* x) {
    const Checkpoint checkpoint = load(x);
    return checkpoint.find("x") == nullptr ? Tensor() : *checkpoint.find("x");
  }
  std::string error_of(Node* x) {
    return error_text([&] { load(x); });
  }
  Node* floats() { return file.storage_id("FloatStorage", "0", 6); }
  Node* g(std::string_view module, std::string_view name) { return tree.global(module, name); }
  Node* n(int64_t value) { return tree.integer(value); }
  Node* no() { return tree.boolean(false); }
  Node* yes() { return tree.boolean(true); }

  TorchFileBuilder file;
  pickle::Tree& tree;
};

TEST_F(Rebuild, EveryAgeOfTheSameTensor) {
  const std::vector<float> expected = {1, 3, 2, 4};
  Node* storage = floats();
  Node* sizes = file.ints({2, 2});
  Node* strides = file.ints({1, 2});
  Node* old = tree.call(g("torch", "FloatTensor"), tree.tuple(), pickle::CallKind::kNewObject);
  tree.set_state(old, tree.tuple({storage, n(1), sizes, strides}));
  Node* cuda = tree.call(g("torch.cuda", "FloatTensor"), tree.tuple(), pickle::CallKind::kNewObject);
  tree.set_state(cuda, tree.tuple({storage, n(1), sizes, strides}));
  Node* size_object = tree.call(g("torch", "Size"), tree.tuple({tree.list({n(2), n(2)})}));
  for (Node* x : {
           old,
           cuda,
           file.utils("_rebuild_tensor", {storage, n(1), sizes, strides}),
           file.utils("_rebuild_tensor_v2", {storage, n(1), sizes, strides, no(), file.hooks()}),
           file.utils("_rebuild_tensor_v2",
                      {storage, n(1), size_object, strides, no(), file.hooks(), tree.none()}),
           file.utils("_rebuild_tensor_v3",
                      {storage, n(1), sizes, strides, no(), file.hooks(), g("torch", "float32")}),
       }) {
    EXPECT_EQ(values_of<float>(tensor(x)), expected);
  }
}

TEST_F(Rebuild, TypedStorageSeenAsAnotherType) {
  const Tensor x = tensor(file.utils("_rebuild_tensor_v3", {floats(), n(2), file.ints({2}), file.ints({1}),
                                                            no(), file.hooks(), g("torch", "int32")}));
  EXPECT_EQ(values_of<int32_t>(x), (std::vector<int32_t>{0x40000000, 0x40400000}));
}

TEST_F(Rebuild, ParametersOfEveryAge) {
  Node* data = file.plain_tensor();
  Node* early =
      tree.call(g("torch.nn.parameter", "Parameter"), tree.tuple({data}), pickle::CallKind::kNewObject);
  Node* by_state =
      tree.call(g("torch.nn.parameter", "Parameter"), tree.tuple(), pickle::CallKind::kNewObject);
  tree.set_state(by_state, tree.tuple({data, yes()}));
  for (Node* x : {early, by_state, file.utils("_rebuild_parameter", {data, yes(), file.hooks()}),
                  file.utils("_rebuild_parameter_with_state", {data, yes(), file.hooks(), tree.dict()})}) {
    const Checkpoint checkpoint = load(x);
    ASSERT_EQ(checkpoint.tensors().size(), 1U);
    EXPECT_EQ(checkpoint.tensors()[0].role, TensorRole::kParameter);
    EXPECT_TRUE(checkpoint.tensors()[0].tensor.requires_grad());
  }
  EXPECT_FALSE(tensor(file.utils("_rebuild_parameter", {data, no(), file.hooks()})).requires_grad());
  Node* buffer =
      tree.call(g("torch.nn.parameter", "Buffer"), tree.tuple({data}), pickle::CallKind::kNewObject);
  EXPECT_EQ(load(buffer).tensors()[0].role, TensorRole::kTensor);
  EXPECT_EQ(error_of(file.utils("_rebuild_parameter", {n(5), yes(), file.hooks()})),
            "corrupt: tensor 'x': a tensor is expected, found an int");
}

TEST_F(Rebuild, TensorsOfOtherDevices) {
  Node* x = file.utils("_rebuild_device_tensor_from_cpu_tensor",
                       {file.plain_tensor(), g("torch", "float32"), tree.string("xla:1"), yes()});
  EXPECT_EQ(tensor(x).device().to_string(), "xla:1");
  EXPECT_TRUE(tensor(x).requires_grad());
  const Tensor cuda = tensor(file.tensor_v2(file.storage_id("FloatStorage", "0", 6, "cuda:1"), 0, {6}, {1}));
  EXPECT_EQ(cuda.device().to_string(), "cuda:1");
}

TEST_F(Rebuild, MetaTensorsHaveNoData) {
  const Tensor x = tensor(
      file.utils("_rebuild_meta_tensor_no_storage",
                 {g("torch", "float16"), file.ints({1 << 20, 1 << 20}), file.ints({1 << 20, 1}), yes()}));
  EXPECT_TRUE(x.is_meta());
  EXPECT_TRUE(x.requires_grad());
  EXPECT_EQ(x.byte_count(), 1ULL << 41);
  EXPECT_EQ(error_text([&] { x.contiguous_bytes(); }).substr(0, 17), "invalid_argument:");
  // As 2.0 wrote them: an ordinary tensor whose storage is nowhere.
  EXPECT_TRUE(tensor(file.tensor_v2(file.storage_id("FloatStorage", "9", 6, "meta"), 0, {6}, {1})).is_meta());
  EXPECT_EQ(error_of(file.utils("_rebuild_meta_tensor_no_storage",
                                {g("torch", "float16"), file.ints({INT64_MAX}), file.ints({1}), yes()})),
            "corrupt: tensor 'x': the size of a tensor in bytes does not fit in a 64-bit number");
}

TEST_F(Rebuild, QuantizersOfBothPicklers) {
  file.record("data/q", std::string("\1\2\3\4", 4));
  Node* storage = file.storage_id("QInt8Storage", "q", 4);
  const auto quantized = [&](Node* params) {
    return file.utils("_rebuild_qtensor",
                      {storage, n(0), file.ints({2, 2}), file.ints({2, 1}), params, no(), file.hooks()});
  };
  const Tensor x = tensor(quantized(tree.tuple({g("torch", "per_tensor_affine"), tree.real(0.5), n(3)})));
  EXPECT_EQ(x.quantizer()->scale, 0.5);
  EXPECT_EQ(x.quantizer()->zero_point, 3);
  const Tensor number =
      tensor(quantized(tree.tuple({n(0), n(2), n(3)})));  // C++: scheme and scale as numbers
  EXPECT_EQ(number.quantizer()->scale, 2.0);
  // Early files: lists instead of tensors.
  const Tensor lists =
      tensor(quantized(tree.tuple({g("torch", "per_channel_affine"), tree.list({tree.real(0.5), n(2)}),
                                   tree.list({n(0), n(-1)}), n(1)})));
  EXPECT_EQ(values_of<double>(lists.quantizer()->scales), (std::vector<double>{0.5, 2}));
  EXPECT_EQ(values_of<int64_t>(lists.quantizer()->zero_points), (std::vector<int64_t>{0, -1}));
  EXPECT_EQ(error_of(quantized(tree.tuple({n(9), n(2), n(3)}))),
            "corrupt: tensor 'x': 9 is not the number of a quantization scheme");
  EXPECT_EQ(error_of(quantized(tree.tuple({g("torch", "per_moon"), n(2), n(3)}))),
            "corrupt: tensor 'x': 'torch.per_moon' is not a quantization scheme");
  EXPECT_EQ(error_of(quantized(tree.tuple())), "corrupt: tensor 'x': a quantized tensor without a scheme");
  EXPECT_EQ(
      error_of(quantized(tree.tuple({g("torch", "per_channel_affine"), tree.list(), tree.list(), n(0)})))
          .substr(0, 21),
      "corrupt: tensor 'x': ");
}

TEST_F(Rebuild, SparseLayouts) {
  file.record("data/i", std::string("\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16));
  Node* indices = file.tensor_v2(file.storage_id("LongStorage", "i", 2), 0, {1, 2}, {2, 1});
  Node* values = file.tensor_v2(floats(), 0, {2}, {1});
  const auto sparse = [&](Node* layout, Node* data) {
    return file.utils("_rebuild_sparse_tensor", {layout, data});
  };
  Node* by_call =
      tree.call(g("torch.serialization", "_get_layout"), tree.tuple({tree.string("torch.sparse_coo")}));
  for (Node* layout : {by_call, g("torch", "sparse_coo"), n(1)}) {
    const Tensor x = tensor(sparse(layout, tree.tuple({indices, values, file.ints({3}), yes()})));
    EXPECT_EQ(x.layout(), Layout::kSparseCoo);
    EXPECT_TRUE(x.sparse_parts()->is_coalesced);
  }
  EXPECT_FALSE(
      tensor(sparse(by_call, tree.tuple({indices, values, file.ints({3})}))).sparse_parts()->is_coalesced);
  EXPECT_EQ(error_of(sparse(n(77), tree.tuple())), "corrupt: tensor 'x': 77 is not the number of a layout");
  EXPECT_EQ(error_of(sparse(g("torch", "round"), tree.tuple())),
            "corrupt: tensor 'x': 'torch.round' is not a layout");
  EXPECT_EQ(error_of(sparse(tree.none(), tree.tuple())),
            "corrupt: tensor 'x': a layout is expected, found None");
  EXPECT_EQ(error_of(sparse(n(0), tree.tuple())),
            "corrupt: tensor 'x': a sparse tensor cannot have the strided layout");
  EXPECT_EQ(error_of(sparse(by_call, tree.tuple({indices}))),
            "corrupt: tensor 'x': a sparse COO tensor takes 3 to 4 arguments, 1 are given");
}

TEST_F(Rebuild, OtherCallsAreNoTensors) {
  EXPECT_TRUE(load(tree.call(g("collections", "deque"), tree.tuple())).tensors().empty());
  EXPECT_TRUE(load(tree.call(g("torch", "Size"), tree.tuple({file.ints({2})}))).tensors().empty());
  EXPECT_TRUE(load(file.utils("_rebuild_something_new", {n(1)})).tensors().empty());
  EXPECT_TRUE(load(tree.call(g("torch.nn.parameter", "Parameter"), tree.tuple())).tensors().empty());
  // A nested tensor shows its parts.
  EXPECT_EQ(load(file.utils("_rebuild_nested_tensor", {file.plain_tensor(), n(1)})).tensors()[0].name, "x.0");
}

TEST_F(Rebuild, MarksAreCarriedOutWhenRead) {
  Node* complex = file.storage_id("ComplexFloatStorage", "0", 3);
  const auto marked = [&](Node* storage, int64_t count, std::string_view mark) {
    return file.utils("_rebuild_tensor_v2", {storage, n(0), file.ints({count}), file.ints({1}), no(),
                                             file.hooks(), tree.dict({{tree.string(mark), yes()}})});
  };
  EXPECT_EQ(values_of<float>(tensor(marked(complex, 3, "conj"))), (std::vector<float>{0, -1, 2, -3, 4, -5}));
  EXPECT_EQ(values_of<float>(tensor(marked(complex, 3, "neg"))),
            (std::vector<float>{-0.0F, -1, -2, -3, -4, -5}));
  EXPECT_EQ(values_of<float>(tensor(marked(floats(), 6, "neg"))),
            (std::vector<float>{-0.0F, -1, -2, -3, -4, -5}));
  EXPECT_EQ(error_of(marked(floats(), 6, "conj")),
            "corrupt: tensor 'x': a tensor of float32 cannot be marked as conjugate");
  EXPECT_EQ(error_of(marked(file.storage_id("BoolStorage", "0", 24), 24, "neg")),
            "corrupt: tensor 'x': a tensor of bool cannot be marked as negative");
  EXPECT_EQ(values_of<int64_t>(tensor(marked(file.storage_id("LongStorage", "0", 3), 1, "neg"))),
            std::vector<int64_t>{-0x3f80000000000000});
  EXPECT_EQ(values_of<uint8_t>(tensor(marked(file.storage_id("ByteStorage", "0", 24), 8, "neg"))),
            (std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 0x80, 0xc1}));
  EXPECT_EQ(values_of<float>(tensor(marked(floats(), 6, "other"))).back(), 5.0F);
}

TEST(ResolveBits, LeavesUnmarkedTensorsAlone) {
  const Tensor x = Tensor::zeros(DType::kFloat32, Dims{2});
  EXPECT_EQ(BitResolver().resolve(x, false, false).storage(), x.storage());
}

TEST(ResolveBits, ReadsThroughStridesAndKeepsDeviceAndGradient) {
  Tensor x = Tensor::zeros(DType::kComplex64, Dims{2, 2});
  const float values[] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::memcpy(x.mutable_contiguous_bytes().data(), values, sizeof values);
  Tensor turned = Tensor::strided(DType::kComplex64, {Dims{2, 2}, Dims{1, 2}, 0}, x.storage());
  turned.set_requires_grad(true);
  const Tensor both = BitResolver().resolve(turned, true, true);
  EXPECT_FALSE(both.storage()->is_ready());
  EXPECT_EQ(values_of<float>(both), (std::vector<float>{-1, 2, -5, 6, -3, 4, -7, 8}));
  EXPECT_TRUE(both.requires_grad());
}

}  // namespace
}  // namespace flambeau
