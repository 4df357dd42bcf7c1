// Functions as a person writes them, and as PyTorch 2.13 prints them.
#include <gtest/gtest.h>

#include "flambeau/script/printer/test_support.h"

namespace flambeau::script {
namespace {

TEST(PrintedExpressions, Strings) {
  EXPECT_EQ(printed(R"(def f():
    return ("a'b\"c", "tab\t nl\n bell\a", "back\\slash", "\001\033", "a string that is longer than forty characters")
)"),
            R"(def f() -> Tuple[str, str, str, str, str]:
  _0 = ("a\'b\"c", "tab\t nl\n bell\a", "back\\slash", "\001\033", "a string that is longer than forty characters")
  return _0
)");
}

TEST(PrintedExpressions, Lists) {
  EXPECT_EQ(printed(R"(def f(x, y: Optional[int]):
    a: List[int] = []
    b = [1, 2]
    c = [y, y]
    d: List[Optional[Tensor]] = [x]
    e: Dict[str, int] = {}
    g = {"a": x, "b": x}
    return a, b, c, d, e, g
)"),
            R"(def f(x: Tensor,
    y: Optional[int]) -> Tuple[List[int], List[int], List[Optional[int]], List[Optional[Tensor]], Dict[str, int], Dict[str, Tensor]]:
  a = annotate(List[int], [])
  b = [1, 2]
  c = annotate(List[Optional[int]], [y, y])
  d = annotate(List[Optional[Tensor]], [x])
  e = annotate(Dict[str, int], {})
  g = {"a": x, "b": x}
  return (a, b, c, d, e, g)
)");
}

TEST(PrintedExpressions, Devices) {
  EXPECT_EQ(printed(R"(def f(x):
    return x.to(torch.device("cuda:1")), torch.zeros([2], device="cpu", dtype=6)
)"),
            R"(def f(x: Tensor) -> Tuple[Tensor, Tensor]:
  _0 = torch.to(x, torch.device("cuda:1"))
  _1 = torch.zeros([2], dtype=6, layout=None, device=torch.device("cpu"))
  return (_0, _1)
)");
}

TEST(PrintedExpressions, DefaultsAreLeftOut) {
  EXPECT_EQ(printed(R"(def f(x, y):
    return torch.add(x, y), torch.add(x, y, alpha=2), torch.sum(x, 0), torch.sum(x, 0, True), torch.softmax(x, 1, None)
)"),
            R"(def f(x: Tensor,
    y: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
  _0 = (torch.add(x, y), torch.add(x, y, alpha=2), torch.sum(x, [0]), torch.sum(x, [0], True), torch.softmax(x, 1))
  return _0
)");
}

TEST(PrintedExpressions, OutArguments) {
  EXPECT_EQ(printed(R"(def f(x, y, z):
    torch.add(x, y, out=z)
    return torch.add(x, y, alpha=2, out=z)
)"),
            R"(def f(x: Tensor,
    y: Tensor,
    z: Tensor) -> Tensor:
  _0 = torch.add(x, y, out=z)
  return torch.add(x, y, alpha=2, out=z)
)");
}

TEST(PrintedExpressions, SpecialForms) {
  EXPECT_EQ(printed(R"(def f(x, l: List[int], t: Tuple[int, str], d: Dict[str, int]):
    a = int(x) + float(x)
    b = bool(x)
    c = str(l)
    e = l[0] + t[0] + d["a"]
    g = sorted(l)
    return a, b, c, e, g, t[0:1]
)"),
            R"(def f(x: Tensor,
    l: List[int],
    t: Tuple[int, str],
    d: Dict[str, int]) -> Tuple[float, bool, str, int, List[int], Tuple[int]]:
  a = torch.add(int(x), float(x))
  b = bool(x)
  c = str(l)
  e = torch.add(torch.add(l[0], (t)[0]), d["a"])
  g = sorted(l)
  return (a, b, c, e, g, ((t)[0],))
)");
}

