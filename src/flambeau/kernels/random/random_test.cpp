#include "flambeau/kernels/random/random.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/tensor/elements/wide_rows.h"
#include "support/hex.h"

namespace flambeau::kernels {
namespace {

std::string golden(const std::string& name) { return FLAMBEAU_GOLDEN_DIR "/random/" + name; }

std::vector<uint8_t> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string hash(ByteSpan bytes) {
  uint64_t value = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes) value = (value ^ byte) * 0x100000001b3;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::vector<double> as_doubles(DType dtype, const std::vector<uint8_t>& bytes) {
  const size_t n = bytes.size() / dtype_size(dtype);
  std::vector<double> values(n);
  if (compute_type(dtype) == Compute::kDouble) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  std::vector<float> floats(n);
  load_row(dtype)(bytes.data(), static_cast<ptrdiff_t>(dtype_size(dtype)), n, floats.data());
  std::copy(floats.begin(), floats.end(), values.begin());
  return values;
}

// Where another C library's logarithm or sine may round differently.
void expect_close(DType dtype, const std::vector<uint8_t>& found, const std::vector<uint8_t>& expected,
                  const std::string& line) {
  const double relative = dtype == DType::kFloat64 ? 1e-14 : dtype == DType::kFloat32 ? 1.3e-7 : 1e-2;
  const auto a = as_doubles(dtype, found);
  const auto b = as_doubles(dtype, expected);
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_TRUE(a[i] == b[i] || std::abs(a[i] - b[i]) <= relative * std::abs(b[i])) << line << ": " << a[i];
  }
}

TEST(Random, StreamsArePyTorchs) {
  std::ifstream file(golden("streams.txt"));
  ASSERT_TRUE(file);
  std::string line;
  size_t checked = 0;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string name, type, seed, a, b, result, state;
    size_t n = 0;
    words >> name >> type >> seed >> n >> a >> b >> result >> state;
    const DType dtype = *dtype_from_name(type);
    Generator generator(std::stoull(seed));
    std::vector<uint8_t> bytes(n * dtype_size(dtype));
    bool computed = false;
    if (name == "uniform") {
      uniform(generator, std::stod(a), std::stod(b), dtype, bytes.data(), n);
    } else if (name == "normal") {
      computed = n < 16 || dtype == DType::kFloat64;
      normal(generator, std::stod(a), std::stod(b), dtype, bytes.data(), n);
    } else if (name == "exponential") {
      computed = true;
      exponential(generator, std::stod(a), dtype, bytes.data(), n);
    } else if (name == "cauchy") {
      computed = true;
      cauchy(generator, std::stod(a), std::stod(b), dtype, bytes.data(), n);
    } else if (name == "log_normal") {
      computed = true;
      log_normal(generator, std::stod(a), std::stod(b), dtype, bytes.data(), n);
    } else if (name == "geometric") {
      geometric(generator, std::stod(a), dtype, bytes.data(), n);
    } else if (name == "permutation") {
      std::vector<int64_t> order(n);
      permutation(generator, order.data(), n);
      std::memcpy(bytes.data(), order.data(), bytes.size());
    } else if (name == "bernoulli") {
      bernoulli(generator, std::stod(a), dtype, bytes.data(), n);
    } else if (name == "random") {
      random_integers(generator, dtype, bytes.data(), n);
    } else if (result == "error") {
      EXPECT_THROW(random_integers(generator, std::stoll(a), std::stoll(b), dtype, bytes.data(), n), Error)
          << line;
      ++checked;
      continue;
    } else {
      ASSERT_EQ(name, "integers");
      random_integers(generator, std::stoll(a), std::stoll(b), dtype, bytes.data(), n);
    }
    if (computed) {
      expect_close(dtype, bytes, from_hex(result), line);
    } else {
      ASSERT_EQ(result[0] == '#' ? "#" + hash(bytes) : hash(bytes),
                result[0] == '#' ? result : hash(from_hex(result)))
          << line;
      ASSERT_EQ(hash(generator.state()), state) << line;
    }
    ++checked;
  }
  EXPECT_GT(checked, 900U);
}

TEST(Random, MultinomialIsPyTorchs) {
  std::ifstream file(golden("multinomial.txt"));
  ASSERT_TRUE(file);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string type, weights;
    uint64_t seed = 0;
    size_t categories = 0, samples = 0;
    bool again = false;
    words >> type >> seed >> categories >> samples >> again >> weights;
    Generator generator(seed);
    std::vector<int64_t> found(samples), expected(samples);
    for (int64_t& index : expected) words >> index;
    const std::vector<uint8_t> bytes = from_hex(weights);
    multinomial(generator, *dtype_from_name(type), bytes.data(), 1, categories, samples, again, found.data());
    EXPECT_EQ(found, expected) << line;
  }
}

