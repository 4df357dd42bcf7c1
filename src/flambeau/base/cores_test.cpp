#include "flambeau/base/cores.h"

#include <gtest/gtest.h>

namespace flambeau {
namespace {

TEST(Cores, ThereIsOneAtLeast) { EXPECT_GE(usable_cores(), 1); }

TEST(Cores, ReadsQuotas) {
  EXPECT_EQ(cores_of_quota("200000 100000\n"), 2);
  EXPECT_EQ(cores_of_quota("150000 100000\n"), 2);
  EXPECT_EQ(cores_of_quota("50000 100000\n"), 1);
  EXPECT_EQ(cores_of_quota("max 100000\n"), 0);
  for (const char* const wrong : {"", "7", "7 ", "-1 100000", "100000 0", "100000 x"})
    EXPECT_EQ(cores_of_quota(wrong), 0) << wrong;
}

}  // namespace
}  // namespace flambeau
