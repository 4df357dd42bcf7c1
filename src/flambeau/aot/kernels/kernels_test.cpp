// Machine code against our own loops: the same bits, for every body that has code, and what lies between.
#include <gtest/gtest.h>

#include <set>

#include "flambeau/aot/kernels/compiler.h"
#include "flambeau/aot/kernels/loaded.h"
#include "flambeau/aot/kernels/source.h"
#include "flambeau/base/error.h"
#include "flambeau/ops/engines/block_test_programs.h"
#include "support/message_of.h"

namespace flambeau::aot {
namespace {

class Wanted : public ops::BlockKernels {
 public:
  ops::BlockKernel find(std::string_view code) const override {
    last = code;
    if (known_.insert(key_of(code)).second) codes.emplace_back(code);
    return nullptr;
  }
  mutable std::vector<std::string> codes;
  mutable std::string last;

 private:
  mutable std::set<KernelKey> known_;
};

class Kernels : public ops::BlockPrograms {
 protected:
  void SetUp() override {
    try {
      compiler_ = find_compiler({});
    } catch (const Error&) {
      GTEST_SKIP() << "there is no compiler";
    }
  }

  // Keeps the program where all of it has code.
  void add(const Dims& sizes, const std::vector<const ops::Operator*>& operators, unsigned seed) {
    Made made = make(sizes, operators, seed);
    if (made.steps.empty()) return;
    wanted_.last.clear();
    const std::span<const Tensor> inputs(made.values.data(), made.inputs);
    const ops::BlockProgram program(inputs, made.steps, made.like, &wanted_);
    if (wanted_.last.empty()) return;
    for (const ops::BlockStep& step : made.steps) {
      if (step.body.rows.plain != nullptr) bodies_.insert(std::string(step.body.name));
    }
    made_.push_back(std::move(made));
  }

  std::vector<uint8_t> compiled() const {
    const std::vector<uint8_t> code = compile_kernels(compiler_, kernel_source(wanted_.codes));
    KernelTable table{.keys = {}, .library = code};
    for (const std::string& each : wanted_.codes) table.keys.push_back(key_of(each));
    return write_kernels(table);
  }

  std::string compiler_;
  Wanted wanted_;
  std::vector<Made> made_;
  std::set<std::string> bodies_;
};

TEST_F(Kernels, GiveTheBitsOfOurLoops) {
  const std::vector<const ops::Operator*> operators = with_bodies();
  const Dims shapes[] = {{45}, {0}, {1}, {3, 5}, {4, 300}, {2, 3, 70}, {70, 33}};
  unsigned seed = 0;
  for (const ops::Operator* const op : operators) {
    for (size_t i = 0; i < 3; ++i, ++seed) add(shapes[i == 0 ? 0 : seed % std::size(shapes)], {op}, seed);
  }
  std::vector<const ops::Operator*> coded;
  for (const char* const name :
       {"aten::mul.Tensor", "aten::add.Tensor", "aten::sub.Scalar", "aten::where.self", "aten::gelu",
        "aten::silu", "aten::exp", "aten::gt.Tensor", "aten::div.Tensor", "aten::relu", "aten::tanh",
        "aten::_to_copy"})
    coded.push_back(&library.get(name));
  for (size_t i = 0; i < 30; ++i, ++seed) add(shapes[seed % std::size(shapes)], coded, seed);
  EXPECT_GT(bodies_.size(), 45U);
  EXPECT_GT(wanted_.codes.size(), 90U);

  const std::vector<uint8_t> bytes = compiled();
  const LoadedKernels loaded(bytes);
  for (const std::string& code : wanted_.codes) ASSERT_NE(loaded.find(code), nullptr);
  EXPECT_EQ(loaded.find("another"), nullptr);
  for (const Made& made : made_) check(made, &loaded);
}

TEST_F(Kernels, ServeAllSizes) {
  for (const Dims& sizes : {Dims{4, 300}, Dims{9, 417}, Dims{}, Dims{5000}}) {
    const Tensor x = filled(DType::kFloat32, sizes);
    ops::BlockStep step;
    step.body = library.get("aten::gelu").body(std::vector<Value>{x, std::string("none")}, x);
    step.sources = {{ops::BlockSource::Kind::kInput, 0}};
    step.is_output = true;
    const Tensor inputs[] = {x};
    const ops::BlockProgram program(inputs, std::span(&step, 1), x, &wanted_);
  }
  EXPECT_EQ(wanted_.codes.size(), 1U);
}

TEST_F(Kernels, CompilersThatFailSaySo) {
  const auto message = [&](const auto& body) { return message_of(body); };
  EXPECT_EQ(message([] { find_compiler("no-such-compiler"); }), "PATH has no compiler 'no-such-compiler'");
  EXPECT_EQ(message([] { find_compiler("/no/such/compiler"); }), "there is no compiler '/no/such/compiler'");
  EXPECT_NE(message([&] { compile_kernels(compiler_, "this is no C"); }).find("the compiler failed: "),
            std::string::npos);
  EXPECT_NE(message([] { compile_kernels("/bin/false", ""); }).find("the compiler failed: "),
            std::string::npos);
}

TEST_F(Kernels, LibrariesThatDoMoreAreRefused) {
  const auto refusal = [&](std::string_view source) {
    const std::vector<uint8_t> code = compile_kernels(compiler_, source);
    return message_of([&] { check_kernel_library(code, 1); });
  };
  const std::string kernel =
      "#define J_(a, b) a##b\n#define J(a, b) J_(a, b)\nvoid __attribute__((visibility(\"default\")))"
      " J(kernel_0_, LEVEL)(void) {}\n";
  EXPECT_EQ(refusal(kernel), "no error");
  EXPECT_EQ(refusal("static void nothing(void) {}"),
            "the library of kernels has no function 'kernel_0_base'");
  EXPECT_EQ(
      refusal(kernel + "static __attribute__((constructor)) void at_once(void) { __asm__ volatile(\"\"); }"),
      "the library of kernels has code that runs when it is loaded");
  EXPECT_EQ(refusal(kernel + "extern int system(const char*); static __attribute__((used)) int f(void) "
                             "{ return system(0); }"),
            "the library of kernels takes 'system' from outside");
}

TEST(KernelTable, IsReadAsWritten) {
  const std::vector<uint8_t> library = {1, 2, 3};
  const std::vector<uint8_t> bytes =
      write_kernels({.keys = {key_of("a"), key_of("b"), key_of("c")}, .library = library});
  const KernelTable read = read_kernels(bytes);
  EXPECT_EQ(read.keys[1], key_of("b"));
  EXPECT_TRUE(std::ranges::equal(read.library, library));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(read_kernels(ByteSpan(bytes).first(size)), Error) << size;
}

TEST(KernelTable, BrokenOnesAreRefused) {
  const std::vector<uint8_t> whole = write_kernels({.keys = {key_of("a")}, .library = {}});
  for (const size_t at : {0U, 16U, 20U, 23U, 24U, 31U}) {
    std::vector<uint8_t> bytes = whole;
    bytes[at] = 0xee;
    EXPECT_THROW(read_kernels(bytes), Error) << at;
  }
}

}  // namespace
}  // namespace flambeau::aot
