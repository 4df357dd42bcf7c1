// Inputs for programs, and operators from modules, through the public headers.
#include "flambeau/made_inputs.h"

#include <gtest/gtest.h>

#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/operators.h"
#include "flambeau/ops/mechanism/library.h"
#include "support/temporary_folder.h"

namespace flambeau {
namespace {

Program golden(const std::string& name) { return load_program(FLAMBEAU_GOLDEN_DIR "/pt2/" + name + ".pt2"); }

template <typename Body>
std::string error_text(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return std::string(error_code_name(error.code())) + ": " + error.what();
  }
  return "no error";
}

template <typename T>
std::vector<T> values(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.element_count()};
}

TEST(ExampleInputs, AProgramRunsWithThem) {
  Program program = golden("shapes.derived");
  EXPECT_TRUE(has_example_inputs(program));
  const std::vector<Value> outputs = program.run(example_inputs(program));
  // x + y[:3 * 2 + 1:2][:3], as PyTorch has it.
  const std::vector<float> expected = {0.45647371F, 0.10991794F, -2.89804697F};
  ASSERT_EQ(outputs[0].tensor().element_count(), 3);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(outputs[0].tensor().data<float>()[i], expected[i], 1e-6);
}

TEST(ExampleInputs, AClassifierGivesWhatItGaveInPyTorch) {
  const std::string folder = FLAMBEAU_GOLDEN_DIR "/run/";
  Program program = load_program(folder + "classifier.pt2");
  const std::vector<Value> outputs = program.run(example_inputs(program));
  const Checkpoint expected = load_checkpoint(folder + "classifier.expected.pt");
  ASSERT_EQ(outputs.size(), 2U);
  const Tensor& logits = *expected.find("logits");
  ASSERT_EQ(outputs[0].tensor().sizes(), logits.sizes());
  for (int64_t i = 0; i < logits.element_count(); ++i)
    EXPECT_NEAR(outputs[0].tensor().data<float>()[i], logits.data<float>()[i], 1e-5);
  EXPECT_EQ(values<int64_t>(outputs[1].tensor()), values<int64_t>(*expected.find("class")));
}

TEST(ExampleInputs, AreMissingFromSomeFiles) {
  const Program program = golden("values.without_example_inputs");
  EXPECT_FALSE(has_example_inputs(program));
  EXPECT_EQ(error_text([&] { example_inputs(program); }),
            "not_found: the program has no example inputs (give the inputs yourself)");
}

TEST(MadeInputs, SizesAreThoseOfTheExportUnlessGiven) {
  const Program program = golden("shapes.derived");  // x: [s77], y: [2*s77 + 1]
  ASSERT_EQ(program.inputs().size(), 2U);
  EXPECT_EQ(input_sizes(program, program.inputs()[0]), Dims{3});
  EXPECT_EQ(input_sizes(program, program.inputs()[1]), Dims{7});
  EXPECT_EQ(input_sizes(program, program.inputs()[0], {{"s77", 9}}), Dims{9});
  EXPECT_EQ(input_sizes(program, program.inputs()[1], {{"s77", 9}}), Dims{19});
  EXPECT_EQ(error_text([&] { input_sizes(program, program.inputs()[0], {{"n", 9}}); }),
            "invalid_argument: no size of the program is called 'n' (there is s77)");
  EXPECT_EQ(error_text([&] { input_sizes(program, program.inputs()[0], {{"s77", -1}}); }),
            "invalid_argument: the size s77 of input 'x' would be -1");
}

TEST(MadeInputs, RandomNumbersAreThoseOfPyTorch) {
  Generator generator(0);
  EXPECT_EQ(values<float>(random_tensor(DType::kFloat32, Dims{3}, generator)),
            (std::vector<float>{1.54099607F, -0.29342890F, -2.17878938F}));
  Generator integers(0);
  for (const int64_t value : values<int64_t>(random_tensor(DType::kInt64, Dims{100}, integers, {5, 10}))) {
    EXPECT_GE(value, 5);
    EXPECT_LT(value, 10);
  }
  for (const uint8_t value : values<uint8_t>(random_tensor(DType::kBool, Dims{100}, integers)))
    EXPECT_LE(value, 1);
  EXPECT_EQ(random_tensor(DType::kComplex64, Dims{2, 3}, generator).summary(), "complex64[2, 3]");
  EXPECT_EQ(random_tensor(DType::kFloat32, Dims{0}, generator).element_count(), 0);
}

TEST(MadeInputs, FilledWithANumber) {
  EXPECT_EQ(values<float>(filled_tensor(DType::kFloat32, Dims{2}, 0.5)), (std::vector<float>{0.5F, 0.5F}));
  EXPECT_EQ(values<int64_t>(filled_tensor(DType::kInt64, Dims{2}, 7)), (std::vector<int64_t>{7, 7}));
  EXPECT_EQ(values<uint8_t>(filled_tensor(DType::kBool, Dims{1}, 3)), (std::vector<uint8_t>{1}));
  EXPECT_EQ(values<std::complex<float>>(filled_tensor(DType::kComplex64, Dims{1}, 2)),
            (std::vector<std::complex<float>>{2}));
}

TEST(Operators, WhatIsNoModule) {
  const testing::TemporaryFolder folder;
  ops::Library library;
  const std::string gone = folder / "gone.so";
  EXPECT_EQ(error_text([&] { load_operators(gone, library); }),
            "not_found: " + gone + ": there is no such file (name a shared library of operators)");
  const std::string text = folder / "text.so";
  testing::write_file(text, "hello");
  EXPECT_TRUE(error_text([&] {
                load_operators(text, library);
              }).starts_with("unsupported: " + text + ": cannot be opened as a shared library: "));
}

}  // namespace
}  // namespace flambeau
