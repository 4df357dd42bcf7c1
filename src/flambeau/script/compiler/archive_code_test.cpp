#include "flambeau/script/compiler/archive_code.h"

#include <gtest/gtest.h>

#include <map>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/printer/printer.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::compiler {
namespace {

class CompileArchive : public testing::Test {
 protected:
  void use(std::map<std::string, std::string> texts, std::vector<IValue> constants = {},
           int64_t version = 10) {
    ArchiveCode code;
    code.find_text = [this,
                      texts = std::move(texts)](std::string_view qualifier) -> std::shared_ptr<const Source> {
      asked_.emplace_back(qualifier);
      const auto found = texts.find(std::string(qualifier));
      if (found == texts.end()) return nullptr;
      return std::make_shared<Source>(found->second, "code/x.py");
    };
    code.constants = std::move(constants);
    code.version = version;
    use_archive_code(unit_, std::move(code));
  }

  std::string printed(const std::string& name) {
    ConstantTable constants;
    Dependencies dependencies;
    CodePrinter printer(unit_, constants, dependencies, {});
    printer.print(unit_.get_class(name));
    return printer.text();
  }

  Unit unit_{std::make_shared<const SchemaTable>()};
  std::vector<std::string> asked_;
};

constexpr char kModule[] =
    "class M(Module):\n"
    "  __parameters__ = [\"weight\", ]\n"
    "  __buffers__ = []\n"
    "  weight : Tensor\n"
    "  training : bool\n"
    "  __annotations__[\"0\"] = __torch__.a.N\n"
    "  scale : Final[float] = 0.5\n"
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor,\n"
    "    n: int=2) -> Tensor:\n"
    "    _0 = getattr(self, \"0\")\n"
    "    weight = self.weight\n"
    "    y = annotate(Optional[Tensor], None)\n"
    "    for _1 in range(n):\n"
    "      _2 = (_0).forward(torch.mul(x, weight), )\n"
    "    if torch.__is__(y, None):\n"
    "      _3 = __torch__.a.f(x, CONSTANTS.c0, )\n"
    "    else:\n"
    "      _3 = uninitialized(Tensor)\n"
    "    return _3\n";
constexpr char kOther[] =
    "class N(Module):\n"
    "  __parameters__ = []\n"
    "  __buffers__ = []\n"
    "  training : bool\n"
    "  def forward(self: __torch__.a.N,\n"
    "    x: Tensor) -> Tensor:\n"
    "    return torch.add(x, 1, alpha=2)\n"
    "def f(x: Tensor,\n"
    "    name: str) -> Tensor:\n"
    "  return x\n";

TEST_F(CompileArchive, ReadsWhatIsAskedFor) {
  use({{"__torch__", kModule}, {"__torch__.a", kOther}}, {IValue("\xc3\xa9")});
  const Class& module = unit_.get_class("__torch__.M");
  ASSERT_EQ(module.attributes.size(), 3U);
  EXPECT_TRUE(module.attributes[0].is_parameter);
  EXPECT_EQ(module.attributes[2].name, "0");
  EXPECT_EQ(module.constants.at(0).value.as_float(), 0.5);
  const auto* forward = module.find_method("forward");
  ASSERT_NE(forward, nullptr);
  EXPECT_FALSE((*forward)->is_compiled());
  EXPECT_EQ((*forward)->signature().arguments.at(2).default_value->as_int(), 2);
  EXPECT_FALSE((*forward)->is_compiled());
  (*forward)->graph();
  // A text is read once.
  std::sort(asked_.begin(), asked_.end());
  EXPECT_EQ(std::adjacent_find(asked_.begin(), asked_.end()), asked_.end());
}

TEST_F(CompileArchive, LetsClassesAndFunctionsSpeakOfEachOther) {
  use({{"__torch__",
        "class A:\n  b : Optional[__torch__.B]\n  def f(self: __torch__.A) -> int:\n    return 1\n"
        "class B:\n  a : __torch__.A\n  def g(self: __torch__.B) -> int:\n    a = self.a\n    return "
        "(a).f()\n"}});
  EXPECT_NE(unit_.get_class("__torch__.B").methods.at(0)->graph(), nullptr);
  EXPECT_EQ(printed("__torch__.A"),
            "class A:\n  b : Optional[__torch__.B]\n  def f(self: __torch__.A) -> int:\n    return 1\n");
}

TEST_F(CompileArchive, KnowsNativeClassesAndHooks) {
  unit_.set_native_methods([](std::string_view) {
    return std::vector<NativeMethod>{{.name = "bias", .result = "Optional[Tensor]"}};
  });
  use({{"__torch__",
        "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  __forward_hooks__ = [\"h\", ]\n"
        "  p : __torch__.torch.classes.quantized.LinearPackedParamsBase\n"
        "  def forward(self: __torch__.M) -> Optional[Tensor]:\n    p = self.p\n    return (p).bias()\n"
        "  def h(self: __torch__.M,\n    input: Tuple[()],\n    output: Optional[Tensor]) -> "
        "Optional[Tensor]:\n"
        "    return output\n"}});
  const Class& module = unit_.get_class("__torch__.M");
  EXPECT_EQ(module.methods.size(), 1U);
  EXPECT_EQ(module.forward_hooks.size(), 1U);
  EXPECT_EQ(module.methods[0]->graph()->outputs()[0]->type(), Type::optional(TypeKind::kTensor));
}

TEST_F(CompileArchive, RefusesWhatIsWrong) {
  use({{"__torch__",
        "class M(Strange):\n  x : int\nclass N(Module):\n  x : NoSuchType\ndef f() -> int:\n"
        "  return CONSTANTS.c7\ndef g() -> int:\n  return torch.nothing_like_it(1)\n"},
       {"__torch__.broken", "class\n"}});
  EXPECT_THROW(unit_.find_class("__torch__.M"), Error);
  EXPECT_THROW(unit_.find_class("__torch__.N"), Error);
  EXPECT_THROW(unit_.get_function("__torch__.f").graph(), Error);
  EXPECT_THROW(unit_.get_function("__torch__.g").graph(), Error);
  EXPECT_THROW(unit_.find_class("__torch__.broken.X"), Error);
  EXPECT_EQ(unit_.find_class("__torch__.nowhere.X"), nullptr);
}

}  // namespace
}  // namespace flambeau::script::compiler
