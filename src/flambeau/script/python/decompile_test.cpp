#include "flambeau/script/python/decompile.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/script/compiler/archive_code.h"
#include "flambeau/script/python/lines.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

class Decompile : public testing::Test {
 protected:
  void use(const std::string& text) {
    compiler::ArchiveCode code;
    code.find_text = [text](std::string_view qualifier) -> std::shared_ptr<const Source> {
      if (qualifier != "__torch__") return nullptr;
      return std::make_shared<Source>(text, "code/__torch__.py");
    };
    code.version = 10;
    compiler::use_archive_code(unit_, std::move(code));
  }
  IValue object(const std::string& name, std::vector<IValue> slots = {}) {
    IValue made = IValue::object(unit_.find_class("__torch__." + name));
    made.as_object().slots = std::move(slots);
    return made;
  }
  // The class of the module alone.
  std::string module_text(const IValue& module) {
    const std::string text = decompile(unit_, module, nullptr);
    return text.substr(text.rfind("\n\nclass M(") + 2);
  }
  // What forward does with x: Tensor, of a module without attributes.
  std::string body(const std::string& lines, const std::string& arguments = "x: Tensor",
                   const std::string& result = "Tensor") {
    use("class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  def forward(self: __torch__.M,\n   "
        " " +
        arguments + ") -> " + result + ":\n" + lines);
    const std::string text = module_text(object("M"));
    return text.substr(text.find("\n\n    def forward") + 6);
  }
  Unit unit_{std::make_shared<const SchemaTable>()};
};

TEST_F(Decompile, OperatorsAreSigns) {
  EXPECT_EQ(body("    _0 = torch.mul(torch.add(x, 1), torch.neg(y))\n"
                 "    _1 = torch.matmul(_0, torch.sub(x, torch.sub(y, x)))\n"
                 "    return torch.add(_1, y, alpha=2)\n",
                 "x: Tensor,\n    y: Tensor"),
            "def forward(self, x: Tensor, y: Tensor) -> Tensor:\n"
            "        return torch.ops.aten.add.Tensor((x + 1) * -y @ (x - (y - x)), y, alpha=2)\n");
}

TEST_F(Decompile, SlicesAreSubscripts) {
  EXPECT_EQ(body("    _0 = torch.select(torch.slice(x, 0, 1, -1), 1, 0)\n"
                 "    _1 = torch.index(_0, annotate(List[Optional[Tensor]], [None, y]))\n"
                 "    return torch.slice(_1, 0, None, None, 2)\n",
                 "x: Tensor,\n    y: Tensor"),
            "def forward(self, x: Tensor, y: Tensor) -> Tensor:\n"
            "        return x[1:-1, 0][:, y][::2]\n");
}

TEST_F(Decompile, DataTypesAreObjects) {
  EXPECT_EQ(body("    if torch.eq(ops.prim.dtype(x), 6):\n"
                 "      y = torch.zeros([2], dtype=7)\n"
                 "    else:\n"
                 "      y = torch.to(x, ops.prim.dtype(x))\n"
                 "    return y\n"),
            "def forward(self, x: Tensor) -> Tensor:\n"
            "        return torch.zeros([2], dtype=torch.float64) if x.dtype == torch.float32 else "
            "x.to(x.dtype)\n");
}

TEST_F(Decompile, BranchesAssignWhereTheyCompute) {
  EXPECT_EQ(body("    if torch.gt(n, 0):\n"
                 "      y, m = torch.relu(x), 1\n"
                 "    else:\n"
                 "      if torch.lt(n, -5):\n"
                 "        y0, m0 = x, 2\n"
                 "      else:\n"
                 "        y0, m0 = torch.sigmoid(x), n\n"
                 "      y, m = y0, m0\n"
                 "    return torch.mul(y, m)\n",
                 "x: Tensor,\n    n: int"),
            "def forward(self, x: Tensor, n: int) -> Tensor:\n"
            "        if n > 0:\n"
            "            y = torch.relu(x)\n"
            "            m = 1\n"
            "        elif n < -5:\n"
            "            y = x\n"
            "            m = 2\n"
            "        else:\n"
            "            y = torch.sigmoid(x)\n"
            "            m = n\n"
            "        return y * m\n");
}

