// The C API as a C program uses it: values, descriptions, and the status and text of every kind of failure.
#include "flambeau/c_api.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

const std::string kGolden = FLAMBEAU_GOLDEN_DIR "/pt2/";

std::string failure(flambeau_status status, flambeau_status expected) {
  EXPECT_EQ(status, expected) << flambeau_error_message();
  return status == FLAMBEAU_OK ? "no failure" : flambeau_error_message();
}

flambeau_value tensor_value(flambeau_tensor* tensor) {
  flambeau_value value = {};
  value.kind = FLAMBEAU_TENSOR_VALUE;
  value.as.tensor = tensor;
  return value;
}

flambeau_tensor* borrow(std::vector<float>& values) {
  const int64_t size = static_cast<int64_t>(values.size());
  const flambeau_tensor_view view = {FLAMBEAU_FLOAT32, 1, &size, nullptr, values.data()};
  flambeau_tensor* tensor = nullptr;
  EXPECT_EQ(flambeau_tensor_borrow(&view, nullptr, nullptr, &tensor), FLAMBEAU_OK)
      << flambeau_error_message();
  return tensor;
}

std::vector<float> floats_of(const flambeau_value& value) {
  if (value.kind != FLAMBEAU_TENSOR_VALUE) return {};
  std::vector<float> values(static_cast<size_t>(flambeau_tensor_element_count(value.as.tensor)));
  EXPECT_EQ(flambeau_tensor_copy_to(value.as.tensor, values.data(), values.size() * sizeof(float)),
            FLAMBEAU_OK);
  return values;
}

TEST(CApi, TensorsAreDescribed) {
  const int64_t sizes[] = {2, 3};
  flambeau_tensor* tensor = nullptr;
  ASSERT_EQ(flambeau_tensor_create(FLAMBEAU_INT16, 2, sizes, &tensor), FLAMBEAU_OK);
  flambeau_tensor_view view = {};
  ASSERT_EQ(flambeau_tensor_describe(tensor, &view), FLAMBEAU_OK);
  EXPECT_EQ(view.dtype, FLAMBEAU_INT16);
  ASSERT_EQ(view.dim, 2);
  EXPECT_EQ(view.sizes[1], 3);
  EXPECT_EQ(view.strides[0], 3);
  EXPECT_EQ(static_cast<const int16_t*>(view.data)[5], 0);
  EXPECT_EQ(flambeau_tensor_element_count(tensor), 6);
  flambeau_tensor_free(tensor);
  flambeau_tensor_free(nullptr);
  EXPECT_EQ(flambeau_tensor_element_count(nullptr), 0);
  EXPECT_STREQ(flambeau_dtype_name(FLAMBEAU_BFLOAT16), "bfloat16");
  EXPECT_EQ(flambeau_dtype_name(99), nullptr);
  EXPECT_EQ(flambeau_dtype_size(FLAMBEAU_COMPLEX128), 16U);
  EXPECT_EQ(flambeau_dtype_size(-1), 0U);
}

