#include "flambeau/runtime/guards.h"

#include <gtest/gtest.h>

namespace flambeau::runtime {
namespace {

bool holds(std::string_view text, const Tensor& x, const Tensor& y, int64_t n = 0) {
  const std::optional<Guard> guard = Guard::parse(text);
  EXPECT_TRUE(guard) << text;
  const Value values[] = {x, y, n};
  return guard->holds([&](const std::string& name) -> const Value* {
    if (name == "L['x']") return &values[0];
    if (name == "L['y'][0]") return &values[1];
    return name == "L['n']" ? &values[2] : nullptr;
  });
}

TEST(Guard, SaysWhatPythonSays) {
  const Tensor x = Tensor::zeros(DType::kFloat32, Dims{6, 4});
  const Tensor y = Tensor::zeros(DType::kFloat32, Dims{13});
  EXPECT_TRUE(holds("L['y'][0].size()[0] == (1 + 2*L['x'].size()[0])", x, y));
  EXPECT_FALSE(holds("L['y'][0].size()[0] == 2*L['x'].size()[0]", x, y));
  EXPECT_TRUE(holds("L['x'].size()[0] == 2 or (L['x'].size()[0] % 2) == 0", x, y));
  EXPECT_TRUE(holds("(L['x'].size()[0] // 4) != L['x'].size()[0]", x, y));
  EXPECT_TRUE(holds("1 + L['n'] >= 0 and 1 + L['n'] <= 9", x, y, -1));
  EXPECT_FALSE(holds("1 + L['n'] >= 0 and 1 + L['n'] <= 9", x, y, -2));
  EXPECT_TRUE(holds("L['x'].stride()[0] == L['x'].size()[1]", x, y));
  EXPECT_TRUE(holds("((-1) + L['y'][0].size()[0]) == 12", x, y));
}

TEST(Guard, NamesMayHaveBracketsInThem) {
  const std::optional<Guard> guard = Guard::parse("L['a]b']['c\\'d'].size()[0] == 2*L[\"e\"]");
  ASSERT_TRUE(guard);
  ASSERT_EQ(guard->terms().size(), 2U);
  EXPECT_EQ(guard->terms()[0].input, "L['a]b']['c\\'d']");
  EXPECT_EQ(guard->terms()[1].input, "L[\"e\"]");
}

TEST(Guard, LeavesOtherTextAlone) {
  EXPECT_FALSE(Guard::parse("L['x'].is_cuda()"));
  EXPECT_FALSE(Guard::parse("isinstance(L['x'], torch.Tensor"));
  EXPECT_FALSE(Guard::parse("L['x"));
  EXPECT_FALSE(Guard::parse("check(L['x'])"));
  EXPECT_FALSE(Guard::parse("L['x'].size()[0] == n"));
  EXPECT_FALSE(Guard::parse("L['x'].size()[0] == u0"));
}

}  // namespace
}  // namespace flambeau::runtime
