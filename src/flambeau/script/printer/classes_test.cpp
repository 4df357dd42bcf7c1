// Whole files of an archive's code: what PyTorch 2.13 has saved twice comes back as it was.
#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/script/printer/test_support.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

constexpr char kModules[] = R"(class M(Module):
  __parameters__ = ["w", ]
  __buffers__ = ["b", ]
  w : Tensor
  b : Tensor
  training : bool
  _is_full_backward_hook : NoneType
  color : __torch__.Color
  word : __torch__.Word
  seq : __torch__.torch.nn.modules.container.Sequential
  proxy : __torch__.Inter
  k : Final[int] = 3
  def forward(self: __torch__.M,
    x: Tensor,
    n: int=3,
    l: List[int]=[1, 2]) -> __torch__.Pair:
    c = __torch__.Counter.__new__(__torch__.Counter)
    _0 = (c).__init__(n, )
    _1 = (c).add(3, )
    _2 = __torch__.Guard.__new__(__torch__.Guard)
    _3 = (_2).__init__("r", )
    with _2:
      seq = self.seq
      _4 = (seq).forward(x, )
      w = self.w
      _5 = torch.mul(_4, w)
      b = self.b
      y = __torch__.helper(torch.add(_5, b), 2, )
    def __forked_function():
      return __torch__.helper(y, 3, )
    fut = fork(__forked_function)
    z = torch.wait(fut)
    color = self.color
    _6 = torch.eq(color, __torch__.Color.BLUE)
    if _6:
      proxy = self.proxy
      z0 = (proxy).forward(z, )
    else:
      z0 = z
    word = self.word
    if torch.eq((word).value, "a b"):
      t = torch.tensor([1., 2.])
    else:
      t = z0
    self.b = z0
    _7 = torch.add(z0, t)
    n0 = c.n
    return __torch__.Pair(_7, n0)
class Sub(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  def forward(self: __torch__.Sub,
    x: Tensor) -> Tensor:
    return torch.add(x, 1)
class Color(Enum):
  RED = 1
  BLUE = 2
class Word(Enum):
  A = "a b"
class Inter(ModuleInterface):
  def forward(self, x: Tensor) -> Tensor:
    pass
class Pair(NamedTuple):
  first : Tensor
  second : int
def helper(x: Tensor,
    k: int=2) -> Tensor:
  return torch.mul(x, k)
class Counter:
  n : int
  def __init__(self: __torch__.Counter,
    n: int) -> NoneType:
    self.n = n
    return None
  def add(self: __torch__.Counter,
    k: int) -> int:
    n = self.n
    self.n = torch.add(n, k)
    return self.n
class Guard:
  name : str
  def __init__(self: __torch__.Guard,
    name: str) -> NoneType:
    self.name = name
    return None
  def __enter__(self: __torch__.Guard) -> __torch__.Guard:
    return self
  def __exit__(self: __torch__.Guard,
    exc_type: Any,
    exc_value: Any,
    traceback: Any) -> NoneType:
    return None
)";

constexpr char kContainer[] = R"(class Sequential(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : NoneType
  __annotations__["0"] = __torch__.torch.nn.modules.activation.ReLU
  __annotations__["1"] = __torch__.torch.nn.modules.activation.ReLU
  def forward(self: __torch__.torch.nn.modules.container.Sequential,
    input: Tensor) -> Tensor:
    _0 = getattr(self, "0")
    _1 = getattr(self, "1")
    input0 = (_0).forward(input, )
    return (_1).forward(input0, )
  def __len__(self: __torch__.torch.nn.modules.container.Sequential) -> int:
    return 2
)";

constexpr char kActivation[] = R"(class ReLU(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : NoneType
  inplace : Final[bool] = False
  def forward(self: __torch__.torch.nn.modules.activation.ReLU,
    input: Tensor) -> Tensor:
    _0 = __torch__.torch.nn.functional.relu(input, False, )
    return _0
)";

constexpr char kFunctional[] = R"(def relu(input: Tensor,
    inplace: bool=False) -> Tensor:
  if inplace:
    result = torch.relu_(input)
  else:
    result = torch.relu(input)
  return result
)";

