// Functions as a person writes them, and as PyTorch 2.13 prints them.
#include <gtest/gtest.h>

#include "flambeau/script/printer/test_support.h"

namespace flambeau::script {
namespace {

TEST(PrintedStatements, InlinesWhatIsUsedOnce) {
  EXPECT_EQ(printed(R"(def f(x, y):
    return torch.relu(torch.add(torch.neg(x), y))
)"),
            R"(def f(x: Tensor,
    y: Tensor) -> Tensor:
  _0 = torch.relu(torch.add(torch.neg(x), y))
  return _0
)");
}

TEST(PrintedStatements, LongExpressionsGetVariables) {
  EXPECT_EQ(printed(R"(def f(x, y):
    return torch.relu(torch.add(torch.neg(torch.sigmoid(x)), torch.mul(torch.tanh(y), torch.tanh(x))))
)"),
            R"(def f(x: Tensor,
    y: Tensor) -> Tensor:
  _0 = torch.neg(torch.sigmoid(x))
  _1 = torch.mul(torch.tanh(y), torch.tanh(x))
  return torch.relu(torch.add(_0, _1))
)");
}

TEST(PrintedStatements, WhatComesBeforeALongOneGetsAVariableToo) {
  EXPECT_EQ(printed(R"(def f(x, y):
    return torch.stack([x.add_(y), torch.matmul(torch.softmax(x, 1), torch.softmax(y, 1)), torch.relu(y)])
)"),
            R"(def f(x: Tensor,
    y: Tensor) -> Tensor:
  _0 = torch.add_(x, y)
  _1 = torch.matmul(torch.softmax(x, 1), torch.softmax(y, 1))
  return torch.stack([_0, _1, torch.relu(y)])
)");
}

TEST(PrintedStatements, NamesArePreserved) {
  EXPECT_EQ(printed(R"(def f(x, y):
    z = torch.relu(x)
    w = torch.relu(z)
    return w + y
)"),
            R"(def f(x: Tensor,
    y: Tensor) -> Tensor:
  z = torch.relu(x)
  w = torch.relu(z)
  return torch.add(w, y)
)");
}

TEST(PrintedStatements, NamesClash) {
  EXPECT_EQ(printed(R"(def f(x, _0, x0):
    x = torch.relu(x)
    x = torch.relu(x) + x0
    y = torch.relu(x), torch.relu(_0)
    return y, x + x
)"),
            R"(def f(x: Tensor,
    _0: Tensor,
    x0: Tensor) -> Tuple[Tuple[Tensor, Tensor], Tensor]:
  x1 = torch.relu(x)
  x2 = torch.add(torch.relu(x1), x0)
  y = (torch.relu(x2), torch.relu(_0))
  return (y, torch.add(x2, x2))
)");
}

TEST(PrintedStatements, ReservedWordsGetANumber) {
  EXPECT_EQ(printed(R"(def f(attribute, ops):
    inf = attribute + ops
    nan = inf + inf
    return nan + nan + inf
)"),
            R"(def f(attribute0: Tensor,
    ops0: Tensor) -> Tensor:
  inf0 = torch.add(attribute0, ops0)
  nan0 = torch.add(inf0, inf0)
  _0 = torch.add(torch.add(nan0, nan0), inf0)
  return _0
)");
}

TEST(PrintedStatements, Branches) {
  EXPECT_EQ(printed(R"(def f(x, c: bool):
    if c:
        y = torch.relu(x)
        z = 1
    else:
        y = x
        z = 2
    return y + z
)"),
            R"(def f(x: Tensor,
    c: bool) -> Tensor:
  if c:
    y, z = torch.relu(x), 1
  else:
    y, z = x, 2
  return torch.add(y, z)
)");
}

TEST(PrintedStatements, OptionalBranches) {
  EXPECT_EQ(printed(R"(def f(x, c: bool):
    y: Optional[Tensor] = None
    if c:
        y = x
    return y
)"),
            R"(def f(x: Tensor,
    c: bool) -> Optional[Tensor]:
  if c:
    y : Optional[Tensor] = x
  else:
    y = None
  return y
)");
}

