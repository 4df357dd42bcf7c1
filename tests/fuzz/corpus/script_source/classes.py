class Point(NamedTuple):
  x : int
  y : List[Tensor]
class Color(Enum):
  RED = 1
  GREEN = 2
class Shape(Interface):
  def area(self: __torch__.Shape,
    scale: float) -> float:
    pass
class Square:
  side : float
  __annotations__["0"] = int
  def area(self: __torch__.Square,
    scale: float) -> float:
    return torch.mul(self.side, scale)
class M(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  size : Final[int] = 3
  def forward(self: __torch__.M,
    p: __torch__.Point,
    s: __torch__.Shape,
    c: Optional[__torch__.Color]=None) -> Tuple[int, Dict[str, float]]:
    def __forked_function():
      return torch.add(p.x, 1)
    f = fork(__forked_function)
    x, y, = p
    if torch.__isnot__(c, None):
      c0 = unchecked_cast(__torch__.Color, c)
      n, d = (c0).value, {"a": (s).area(2., )}
    else:
      n, d = torch.wait(f), annotate(Dict[str, float], {})
    for i in range(torch.len(y)):
      _0 = torch.add_(y[i], CONSTANTS.c0)
    return (n, d)
def helper(x: int) -> str:
  return torch.format("{} {}", x, CONSTANTS.c1)
