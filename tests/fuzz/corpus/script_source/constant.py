class PlaceholderModule(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  def forward(self: __torch__.PlaceholderModule,
    x: Tensor) -> Tensor:
    _0 = torch.to(CONSTANTS.c0, torch.device("cpu"), 6)
    _1 = torch.add(x, torch.sum(torch.detach(_0)))
    return torch.add(_1, CONSTANTS.c1)