TEST(PrintedStatements, BranchesWithoutOutputs) {
  EXPECT_EQ(printed(R"(def f(x, c: bool):
    if c:
        print(x)
    else:
        pass
    if c:
        pass
    else:
        print(x, 1)
    return x
)"),
            R"(def f(x: Tensor,
    c: bool) -> Tensor:
  if c:
    print(x)
  else:
    pass
  if c:
    pass
  else:
    print(x, 1)
  return x
)");
}

TEST(PrintedStatements, ForLoops) {
  EXPECT_EQ(printed(R"(def f(x, n: int):
    y = x
    s = 0
    for i in range(n):
        y = torch.add(y, x)
        s += i
    return y + s
)"),
            R"(def f(x: Tensor,
    n: int) -> Tensor:
  y = x
  s = 0
  for i in range(n):
    y, s = torch.add(y, x), torch.add(s, i)
  return torch.add(y, s)
)");
}

TEST(PrintedStatements, WhileLoops) {
  EXPECT_EQ(printed(R"(def f(n: int):
    k = 0
    while k < n:
        k += 2
    return k
)"),
            R"(def f(n: int) -> int:
  k = 0
  _0 = torch.lt(0, n)
  while _0:
    k0 = torch.add(k, 2)
    _0, k = torch.lt(k0, n), k0
  return k
)");
}

TEST(PrintedStatements, LoopsWithBreaks) {
  EXPECT_EQ(printed(R"(def f(n: int):
    k = 0
    for i in range(n):
        if i > 3:
            break
        k += i
    return k
)"),
            R"(def f(n: int) -> int:
  k = 0
  _0 = 0
  _1 = torch.gt(n, 0)
  while _1:
    if torch.gt(_0, 3):
      _2, _3 = False, k
    else:
      _2, _3 = True, torch.add(k, _0)
    _4 = torch.add(_0, 1)
    _1, k, _0 = torch.__and__(torch.lt(_4, n), _2), _3, _4
  return k
)");
}

TEST(PrintedStatements, LoopsWithoutCarriedValues) {
  EXPECT_EQ(printed(R"(def f(x, n: int):
    for i in range(n):
        print(x)
    return x
)"),
            R"(def f(x: Tensor,
    n: int) -> Tensor:
  for i in range(n):
    print(x)
  return x
)");
}

TEST(PrintedStatements, EarlyReturns) {
  EXPECT_EQ(printed(R"(def f(x, n: int):
    if n > 3:
        return x
    for i in range(n):
        if i > 1:
            return x + i
    return x + 1
)"),
            R"(def f(x: Tensor,
    n: int) -> Tensor:
  _0 = uninitialized(Tensor)
  if torch.gt(n, 3):
    _1 = x
  else:
    _2 = False
    _3 = _0
    _4 = 0
    _5 = torch.gt(n, 0)
    while _5:
      if torch.gt(_4, 1):
        _6, _7, _8 = False, True, torch.add(x, _4)
      else:
        _6, _7, _8 = True, False, _0
      _9 = torch.add(_4, 1)
      _10 = torch.__and__(torch.lt(_9, n), _6)
      _5, _2, _3, _4 = _10, _7, _8, _9
    if _2:
      _11 = _3
    else:
      _11 = torch.add(x, 1)
    _1 = _11
  return _1
)");
}

TEST(PrintedStatements, Numbers) {
  EXPECT_EQ(
      printed(R"(def f():
    return (1, -2, 3., 0.1, 1e-5, -0., 1e20, 123456789., float("inf"), -float("inf"), True, None, 2 + 3j)
)"),
      R"(def f() -> Tuple[int, int, float, float, float, float, float, float, float, float, bool, NoneType, complex]:
  _0 = (1, -2, 3., 0.10000000000000001, 1.0000000000000001e-05, -0., 1e+20, 123456789., inf, -inf, True, None, 2.+3.j)
  return _0
)");
}

}  // namespace
}  // namespace flambeau::script