TEST_F(Decompile, LoopsChangeTheirVariables) {
  EXPECT_EQ(body("    y = x\n"
                 "    for i in range(3):\n"
                 "      y0 = torch.mul(y, i)\n"
                 "      if torch.eq(i, 2):\n"
                 "        y1 = torch.neg(y0)\n"
                 "      else:\n"
                 "        y1 = y0\n"
                 "      y = y1\n"
                 "    return y\n"),
            "def forward(self, x: Tensor) -> Tensor:\n"
            "        for i in range(3):\n"
            "            y0 = x * i\n"
            "            x = -y0 if i == 2 else y0\n"
            "        return x\n");
}

TEST_F(Decompile, RaiseIsAssert) {
  EXPECT_EQ(body("    if torch.gt(torch.dim(x), 1):\n"
                 "      pass\n"
                 "    else:\n"
                 "      ops.prim.RaiseException(\"AssertionError: too flat\")\n"
                 "    return x\n"),
            "def forward(self, x: Tensor) -> Tensor:\n"
            "        assert x.dim() > 1, \"too flat\"\n"
            "        return x\n");
}

TEST_F(Decompile, NumbersAreDividedAsScriptsDoIt) {
  const std::string text = body("    return torch.div(torch.div(n, 2), m)\n", "n: int,\n    m: int", "float");
  EXPECT_EQ(text,
            "def forward(self, n: int, m: int) -> float:\n"
            "        return divide(n / 2, m)\n");
  EXPECT_NE(decompile(unit_, object("M"), nullptr).find("def divide(a, b):"), std::string::npos);
}

TEST_F(Decompile, ListsAndDicts) {
  EXPECT_EQ(body("    a = annotate(List[int], [])\n"
                 "    _0 = torch.append(a, torch.len(d))\n"
                 "    torch._set_item(d, \"k\", 3)\n"
                 "    if torch.__contains__(d, \"k\"):\n"
                 "      _1 = torch.append(a, d[\"k\"])\n"
                 "    else:\n"
                 "      pass\n"
                 "    return a\n",
                 "d: Dict[str, int]", "List[int]"),
            "def forward(self, d: Dict[str, int]) -> List[int]:\n"
            "        a = []\n"
            "        a.append(len(d))\n"
            "        d[\"k\"] = 3\n"
            "        if \"k\" in d:\n"
            "            a.append(d[\"k\"])\n"
            "        return a\n");
}

TEST_F(Decompile, ModulesSayWhatTheyHold) {
  use("class M(Module):\n"
      "  __parameters__ = [\"weight\", ]\n"
      "  __buffers__ = [\"seen\", ]\n"
      "  weight : Tensor\n"
      "  seen : Tensor\n"
      "  training : bool\n"
      "  names : List[str]\n"
      "  sizes : Final[Tuple[int, int]] = (1, 2)\n"
      "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
      "    weight = self.weight\n"
      "    return torch.mul(x, weight)\n");
  Tensor weight = Tensor::zeros(DType::kFloat32, Dims{2, 3});
  weight.set_requires_grad(true);
  const IValue names = IValue::list(TypeKind::kString, {"a\n", "\"b\""});
  EXPECT_EQ(module_text(object("M", {weight, Tensor::zeros(DType::kInt64, Dims{}), false, names})),
            "class M(nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.sizes = (1, 2)\n"
            "        self.register_parameter(\"weight\", nn.Parameter(torch.empty([2, 3])))\n"
            "        self.register_buffer(\"seen\", torch.empty([], dtype=torch.int64))\n"
            "        self.names = [\"a\\n\", \"\\\"b\\\"\"]\n"
            "        self.eval()\n"
            "\n"
            "    def forward(self, x: Tensor) -> Tensor:\n"
            "        return x * self.weight\n");
}

TEST_F(Decompile, SaysWhatPythonCannot) {
  use("class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  inside : List[Any]\n");
  const IValue inside = IValue::list(TypeKind::kAny, {object("M", {IValue::list(TypeKind::kAny)})});
  try {
    decompile(unit_, object("M", {inside}), nullptr);
    FAIL() << "it was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(error.message().find("is a module inside of a list"), std::string::npos) << error.message();
  }
}

TEST(PythonLines, LongOnesGoOnInTheNext) {
  const std::string items(90, 'a');
  EXPECT_EQ(python_line("x = f(" + items + ", " + items + ")", 1),
            "    x = f(\n        " + items + ",\n        " + items + "\n    )\n");
  EXPECT_EQ(python_line("x = f(\"" + std::string(130, '(') + "\")", 0),
            "x = f(\n    \"" + std::string(130, '(') + "\"\n)\n");
}

}  // namespace
}  // namespace flambeau::script
