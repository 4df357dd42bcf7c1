#include "flambeau/script/operators/upgraders.h"

#include <algorithm>
#include <iterator>

#include "flambeau/value/operator_name.h"

namespace flambeau::script {
namespace {

// Division of integers was cut to an integer before version 4; a fill value without a data type made a float
// tensor before version 5; numbers of steps were optional before 8 and 9; gelu had one form before 10.
constexpr Upgrader kUpgraders[] = {
    {"div_Tensor_0_3", "aten::div", "Tensor", 4, "aten::div.Tensor(Tensor self, Tensor other) -> Tensor",
     R"(def div_Tensor_0_3(self: Tensor, other: Tensor) -> Tensor:
  if self.is_floating_point() or other.is_floating_point():
    return torch.div(self, other)
  else:
    return torch.div(self, other, rounding_mode="trunc")
)"},
    {"div_Scalar_0_3", "aten::div", "Scalar", 4, "aten::div.Scalar(Tensor self, Scalar other) -> Tensor",
     R"(def div_Scalar_0_3(self: Tensor, other: number) -> Tensor:
  if self.is_floating_point() or isinstance(other, float):
    return torch.div(self, other)
  else:
    return torch.div(self, other, rounding_mode="trunc")
)"},
    {"div_out_0_3", "aten::div", "out", 4,
     "aten::div.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
     R"(def div_out_0_3(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
  if self.is_floating_point() or other.is_floating_point() or out.is_floating_point():
    return torch.div(self, other, out=out)
  else:
    return torch.div(self, other, rounding_mode="trunc", out=out)
)"},
    {"div_Tensor_mode_0_3", "aten::div", "Tensor_mode", 4,
     "aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
     R"(def div_Tensor_mode_0_3(self: Tensor, other: Tensor, *, rounding_mode: Optional[str]=None) -> Tensor:
  return torch.div(self, other, rounding_mode=rounding_mode)
)"},
    {"div_Scalar_mode_0_3", "aten::div", "Scalar_mode", 4,
     "aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
     R"(def div_Scalar_mode_0_3(self: Tensor, other: number, *, rounding_mode: Optional[str]=None) -> Tensor:
  return torch.div(self, other, rounding_mode=rounding_mode)
)"},
    {"div_out_mode_0_3", "aten::div", "out_mode", 4,
     "aten::div.out_mode(Tensor self, Tensor other, *, str? rounding_mode, Tensor(a!) out) -> Tensor(a!)",
     R"(def div_out_mode_0_3(self: Tensor, other: Tensor, *, rounding_mode: Optional[str]=None,
                     out: Tensor) -> Tensor:
  return torch.div(self, other, rounding_mode=rounding_mode, out=out)
)"},
    {"div__Tensor_0_3", "aten::div_", "Tensor", 4,
     "aten::div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
     R"(def div__Tensor_0_3(self: Tensor, other: Tensor) -> Tensor:
  if self.is_floating_point() or other.is_floating_point():
    return self.div_(other)
  else:
    return self.div_(other, rounding_mode="trunc")
)"},
    {"div__Scalar_0_3", "aten::div_", "Scalar", 4,
     "aten::div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
     R"(def div__Scalar_0_3(self: Tensor, other: number) -> Tensor:
  if self.is_floating_point() or isinstance(other, float):
    return self.div_(other)
  else:
    return self.div_(other, rounding_mode="trunc")
)"},
    {"div__Tensor_mode_0_3", "aten::div_", "Tensor_mode", 4,
     "aten::div_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)",
     R"(def div__Tensor_mode_0_3(self: Tensor, other: Tensor, *, rounding_mode: Optional[str]=None) -> Tensor:
  return self.div_(other, rounding_mode=rounding_mode)
)"},
    {"div__Scalar_mode_0_3", "aten::div_", "Scalar_mode", 4,
     "aten::div_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)",
     R"(def div__Scalar_mode_0_3(self: Tensor, other: number, *, rounding_mode: Optional[str]=None) -> Tensor:
  return self.div_(other, rounding_mode=rounding_mode)
)"},
    {"full_0_4", "aten::full", "", 5,
     "aten::full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     R"(def full_0_4(size: List[int], fill_value: number, *, dtype: Optional[int]=None, layout: Optional[int]=None,
             device: Optional[Device]=None, pin_memory: Optional[bool]=None) -> Tensor:
  if dtype is None:
    fill_value = float(fill_value)
  return torch.full(size, fill_value, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
)"},
    {"full_names_0_4", "aten::full", "names", 5,
     "aten::full.names(int[] size, Scalar fill_value, *, Dimname[]? names, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     R"(def full_names_0_4(size: List[int], fill_value: number, *, names: Optional[List[str]]=None,
                   dtype: Optional[int]=None, layout: Optional[int]=None, device: Optional[Device]=None,
                   pin_memory: Optional[bool]=None) -> Tensor:
  return torch.full(size, fill_value, names=names, dtype=dtype, layout=layout, device=device,
                    pin_memory=pin_memory)
)"},
    {"full_out_0_4", "aten::full", "out", 5,
     "aten::full.out(int[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!)",
     R"(def full_out_0_4(size: List[int], fill_value: number, *, out: Tensor) -> Tensor:
  return torch.full(size, fill_value, out=out)
)"},
    {"linspace_0_7", "aten::linspace", "", 8,
     "aten::linspace(Scalar start, Scalar end, int? steps=None, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     R"(def linspace_0_7(start: number, end: number, steps: Optional[int], *, dtype: Optional[int],
                 layout: Optional[int], device: Optional[Device], pin_memory: Optional[bool]):
  if steps is None:
    return torch.linspace(start, end, 100, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
  else:
    return torch.linspace(start, end, steps, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
)"},
    {"linspace_out_0_7", "aten::linspace", "out", 8,
     "aten::linspace.out(Scalar start, Scalar end, int? steps=None, *, Tensor(a!) out) -> Tensor(a!)",
     R"(def linspace_out_0_7(start: number, end: number, steps: Optional[int], *, out: Tensor):
  if steps is None:
    return torch.linspace(start, end, 100, out=out)
  else:
    return torch.linspace(start, end, steps, out=out)
)"},
    {"logspace_0_8", "aten::logspace", "", 9,
     "aten::logspace(Scalar start, Scalar end, int? steps=None, float base=10.0, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     R"(def logspace_0_8(start: number, end: number, steps: Optional[int], base: float, *, dtype: Optional[int],
                 layout: Optional[int], device: Optional[Device], pin_memory: Optional[bool]):
  if steps is None:
    return torch.logspace(start, end, 100, base, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
  else:
    return torch.logspace(start, end, steps, base, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
)"},
    {"logspace_out_0_8", "aten::logspace", "out", 9,
     "aten::logspace.out(Scalar start, Scalar end, int? steps=None, float base=10.0, *, Tensor(a!) out) -> "
     "Tensor(a!)",
     R"(def logspace_out_0_8(start: number, end: number, steps: Optional[int], base: float, *, out: Tensor):
  if steps is None:
    return torch.logspace(start, end, 100, base, out=out)
  else:
    return torch.logspace(start, end, steps, base, out=out)
)"},
    {"gelu_0_9", "aten::gelu", "", 10, "aten::gelu(Tensor self) -> Tensor",
     R"(def gelu_0_9(self: Tensor) -> Tensor:
  return torch.gelu(self, approximate="none")
)"},
    {"gelu_out_0_9", "aten::gelu", "out", 10, "aten::gelu.out(Tensor self, *, Tensor(a!) out) -> Tensor",
     R"(def gelu_out_0_9(self: Tensor, *, out: Tensor) -> Tensor:
  return torch.gelu(self, approximate="none", out=out)
)"},
};

const Upgrader* find_change(const OperatorName& name) {
  const auto* const found = std::ranges::find_if(kUpgraders, [&](const Upgrader& upgrader) {
    return upgrader.operator_name == name.name && upgrader.overload == name.overload;
  });
  return found == std::end(kUpgraders) ? nullptr : found;
}

}  // namespace

std::span<const Upgrader> upgraders() { return kUpgraders; }

const Upgrader* find_upgrader(const OperatorName& name, int64_t archive_version) {
  const Upgrader* const found = find_change(name);
  return found != nullptr && archive_version < found->changed_in ? found : nullptr;
}

int64_t least_archive_version(const OperatorName& name) {
  const Upgrader* const found = find_change(name);
  return found == nullptr ? 0 : found->changed_in;
}

bool applies_to_bytecode(const Upgrader& upgrader) { return upgrader.operator_name != "aten::full"; }

}  // namespace flambeau::script
