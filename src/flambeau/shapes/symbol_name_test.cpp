#include "flambeau/shapes/symbol_name.h"

#include <gtest/gtest.h>

namespace flambeau::trace {
namespace {

TEST(SymbolName, NumbersAsPyTorchDoes) {
  EXPECT_EQ(symbol_number("L['x'].size()[0]"), 77);
  EXPECT_EQ(symbol_number("L['x'].size()[1]"), 27);
  EXPECT_EQ(symbol_number("L['y'].size()[0]"), 17);
}

}  // namespace
}  // namespace flambeau::trace
