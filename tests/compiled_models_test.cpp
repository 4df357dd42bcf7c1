// Compiled models: what is written opens again as the same program, in each form; what is not ours is
// refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "flambeau/aot.h"
#include "flambeau/c_api.h"
#include "flambeau/check.h"
#include "flambeau/error.h"
#include "flambeau/inspect.h"
#include "flambeau/program.h"

namespace flambeau {
namespace {

const std::string kClassifier = FLAMBEAU_GOLDEN_DIR "/run/classifier.pt2";

class CompiledModels : public testing::Test {
 protected:
  void SetUp() override {
    if (aot::prebuilt_library().empty()) GTEST_SKIP() << "this build has no library of compiled models";
    folder_ = testing::TempDir() + "compiled_models/";
    std::filesystem::create_directories(folder_);
  }
  std::string path(const std::string& name) const { return folder_ + name; }
  std::string message_of(const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

 private:
  std::string folder_;
};

void expect_same_outputs(Program program) {
  Program original = load_program(kClassifier);
  const std::vector<Value> inputs = example_inputs(original);
  const std::vector<Value> expected = original.run(inputs);
  const std::vector<Value> given = program.run(inputs);
  ASSERT_EQ(given.size(), expected.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const ByteSpan ours = given[i].tensor().contiguous_bytes(),
                   theirs = expected[i].tensor().contiguous_bytes();
    EXPECT_TRUE(std::ranges::equal(ours, theirs)) << i;
  }
}

TEST_F(CompiledModels, OpenAsTheProgramsThatTheyAre) {
  expect_same_outputs(aot_load(aot_compile(kClassifier, path("a.pt2"))));
  expect_same_outputs(aot_load(aot_compile(kClassifier, path("a.so"))));
  CompileOptions alone;
  alone.form = CompiledForm::kLibraryPackage;
  expect_same_outputs(aot_load(aot_compile(kClassifier, path("alone.pt2"), alone)));
  EXPECT_TRUE(load_package(path("alone.pt2")).models.empty());
  EXPECT_EQ(load_package(path("a.pt2")).models.size(), 1U);
}

TEST_F(CompiledModels, AreTheSameBytesEachTime) {
  const auto bytes = [&](const std::string& name) {
    std::ifstream file(aot_compile(kClassifier, path(name)), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string first = bytes("one.so");
  EXPECT_GT(first.size(), 1'000'000U);
  EXPECT_TRUE(first == bytes("two.so"));
  // Compiling what was compiled leaves one model in it.
  aot_compile(kClassifier, path("once.pt2"));
  aot_compile(path("once.pt2"), path("twice.pt2"));
  EXPECT_EQ(std::filesystem::file_size(path("once.pt2")), std::filesystem::file_size(path("twice.pt2")));
}

TEST_F(CompiledModels, AreSaidToBeCode) {
  aot_compile(kClassifier, path("a.pt2"), {.model = {}, .form = {}, .metadata = {{"made for", "a test"}}});
  const Inspection found = inspect_file(path("a.pt2"));
  ASSERT_EQ(found.compiled.size(), 1U);
  EXPECT_EQ(found.compiled[0].device, "cpu");
  ASSERT_EQ(found.compiled[0].libraries.size(), 1U);
  EXPECT_EQ(found.compiled[0].libraries[0].problem, "");
  const std::vector<std::string>& taken = found.compiled[0].libraries[0].host_functions;
  EXPECT_LE(taken.size(), 11U);  // what hands tensors over, and no operator
  EXPECT_TRUE(found.compiled[0].libraries[0].system_functions.empty() ||
              !std::ranges::count(found.compiled[0].libraries[0].system_functions, "system"));
}

TEST_F(CompiledModels, OthersAreRefused) {
  aot_compile(kClassifier, path("a.so"));
  EXPECT_EQ(message_of([&] { aot_load(path("a.so"), "cuda"); }),
            "Unsupported device cuda (compiled models run on the device 'cpu')");
  const ByteSpan library = aot::prebuilt_library();
  std::ofstream(path("bare.so"), std::ios::binary)
      .write(reinterpret_cast<const char*>(library.data()), static_cast<std::streamsize>(library.size()));
  EXPECT_NE(message_of([&] {
              aot_load(path("bare.so"));
            }).find("another compiler made it, and opening it would run that code"),
            std::string::npos);
  EXPECT_NE(message_of([&] { load_native_package(path("bare.so")); }), "");
  EXPECT_NE(message_of([&] { load_native_package(kClassifier); }).find("there is no compiled model"),
            std::string::npos);
  EXPECT_NE(message_of([&] { aot_compile(path("missing.pt2"), path("x.pt2")); }), "");
}

TEST_F(CompiledModels, AreMadeAndOpenedFromC) {
  ASSERT_EQ(flambeau_aot_compile(kClassifier.c_str(), path("c.pt2").c_str(), 1), FLAMBEAU_OK)
      << flambeau_error_message();
  flambeau_program* program = nullptr;
  EXPECT_EQ(flambeau_aot_load(path("c.pt2").c_str(), "cuda:0", nullptr, &program), FLAMBEAU_UNSUPPORTED);
  ASSERT_EQ(flambeau_aot_load(path("c.pt2").c_str(), "cpu", nullptr, &program), FLAMBEAU_OK);
  EXPECT_EQ(flambeau_program_output_count(program), 2U);
  flambeau_program_free(program);
  EXPECT_EQ(flambeau_aot_compile(nullptr, nullptr, 0), FLAMBEAU_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace flambeau