TEST(Random, BernoulliOfProbabilities) {
  // A float probability is compared with a float of 24 bits, a double one with 53 bits.
  Generator generator(3);
  Generator twin(3);
  const std::vector<float> p = {0.0F, 1.0F, 0.5F, 0.1F, 0.9F};
  std::vector<uint8_t> drawn(p.size());
  bernoulli(generator, DType::kFloat32, p.data(), DType::kBool, drawn.data(), p.size());
  for (size_t i = 0; i < p.size(); ++i) EXPECT_EQ(drawn[i], twin.uniform_float() < p[i]);
  const std::vector<double> wide(p.begin(), p.end());
  bernoulli(generator, DType::kFloat64, wide.data(), DType::kBool, drawn.data(), p.size());
  for (size_t i = 0; i < p.size(); ++i) EXPECT_EQ(drawn[i], twin.uniform_double() < wide[i]);
  const float bad = 1.5F;
  EXPECT_THROW(bernoulli(generator, DType::kFloat32, &bad, DType::kBool, drawn.data(), 1), Error);
}

TEST(Random, RefusesWhatMakesNoSense) {
  Generator generator;
  double out[4] = {};
  EXPECT_THROW(uniform(generator, 1, 0, DType::kFloat32, out, 1), Error);
  EXPECT_THROW(uniform(generator, 0, 1, DType::kInt32, out, 1), Error);
  EXPECT_THROW(uniform(generator, 0, 1e30, DType::kFloat16, out, 1), Error);
  EXPECT_THROW(normal(generator, 0, -1, DType::kFloat32, out, 1), Error);
  EXPECT_THROW(bernoulli(generator, 1.5, DType::kFloat32, out, 1), Error);
  EXPECT_THROW(random_integers(generator, 5, 5, DType::kInt32, out, 1), Error);
  const float weights[2] = {-1, 1};
  int64_t index = 0;
  try {
    multinomial(generator, DType::kFloat32, weights, 1, 2, 1, true, &index);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "multinomial weights contain a negative number or NaN");
  }
  EXPECT_THROW(multinomial(generator, DType::kFloat32, weights, 1, 2, 3, false, &index), Error);
}

TEST(Generator, TakesUpPyTorchsState) {
  const std::vector<uint8_t> state = read_bytes(golden("state.bin"));
  const std::vector<uint8_t> after = read_bytes(golden("after_state.bin"));
  ASSERT_EQ(state.size(), Generator::kStateSize);
  Generator generator;
  generator.set_state(state);
  EXPECT_EQ(generator.initial_seed(), 42U);
  const auto same = generator.state();
  EXPECT_TRUE(std::equal(same.begin(), same.end(), state.begin()));
  std::vector<uint8_t> drawn(3 * 8 + 100 * 4);
  normal(generator, 0, 1, DType::kFloat64, drawn.data(), 3);
  uniform(generator, 0, 1, DType::kFloat32, drawn.data() + 24, 100);
  EXPECT_TRUE(std::equal(drawn.begin() + 24, drawn.end(), after.begin() + 24));
  double found[3], expected[3];
  std::memcpy(found, drawn.data(), 24);
  std::memcpy(expected, after.data(), 24);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(found[i], expected[i], 1e-14);
}

TEST(Generator, ManyAtOnceAreTheSameNumbers) {
  Generator one(9);
  Generator many(9);
  for (const size_t n : {1, 5, 617, 1, 0, 624, 2000, 3}) {
    std::vector<uint32_t> words(n);
    many.random(words.data(), n);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(words[i], one.random()) << n << " " << i;
    EXPECT_EQ(one.state(), many.state());
  }
}

TEST(Generator, RefusesBadStates) {
  Generator generator;
  auto state = generator.state();
  EXPECT_NO_THROW(generator.set_state(state));
  try {
    generator.set_state(ByteSpan(state).first(100));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "the random state has 100 bytes, a state of PyTorch's CPU generator has 5056");
  }
  state[8] = 200;  // 200 words are left
  state[9] = 0;
  state[16] = 0x58;  // after word 600
  state[17] = 2;
  try {
    generator.set_state(state);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "the random state says that 200 words are left and the next is word 600 of 624");
  }
}

}  // namespace
}  // namespace flambeau::kernels
