// What every operator rests on: the schema check, variants, promotion, strides, the interceptor, symbols.
#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/dense/test_tensors.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/facts.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/value/schema_table.h"
#include "support/message_of.h"

namespace flambeau::ops {
namespace {

bool takes(const ParameterType& parameter, const Type& type) {
  const bool is_optional = type.is(TypeKind::kOptional);
  const Type& plain = type.without_optional();
  if (parameter.kind == Parameter::kValue) return true;
  if (is_optional != parameter.is_optional) return false;
  const auto element_is = [&](TypeKind a, TypeKind b) {
    return plain.is(TypeKind::kList) &&
           (plain.element().without_optional().is(a) || plain.element().without_optional().is(b));
  };
  switch (parameter.kind) {
    case Parameter::kTensor:
    case Parameter::kOptionalTensor:
      return plain.is(TypeKind::kTensor);
    case Parameter::kTensors:
      return element_is(TypeKind::kTensor, TypeKind::kTensor);
    case Parameter::kInt:
      return plain.is(TypeKind::kInt) || plain.is(TypeKind::kSymInt);
    case Parameter::kFloat:
      return plain.is(TypeKind::kFloat) || plain.is(TypeKind::kSymFloat);
    case Parameter::kBool:
      return plain.is(TypeKind::kBool) || plain.is(TypeKind::kSymBool);
    case Parameter::kNumber:
      return plain.is(TypeKind::kNumber);
    case Parameter::kString:
      return plain.is(TypeKind::kString);
    case Parameter::kInts:
      return element_is(TypeKind::kInt, TypeKind::kSymInt);
    case Parameter::kFloats:
      return element_is(TypeKind::kFloat, TypeKind::kFloat);
    case Parameter::kBools:
      return element_is(TypeKind::kBool, TypeKind::kBool);
    case Parameter::kDType:
      return plain.is(TypeKind::kScalarType);
    case Parameter::kDevice:
      return plain.is(TypeKind::kDevice);
    case Parameter::kLayout:
      return plain.is(TypeKind::kLayout);
    case Parameter::kMemoryFormat:
      return plain.is(TypeKind::kMemoryFormat);
    case Parameter::kValue:
      return true;
  }
  return false;
}

TEST(Operators, SchemasArePyTorchs) {
  const Library library;
  for (const std::string& name : library.names()) {
    const Operator& op = library.get(name);
    const OperatorEntry* const entry = library.schemas().find(op.schema.name);
    if (entry == nullptr) {
      if (name.starts_with("transformers::")) continue;  // another package's
      ADD_FAILURE() << name << " is no operator of PyTorch's";
      continue;
    }
    EXPECT_EQ(to_string(op.schema), to_string(entry->schema));
  }
}

TEST(Operators, SignaturesFitTheirSchemas) {
  const Library library;
  for (const std::string& name : library.names()) {
    const Operator& op = library.get(name);
    for (const auto* const parameters :
         {&op.parameters, &op.shape_parameters, &op.decomposition_parameters}) {
      if (parameters->empty() && parameters == &op.shape_parameters && op.shape == nullptr) continue;
      if (parameters == &op.parameters && (op.kind == Kind::kView || op.kind == Kind::kDecomposition))
        continue;
      if (parameters == &op.decomposition_parameters && op.decomposition == nullptr) continue;
      ASSERT_EQ(parameters->size(), op.schema.arguments.size()) << name;
      for (size_t i = 0; i < parameters->size(); ++i) {
        EXPECT_TRUE(takes((*parameters)[i], op.schema.arguments[i].type))
            << name << ": the C++ parameter of '" << op.schema.arguments[i].name << "'";
      }
    }
    for (const std::span<const ParameterType> parameters : op.facts().parameters) {
      ASSERT_LE(parameters.size(), op.schema.arguments.size()) << name;
      for (size_t i = 0; i < parameters.size(); ++i) {
        EXPECT_TRUE(takes(parameters[i], op.schema.arguments[i].type))
            << name << ": a fact's parameter of '" << op.schema.arguments[i].name << "'";
      }
    }
    EXPECT_TRUE(op.kind != Kind::kKernel || (op.shape != nullptr && op.symbolic_shape != nullptr)) << name;
  }
}

TEST(Operators, AreTakenApartInOneWay) {
  const Library library;
  for (const std::string& name : library.names()) {
    const Operator& op = library.get(name);
    // Another name, or parts of its own, not both; a level says that there are any.
    EXPECT_TRUE(op.level == Level::kNever || op.alias.empty() == (op.decomposition != nullptr)) << name;
    EXPECT_TRUE(op.kind != Kind::kDecomposition || op.decomposition != nullptr) << name;
    if (op.alias.empty()) continue;
    const Schema& same = library.get(op.alias).schema;
    ASSERT_EQ(same.arguments.size(), op.schema.arguments.size()) << name;
    for (size_t i = 0; i < same.arguments.size(); ++i)
      EXPECT_EQ(same.arguments[i].type, op.schema.arguments[i].type) << name;
  }
}

TEST(Operators, VariantsComeFromTheFunctionalForm) {
  Fixture f;
  const Tensor a = floats({2, 2}, {1, 2, 3, 4});
  const Tensor b = floats({2}, {10, 20});
  EXPECT_EQ(values_of(call(f.context, "aten::add.Tensor", a, b)), (std::vector<float>{11, 22, 13, 24}));
  EXPECT_EQ(values_of(call_with(f.context, "aten::add.Tensor", {a, 1.5}, {{"alpha", 2}})),
            (std::vector<float>{4, 5, 6, 7}));
  const Tensor out = floats({2, 2}, {0, 0, 0, 0});
  call_with(f.context, "aten::add.out", {a, b}, {{"out", out}});
  EXPECT_EQ(values_of(out), (std::vector<float>{11, 22, 13, 24}));
  call(f.context, "aten::add_.Tensor", a, b);
  EXPECT_EQ(values_of(a), (std::vector<float>{11, 22, 13, 24}));
}

TEST(Operators, ErrorsNameTheOperatorAndTheArgument) {
  Fixture f;
  const auto text_of = [&](auto&& body) {
    try {
      body();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const Tensor a = floats({2}, {1, 2});
  EXPECT_EQ(text_of([&] { call(f.context, "aten::add.Tensor", a, floats({3}, {1, 2, 3})); }),
            "operator 'aten::add.Tensor': The size of tensor a (2) must match the size of tensor b (3) at "
            "non-singleton "
            "dimension 0");
  EXPECT_EQ(text_of([&] { call(f.context, "aten::add.Tensor", a); }),
            "aten::add.Tensor: argument 'other' is missing (its schema is aten::add.Tensor(Tensor self, "
            "Tensor other, *, "
            "Scalar alpha=1) -> Tensor)");
  EXPECT_EQ(text_of([&] { call(f.context, "aten::add.Tensor", a, "x"); }),
            "aten::add.Tensor: argument 'other' takes Tensor, not str 'x' (its schema is "
            "aten::add.Tensor(Tensor self, "
            "Tensor other, *, Scalar alpha=1) -> Tensor)");
  EXPECT_EQ(
      text_of([&] { call(f.context, "my::own", a); }),
      "nobody knows the operator my::own (supply it: Library::add in C++, or a library of operators with "
      "--operators FILE.so)");
}

TEST(Operators, AnInterceptorSeesEveryCall) {
  struct Recorder final : Interceptor {
    std::vector<std::string> names;
    std::vector<Value> call(Context& context, const Operator& op, std::span<const Value> arguments) override {
      names.push_back(op.name());
      return execute(context, op, arguments);
    }
  };
  Fixture f;
  Recorder recorder;
  f.context.interceptor = &recorder;
  const Tensor a = floats({2}, {1, 2});
  call(f.context, "aten::add.Tensor", a, a);
  call(f.context, "aten::clone", a);
  EXPECT_EQ(recorder.names, (std::vector<std::string>{"aten::add.Tensor", "aten::clone"}));
}

TEST(Operators, ShapeRulesTakeSymbols) {
  struct Answers final : symbolic::Decider {
    std::vector<std::string> asked;
    bool decide(const symbolic::Expr& condition) override {
      asked.emplace_back(condition.name());
      return condition.kind() == symbolic::Kind::kTrue;
    }
  } decider;
  const SymInt s0(symbolic::symbol("s0"), decider);
  const Library library;
  const Operator& add = library.get("aten::add.Tensor");
  const Tensor x = Tensor::symbolic(DType::kFloat32, {{s0, 4}, {4, 1}, 0});
  const std::vector<Value> arguments = bind_arguments(add.schema, std::vector<Value>{x, 2});
  const Infos<SymInt> infos = add.symbolic_shape(arguments);
  ASSERT_EQ(infos.size(), 1U);
  EXPECT_EQ(infos[0].sizes[0].expr(), s0.expr());
  EXPECT_EQ(infos[0].sizes[1].literal(), 4);
}

TEST(Operators, AUsersOperatorIsOneOfThem) {
  Fixture f;
  f.library.add("my::twice(Tensor x, *, int times=2) -> Tensor",
                {.function =
                     [](Context& context, std::span<const Value> arguments) {
                       Tensor sum = arguments[0].tensor();
                       for (int64_t i = 1; i < arguments[1].get<int64_t>(); ++i) {
                         sum = call(context, "aten::add.Tensor", sum, arguments[0]);
                       }
                       return std::vector<Value>{sum};
                     },
                 .shape = {}});
  EXPECT_EQ(values_of(call(f.context, "my::twice", floats({2}, {1, 2}))), (std::vector<float>{2, 4}));
  EXPECT_THROW(f.library.add("aten::add.Tensor(Tensor x) -> Tensor", {}), Error);
}

TEST(Operators, ListsOfTensorsHaveNoneOnlyWhereTheSchemaSaysSo) {
  Fixture f;
  const Tensor a = floats({2}, {1, 2});
  const std::string refused = message_of([&] { call(f.context, "aten::stack", TensorList{a, Tensor()}); });
  EXPECT_EQ(refused.find("aten::stack: argument 'tensors' takes Tensor[], not Tensor[] "), 0U) << refused;
  EXPECT_THROW(call(f.context, "aten::meshgrid", ValueList{Value()}), Error);
  const Tensor square = floats({2, 2}, {1, 2, 3, 4});
  const Tensor first = call_with(f.context, "aten::zeros", {Dims{1}}, {{"dtype", DType::kInt64}});
  EXPECT_EQ(values_of(call(f.context, "aten::index.Tensor", square, TensorList{Tensor(), first})),
            (std::vector<float>{1, 3}));
}

TEST(Operators, NoViewLeavesItsMemory) {
  Fixture f;
  const Tensor a = floats({2, 2}, {1, 2, 3, 4});
  Info<Size> info = info_of(a);
  info.offset = 1;
  EXPECT_EQ(message_of([&] { viewed(a, info); }), "a view of float32[2, 2] leaves its memory");
}

TEST(Operators, BudgetsEndARun) {
  Fixture f;
  f.context.most_steps = 2;
  const Tensor a = floats({2}, {1, 2});
  call(f.context, "aten::clone", a);
  call(f.context, "aten::clone", a);
  EXPECT_THROW(call(f.context, "aten::clone", a), Error);
}

TEST(Operators, NameTypesOfCPlusPlusAsPyTorchDoes) {
  Fixture f;
  const Tensor integers = call_with(f.context, "aten::zeros", {Dims{1, 1}}, {{"dtype", DType::kInt64}});
  EXPECT_EQ(message_of([&] { call(f.context, "aten::mm", floats({1, 1}, {1}), integers); }),
            "operator 'aten::mm': expected m1 and m2 to have the same dtype, but got: float != long int");
}

}  // namespace
}  // namespace flambeau::ops
