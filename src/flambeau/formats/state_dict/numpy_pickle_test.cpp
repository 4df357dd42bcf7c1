#include "flambeau/formats/state_dict/numpy_pickle.h"

#include <gtest/gtest.h>

#include "support/torch_files.h"

namespace flambeau {
namespace {

using pickle::Node;
using testing::error_text;
using testing::values_of;

class NumpyPickle : public ::testing::Test {
 protected:
  Node* dtype(std::string_view code, std::string_view order = "<") {
    Node* call = tree.call(tree.global("numpy", "dtype"), tree.tuple({tree.string(code), n(0), n(1)}));
    tree.set_state(call, tree.tuple({n(3), tree.string(order), tree.none(), tree.none(), tree.none(), n(-1),
                                     n(-1), n(0)}));
    return call;
  }
  Node* array(Node* type, std::initializer_list<int64_t> shape, Node* data, bool is_fortran = false) {
    std::vector<Node*> sizes;
    for (const int64_t size : shape) sizes.push_back(n(size));
    Node* call = tree.call(
        tree.global("numpy._core.multiarray", "_reconstruct"),
        tree.tuple({tree.global("numpy", "ndarray"), tree.tuple({n(0)}), tree.bytes(as_bytes("b"))}));
    tree.set_state(call, tree.tuple({n(1), tree.tuple(sizes), type, tree.boolean(is_fortran), data}));
    return call;
  }
  Node* bytes(std::string_view data) { return tree.bytes(as_bytes(data)); }
  Node* n(int64_t value) { return tree.integer(value); }
  std::string error_of(Node* node) {
    return error_text([&] { NumpyReader().read(*node); });
  }
  pickle::Tree tree;
};

TEST_F(NumpyPickle, RecognizesArraysAndScalars) {
  for (const std::string_view module : {"numpy.core.multiarray", "numpy._core.multiarray"}) {
    EXPECT_TRUE(is_numpy_array_call(*tree.call(tree.global(module, "_reconstruct"), tree.tuple())));
    EXPECT_TRUE(is_numpy_array_call(*tree.call(tree.global(module, "scalar"), tree.tuple())));
  }
  EXPECT_FALSE(is_numpy_array_call(*tree.call(tree.global("numpy", "array"), tree.tuple())));
  EXPECT_FALSE(is_numpy_array_call(*tree.call(tree.integer(1), tree.tuple())));
  EXPECT_FALSE(is_numpy_array_call(*tree.integer(1)));
}

TEST_F(NumpyPickle, ReadsDataInEveryForm) {
  const std::vector<int16_t> expected = {258, -1};
  const std::string_view data("\2\1\xff\xff", 4);
  EXPECT_EQ(values_of<int16_t>(NumpyReader().read(*array(dtype("i2"), {2}, bytes(data)))), expected);
  EXPECT_EQ(values_of<int16_t>(NumpyReader().read(*array(dtype("i2"), {2}, tree.byte_array(as_bytes(data))))),
            expected);
  // Protocol 2: text, one letter for a byte.
  Node* text =
      tree.call(tree.global("_codecs", "encode"), tree.tuple({tree.string("\2\1ÿÿ"), tree.string("latin1")}));
  EXPECT_EQ(values_of<int16_t>(NumpyReader().read(*array(dtype("i2"), {2}, text))), expected);
  // Python 2: a string of bytes.
  EXPECT_EQ(values_of<int8_t>(NumpyReader().read(*array(dtype("i1"), {2}, tree.string("AB")))),
            (std::vector<int8_t>{65, 66}));
  Node* empty = tree.call(tree.global("__builtin__", "bytes"), tree.tuple());
  EXPECT_EQ(NumpyReader().read(*array(dtype("f4"), {0, 3}, empty)).summary(), "float32[0, 3]");
  EXPECT_EQ(values_of<int16_t>(NumpyReader().read(*array(dtype("i2", ">"), {2}, bytes("\1\2\xff\xff")))),
            expected);
}

TEST_F(NumpyPickle, ReadsFortranOrderAndScalars) {
  const Tensor turned = NumpyReader().read(*array(dtype("i1"), {2, 3}, bytes("\1\2\3\4\5\6"), true));
  EXPECT_EQ(values_of<int8_t>(turned), (std::vector<int8_t>{1, 3, 5, 2, 4, 6}));
  Node* scalar =
      tree.call(tree.global("numpy.core.multiarray", "scalar"), tree.tuple({dtype("u1"), bytes("\7")}));
  const Tensor seven = NumpyReader().read(*scalar);
  EXPECT_EQ(seven.dim(), 0U);
  EXPECT_EQ(values_of<uint8_t>(seven), std::vector<uint8_t>{7});
}

TEST_F(NumpyPickle, ComplexWordsAreSwappedEach) {
  const std::string big("\x3f\x80\0\0\x40\0\0\0", 8);  // 1 + 2j
  EXPECT_EQ(values_of<float>(NumpyReader().read(*array(dtype("c8", ">"), {1}, bytes(big)))),
            (std::vector<float>{1, 2}));
}

TEST_F(NumpyPickle, SaysWhatItCannotHold) {
  EXPECT_EQ(error_of(array(dtype("U1"), {1}, bytes("aaaa"))),
            "unsupported: a NumPy array of type 'U1' has no tensor type");
  EXPECT_EQ(error_of(array(dtype("O8"), {1}, tree.list({tree.none()}))),
            "unsupported: a NumPy array of Python objects has no tensor type");
  EXPECT_EQ(error_of(array(tree.call(tree.global("my", "dtype"), tree.tuple()), {1}, bytes("a"))),
            "unsupported: a NumPy array whose type is not a plain numpy.dtype");
}

TEST_F(NumpyPickle, RefusesWhatDoesNotFit) {
  EXPECT_EQ(error_of(array(dtype("i2"), {2}, bytes("abc"))),
            "corrupt: a NumPy array needs 4 bytes, 3 are given");
  EXPECT_EQ(error_of(array(dtype("i2"), {-2}, bytes("abcd"))), "corrupt: a tensor has the negative size -2");
  EXPECT_EQ(error_of(array(dtype("i2"), {INT64_MAX}, bytes("abcd"))),
            "corrupt: the size of a NumPy array does not fit in a 64-bit number");
  EXPECT_EQ(error_of(array(dtype("i2"), {2}, n(4))),
            "corrupt: the data of a NumPy array should be bytes, found an int");
  Node* other = tree.call(tree.global("os", "system"), tree.tuple({tree.string("x")}));
  EXPECT_EQ(error_of(array(dtype("i2"), {2}, other)),
            "corrupt: the data of a NumPy array should be bytes, found another call");
  Node* snowman =
      tree.call(tree.global("_codecs", "encode"), tree.tuple({tree.string("☃"), tree.string("latin1")}));
  EXPECT_EQ(error_of(array(dtype("i1"), {1}, snowman)),
            "corrupt: the data of a NumPy array is not Latin-1 text");
  Node* call = tree.call(tree.global("numpy.core.multiarray", "_reconstruct"), tree.tuple());
  EXPECT_EQ(error_of(call), "corrupt: a NumPy array without its state");
  tree.set_state(call, tree.tuple({n(1)}));
  EXPECT_EQ(error_of(call), "corrupt: the state of a NumPy array has 5 parts");
  EXPECT_EQ(error_of(tree.call(tree.global("numpy.core.multiarray", "scalar"), tree.tuple())),
            "corrupt: a NumPy scalar needs a type and a value");
}

}  // namespace
}  // namespace flambeau