TEST(CApi, BorrowedMemoryIsSharedAndGivenBackOnce) {
  int32_t numbers[] = {0, 1, 2, 3, 4, 5};
  const int64_t sizes[] = {3, 2};
  const int64_t strides[] = {1, 3};
  const flambeau_tensor_view view = {FLAMBEAU_INT32, 2, sizes, strides, numbers};
  int released = 0;
  flambeau_tensor* tensor = nullptr;
  ASSERT_EQ(flambeau_tensor_borrow(
                &view, [](void* user) { ++*static_cast<int*>(user); }, &released, &tensor),
            FLAMBEAU_OK);
  int32_t packed[6];
  ASSERT_EQ(flambeau_tensor_copy_to(tensor, packed, sizeof packed), FLAMBEAU_OK);
  EXPECT_EQ(std::vector<int32_t>(std::begin(packed), std::end(packed)),
            (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
  numbers[3] = 9;
  ASSERT_EQ(flambeau_tensor_copy_to(tensor, packed, sizeof packed), FLAMBEAU_OK);
  EXPECT_EQ(packed[1], 9);
  EXPECT_EQ(failure(flambeau_tensor_copy_to(tensor, packed, 23), FLAMBEAU_INVALID_ARGUMENT),
            "the tensor int32[3, 2] takes 24 bytes, there is room for 23");
  EXPECT_EQ(released, 0);
  flambeau_tensor_free(tensor);
  EXPECT_EQ(released, 1);
}

TEST(CApi, TensorsThatCannotBe) {
  const int64_t negative[] = {-1};
  const int64_t two[] = {2};
  flambeau_tensor* tensor = nullptr;
  EXPECT_EQ(failure(flambeau_tensor_create(99, 0, nullptr, &tensor), FLAMBEAU_INVALID_ARGUMENT),
            "99 is the number of no dtype");
  EXPECT_EQ(failure(flambeau_tensor_create(FLAMBEAU_INT8, 1, negative, &tensor), FLAMBEAU_CORRUPT),
            "a tensor has the negative size -1");
  EXPECT_EQ(failure(flambeau_tensor_create(FLAMBEAU_INT8, -1, two, &tensor), FLAMBEAU_INVALID_ARGUMENT),
            "a tensor cannot have -1 dimensions");
  EXPECT_EQ(failure(flambeau_tensor_create(FLAMBEAU_INT8, 1, nullptr, &tensor), FLAMBEAU_INVALID_ARGUMENT),
            "a tensor of 1 dimensions needs sizes");
  int released = 0;
  const auto release = [](void* user) { ++*static_cast<int*>(user); };
  float data = 0;
  flambeau_tensor_view view = {FLAMBEAU_FLOAT32, 1, two, negative, &data};
  EXPECT_EQ(failure(flambeau_tensor_borrow(&view, release, &released, &tensor), FLAMBEAU_CORRUPT),
            "a tensor has the negative stride -1");
  view = {FLAMBEAU_FLOAT32, 1, two, nullptr, nullptr};
  EXPECT_EQ(failure(flambeau_tensor_borrow(&view, release, &released, &tensor), FLAMBEAU_INVALID_ARGUMENT),
            "a tensor with elements needs data");
  EXPECT_EQ(released, 0);
  EXPECT_EQ(tensor, nullptr);
  EXPECT_NE(flambeau_tensor_create(FLAMBEAU_INT8, 0, nullptr, nullptr), FLAMBEAU_OK);
  EXPECT_NE(flambeau_tensor_borrow(nullptr, nullptr, nullptr, &tensor), FLAMBEAU_OK);
  EXPECT_NE(flambeau_tensor_describe(nullptr, &view), FLAMBEAU_OK);
  EXPECT_NE(flambeau_tensor_copy_to(nullptr, &data, 4), FLAMBEAU_OK);
}

class CApiProgram : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(flambeau_program_load((kGolden + "values.outputs.pt2").c_str(), nullptr, &program), FLAMBEAU_OK)
        << flambeau_error_message();
  }
  void TearDown() override { flambeau_program_free(program); }
  flambeau_program* program = nullptr;
};

TEST_F(CApiProgram, RunsAndGivesEveryKindOfValue) {
  std::vector<float> x = {1, 2};
  std::vector<float> y = {10, 20};
  flambeau_value inputs[] = {tensor_value(borrow(x)), tensor_value(borrow(y))};
  ASSERT_EQ(flambeau_program_input_count(program), 2U);
  std::vector<flambeau_value> outputs(flambeau_program_output_count(program));
  ASSERT_EQ(outputs.size(), 12U);
  ASSERT_EQ(flambeau_program_run(program, inputs, 2, outputs.data(), outputs.size(), nullptr), FLAMBEAU_OK)
      << flambeau_error_message();
  EXPECT_EQ(floats_of(outputs[0]), x);
  EXPECT_EQ(floats_of(outputs[1]), (std::vector<float>{11, 22}));
  EXPECT_EQ(outputs[6].kind, FLAMBEAU_NONE);
  EXPECT_EQ(outputs[7].kind, FLAMBEAU_INT_VALUE);
  EXPECT_EQ(outputs[7].as.integer, 3);
  EXPECT_EQ(outputs[8].kind, FLAMBEAU_FLOAT_VALUE);
  EXPECT_EQ(outputs[8].as.number, 2.5);
  EXPECT_EQ(outputs[9].kind, FLAMBEAU_BOOL_VALUE);
  EXPECT_EQ(outputs[9].as.flag, 1);
  for (flambeau_value& value : outputs) flambeau_value_clear(&value);
  EXPECT_EQ(outputs[1].kind, FLAMBEAU_NONE);
  flambeau_value_clear(&outputs[1]);
  flambeau_value_clear(nullptr);
  for (const flambeau_value& value : inputs) flambeau_tensor_free(value.as.tensor);
}

TEST_F(CApiProgram, SaysWhatItTakes) {
  flambeau_leaf leaf = {};
  ASSERT_EQ(flambeau_program_input(program, 1, &leaf), FLAMBEAU_OK);
  EXPECT_STREQ(leaf.name, "y");
  EXPECT_STREQ(leaf.path, "args[1]");
  EXPECT_STREQ(leaf.kind, "tensor");
  EXPECT_EQ(leaf.dtype, FLAMBEAU_FLOAT32);
  ASSERT_EQ(leaf.dim, 1);
  EXPECT_STREQ(leaf.sizes[0], "2");
  EXPECT_STREQ(leaf.text, "y: float32[2]");
  ASSERT_EQ(flambeau_program_output(program, 7, &leaf), FLAMBEAU_OK);
  EXPECT_STREQ(leaf.kind, "int");
  EXPECT_EQ(failure(flambeau_program_input(program, 2, &leaf), FLAMBEAU_INVALID_ARGUMENT),
            "there is no leaf 2, only 2 of them");
}

