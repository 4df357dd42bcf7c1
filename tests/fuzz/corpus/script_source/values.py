class Values(Module):
  __parameters__ = ["weight", ]
  __buffers__ = []
  weight : Tensor
  training : bool
  _is_full_backward_hook : Optional[bool]
  names : List[str]
  sizes : Dict[str, List[int]]
  pair : Tuple[float, bool]
  number : complex
  device : Device
  sparse : Tensor
  def forward(self: __torch__.Values,
    x: Tensor,
    scale: Optional[float]=None) -> Tuple[Tensor, int]:
    names = self.names
    total = 0
    for _0 in range(torch.len(names)):
      name = names[_0]
      sizes = self.sizes
      total0 = torch.add(total, torch.len(sizes[name]))
      total = total0
    if torch.__isnot__(scale, None):
      scale0 = unchecked_cast(float, scale)
      x0 = torch.mul(x, scale0)
    else:
      x0 = x
    total1 = total
    _1 = torch.lt(total, 10)
    while _1:
      total2 = torch.add(total1, 1)
      _1, total1 = torch.lt(total2, 10), total2
    weight = self.weight
    return (torch.add(x0, weight), total1)