TEST(PrintedExpressions, Unpacking) {
  EXPECT_EQ(printed(R"(def f(x, t: Tuple[Tensor, int]):
    a, b = t
    v, i = torch.max(x, 0)
    q, r = [1, 2]
    return a, b, v, i, q, r
)"),
            R"(def f(x: Tensor,
    t: Tuple[Tensor, int]) -> Tuple[Tensor, int, Tensor, Tensor, int, int]:
  a, b, = t
  v, i = torch.max(x, 0)
  q, r, = [1, 2]
  return (a, b, v, i, q, r)
)");
}

TEST(PrintedExpressions, Refinement) {
  EXPECT_EQ(printed(R"(def f(x: Optional[Tensor], y: Any):
    if x is not None:
        z = x
    else:
        z = torch.zeros([1])
    if isinstance(y, int):
        return z + y
    if isinstance(y, (str, float)):
        return z
    return z + 1
)"),
            R"(def f(x: Optional[Tensor],
    y: Any) -> Tensor:
  if torch.__isnot__(x, None):
    z = unchecked_cast(Tensor, x)
  else:
    z = torch.zeros([1])
  _0 = isinstance(y, int)
  if _0:
    y0 = unchecked_cast(int, y)
    _1 = torch.add(z, y0)
  else:
    y1 = unchecked_cast(Any, y)
    _2 = isinstance(y1, (float, str))
    if _2:
      _3 = z
    else:
      _3 = torch.add(z, 1)
    _1 = _3
  return _1
)");
}

TEST(PrintedExpressions, ImplicitConversions) {
  EXPECT_EQ(printed(R"(def f(x, y):
    # type: (Tensor, Tensor) -> Tensor
    return torch.select(x, 0, y)
)"),
            R"(def f(x: Tensor,
    y: Tensor) -> Tensor:
  return torch.select(x, 0, annotate(int, y))
)");
}

TEST(PrintedExpressions, Calls) {
  EXPECT_EQ(printed(R"(def f(x):
    return torch.relu(x)
)"),
            R"(def f(x: Tensor) -> Tensor:
  return torch.relu(x)
)");
}

TEST(PrintedExpressions, Formats) {
  EXPECT_EQ(printed(R"(def f(x, n: int):
    return "{} and {}".format(x, n) + "%d" % n
)"),
            R"(def f(x: Tensor,
    n: int) -> str:
  _0 = torch.add(torch.format("{} and {}", x, n), torch.percentFormat("%d", n))
  return _0
)");
}

TEST(PrintedExpressions, ToLists) {
  EXPECT_EQ(printed(R"(def f(x):
    # type: (Tensor) -> List[int]
    y: List[int] = x.tolist()
    return y
)"),
            R"(def f(x: Tensor) -> List[int]:
  return annotate(List[int], x.tolist())
)");
}

TEST(PrintedExpressions, Comprehensions) {
  EXPECT_EQ(printed(R"(def f(l: List[int]):
    return [x * 2 for x in l], {x: x for x in l}
)"),
            R"(def f(l: List[int]) -> Tuple[List[int], Dict[int, int]]:
  _0 = annotate(List[int], [])
  for _1 in range(torch.len(l)):
    x = l[_1]
    _2 = torch.append(_0, torch.mul(x, 2))
  _3 = annotate(Dict[int, int], {})
  for _4 in range(torch.len(l)):
    x0 = l[_4]
    torch._set_item(_3, x0, x0)
  return (_0, _3)
)");
}

TEST(PrintedExpressions, ALoopInALoop) {
  EXPECT_EQ(printed(R"(def f(x, n: int):
    for i in range(n):
        for j in range(i):
            if j > 2:
                continue
            x = x + j
    return x
)"),
            R"(def f(x: Tensor,
    n: int) -> Tensor:
  x0 = x
  for i in range(n):
    x1 = x0
    _0 = 0
    _1 = torch.gt(i, 0)
    while _1:
      if torch.gt(_0, 2):
        _2 = x1
      else:
        _2 = torch.add(x1, _0)
      _3 = torch.add(_0, 1)
      _4 = torch.__and__(torch.lt(_3, i), True)
      _1, x1, _0 = _4, _2, _3
    x0 = x1
  return x0
)");
}

}  // namespace
}  // namespace flambeau::script