TEST_F(CApiProgram, RefusesWhatDoesNotFit) {
  std::vector<float> x = {1, 2};
  flambeau_tensor* const tensor = borrow(x);
  flambeau_value inputs[] = {tensor_value(tensor), tensor_value(tensor)};
  std::vector<flambeau_value> outputs(12);
  const auto run = [&](size_t inputs_given, size_t outputs_given,
                       const flambeau_run_options* options = nullptr) {
    return flambeau_program_run(program, inputs, inputs_given, outputs.data(), outputs_given, options);
  };
  EXPECT_EQ(failure(run(2, 11), FLAMBEAU_INVALID_ARGUMENT),
            "the program gives 12 outputs, there is room for 11");
  EXPECT_NE(run(1, 12), FLAMBEAU_OK);
  inputs[1] = {};
  EXPECT_EQ(run(2, 12), FLAMBEAU_INVALID_ARGUMENT);
  inputs[1] = tensor_value(nullptr);
  EXPECT_EQ(failure(run(2, 12), FLAMBEAU_INVALID_ARGUMENT), "input 1 is a tensor that is NULL");
  inputs[1].kind = static_cast<flambeau_kind>(77);
  EXPECT_EQ(failure(run(2, 12), FLAMBEAU_INVALID_ARGUMENT), "input 1 is of the unknown kind 77");
  inputs[1] = tensor_value(tensor);
  flambeau_run_options options = {};
  options.most_bytes = 1;
  EXPECT_EQ(run(2, 12, &options), FLAMBEAU_LIMIT);
  options = {};
  options.most_seconds = 1e-9;
  EXPECT_EQ(run(2, 12, &options), FLAMBEAU_LIMIT);
  flambeau_cancel* cancel = nullptr;
  ASSERT_EQ(flambeau_cancel_create(&cancel), FLAMBEAU_OK);
  options = {};
  options.cancel = cancel;
  EXPECT_EQ(run(2, 12, &options), FLAMBEAU_OK);
  for (flambeau_value& output : outputs) flambeau_value_clear(&output);
  flambeau_cancel_set(cancel, 1);
  EXPECT_NE(failure(run(2, 12, &options), FLAMBEAU_CANCELLED).find("the run was cancelled"),
            std::string::npos);
  flambeau_cancel_free(cancel);
  EXPECT_EQ(flambeau_program_run(nullptr, nullptr, 0, nullptr, 0, nullptr), FLAMBEAU_INVALID_ARGUMENT);
  flambeau_tensor_free(tensor);
}

TEST(CApi, FilesThatCannotBeLoaded) {
  flambeau_program* program = nullptr;
  EXPECT_NE(failure(flambeau_program_load("/nosuch.pt2", nullptr, &program), FLAMBEAU_NOT_FOUND)
                .find("/nosuch.pt2"),
            std::string::npos);
  EXPECT_NE(flambeau_program_load_bytes("junk", 4, nullptr, &program), FLAMBEAU_OK);
  const flambeau_load_options options = {nullptr, -1, 0, 0};
  EXPECT_EQ(failure(flambeau_program_load("/nosuch.pt2", &options, &program), FLAMBEAU_INVALID_ARGUMENT),
            "the number of threads cannot be negative");
  EXPECT_EQ(program, nullptr);
  flambeau_program_free(nullptr);
  EXPECT_EQ(flambeau_program_input_count(nullptr), 0U);
}

TEST(CApi, LoadsFromMemoryAndRunsInManyThreads) {
  std::ifstream file(kGolden + "values.outputs.pt2", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const flambeau_load_options options = {nullptr, 1, 1, 0};
  flambeau_program* program = nullptr;
  ASSERT_EQ(flambeau_program_load_bytes(bytes.data(), bytes.size(), &options, &program), FLAMBEAU_OK)
      << flambeau_error_message();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      std::vector<float> x = {static_cast<float>(t), 2};
      flambeau_value inputs[] = {tensor_value(borrow(x)), tensor_value(borrow(x))};
      std::vector<flambeau_value> outputs(12);
      EXPECT_EQ(flambeau_program_run(program, inputs, 2, outputs.data(), outputs.size(), nullptr),
                FLAMBEAU_OK);
      EXPECT_EQ(floats_of(outputs[1]), (std::vector<float>{2 * x[0], 4}));
      for (flambeau_value& value : outputs) flambeau_value_clear(&value);
      for (const flambeau_value& value : inputs) flambeau_tensor_free(value.as.tensor);
    });
  }
  for (std::thread& thread : threads) thread.join();
  flambeau_program_free(program);
}

}  // namespace