TEST(PrintedClasses, ComeBackAsTheyWere) {
  const PrintedArchive archive({{"__torch__", kModules},
                                {"__torch__.torch.nn.modules.container", kContainer},
                                {"__torch__.torch.nn.modules.activation", kActivation},
                                {"__torch__.torch.nn.functional", kFunctional}});
  EXPECT_EQ(archive.printed.at("__torch__"), kModules);
  EXPECT_EQ(archive.printed.at("__torch__.torch.nn.modules.container"), kContainer);
  EXPECT_EQ(archive.printed.at("__torch__.torch.nn.modules.activation"), kActivation);
  EXPECT_EQ(archive.printed.at("__torch__.torch.nn.functional"), kFunctional);
  EXPECT_EQ(archive.version, 1);
  EXPECT_TRUE(archive.constants.values().empty());
}

TEST(PrintedClasses, SayWhatTheyMention) {
  const PrintedArchive archive({{"__torch__", kModules},
                                {"__torch__.torch.nn.modules.container", kContainer},
                                {"__torch__.torch.nn.modules.activation", kActivation},
                                {"__torch__.torch.nn.functional", kFunctional}});
  std::string mentioned;
  for (size_t i = 0; i < archive.dependencies.size(); ++i) {
    const Dependency& dependency = archive.dependencies.at(i);
    mentioned += (dependency.is_function ? "def " : "class ") + dependency.name + "\n";
  }
  EXPECT_EQ(mentioned, R"(class __torch__.Color
class __torch__.Word
class __torch__.torch.nn.modules.container.Sequential
class __torch__.torch.nn.modules.activation.ReLU
class __torch__.Inter
class __torch__.M
class __torch__.Pair
def __torch__.helper
class __torch__.Counter
class __torch__.Guard
class __torch__.Sub
def __torch__.torch.nn.functional.relu
)");
}

TEST(PrintedClasses, HaveTheNamesThatTheyAreGiven) {
  const std::map<std::string, std::string> texts = {{"__torch__", kFunctional}};
  const PrintedArchive archive(texts);
  ConstantTable constants;
  Dependencies dependencies;
  const auto names = [](std::string_view name) { return std::string(name) + "_renamed"; };
  auto point = std::make_shared<Class>(ClassKind::kPlain, "__torch__.Point");
  point->attributes = {{.name = "next", .type = Type::optional(Type::class_named("__torch__.Point"))},
                       {.name = "0", .type = Type::list(Type::class_named("__torch__.Point"))}};
  CodePrinter printer(archive.unit, constants, dependencies, names);
  printer.print(*point);
  EXPECT_EQ(printer.text(), R"(class Point:
  next : Optional[__torch__.Point_renamed]
  __annotations__["0"] = List[__torch__.Point_renamed]
)");
}

TEST(PrintedClasses, ConstantsAndHooks) {
  const std::string text = R"(class M(Module):
  __parameters__ = []
  __buffers__ = []
  __forward_pre_hooks__ = ["pre", ]
  __forward_hooks__ = ["after", "after", ]
  __annotations__ = []
  __annotations__["0"] = Tensor
  training : bool
  eps : Final[float] = 1.0000000000000001e-05
  dims : Final[List[int]] = [1, 2]
  names : Final[Tuple[str, bool]] = ("a", True)
  def forward(self: __torch__.M,
    x: Tensor) -> Tensor:
    return torch.mul(x, CONSTANTS.c0)
  def after(self: __torch__.M,
    input: Tuple[Tensor],
    output: Tensor) -> Tensor:
    return output
  def pre(self: __torch__.M,
    input: Tuple[Tensor]) -> Tuple[Tensor]:
    return input
)";
  const PrintedArchive archive({{"__torch__", text}},
                               {IValue(Tensor::zeros(DType::kFloat32, std::array<int64_t, 1>{2}))});
  EXPECT_EQ(archive.printed.at("__torch__"), text);
  EXPECT_EQ(archive.constants.values().size(), 1U);
}

TEST(PrintedClasses, OperatorsDecideTheVersion) {
  const std::string text = R"(def f(x: Tensor) -> Tensor:
  return torch.gelu(torch.div(x, x))
)";
  const std::map<std::string, std::string> texts = {{"__torch__", text}};
  EXPECT_EQ(PrintedArchive(texts).version, 10);
}

}  // namespace
}  // namespace flambeau::script
