// PyTorch's database of what its export takes (torch._export.db.examples), one module for each of its cases
// and with its names, written as one writes them in C++.
#include "cases.h"
#include "flambeau/error.h"

namespace flambeau::nn_cases {
namespace {

class AssumeConstantResult : public nn::Layer<AssumeConstantResult> {
 public:
  static constexpr std::array kArguments{"x", "y"};
  Tensor forward(const Tensor& x, const Tensor& y) {
    const SymInt count = nn::item(nn::to(y, DType::kInt32));
    return nn::at(x, {nn::Slice({}, count)});
  }
};

class AutogradFunction : public nn::Layer<AutogradFunction> {
 public:
  Tensor forward(const Tensor& x) { return nn::clone(x); }
};

class ClassMethod : public nn::Layer<ClassMethod> {
 public:
  ClassMethod() : linear(4, 2) { add_module("linear", linear); }
  static Tensor method(const Tensor& x) { return x + 1; }
  Tensor forward(const Tensor& x) {
    const Tensor y = linear(x);
    const Tensor a = method(y);
    const Tensor b = ClassMethod::method(y);
    const Tensor product = a * b;
    return product * method(y);
  }
  nn::Linear linear;
};

class CondBranchClassMethod : public nn::Layer<CondBranchClassMethod> {
 public:
  class Inner : public nn::Layer<Inner> {
   public:
    Tensor forward(const Tensor& x) { return foo(x); }
    static Tensor foo(const Tensor& x) { return nn::cos(x); }
  };
  CondBranchClassMethod() { add_module("subm", inner); }
  static Tensor bar(const Tensor& x) { return nn::sin(x); }
  Tensor forward(const Tensor& x) {
    return nn::cond(nn::le(nn::size(x, 0), 2), [this](const Tensor& a) { return inner.forward(a); }, bar, x);
  }
  Inner inner;
};

class CondBranchNestedFunction : public nn::Layer<CondBranchNestedFunction> {
 public:
  Tensor forward(const Tensor& x) {
    const auto if_true = [](const Tensor& a) {
      const auto inner = [&](const Tensor& y) { return a + y; };
      return inner(a);
    };
    const auto if_false = [](const Tensor& a) {
      const auto inner = [&](const Tensor& y) { return a - y; };
      return inner(a);
    };
    return nn::cond(nn::lt(nn::size(x, 0), 10), if_true, if_false, x);
  }
};

class CondBranchNonlocalVariables : public nn::Layer<CondBranchNonlocalVariables> {
 public:
  Tensor forward(const Tensor& x) {
    const Tensor variable = x + 100;
    const Tensor number = nn::tensor(3.14);
    return nn::cond(
        nn::gt(nn::size(x, 0), 5),
        [](const Tensor& a, const Tensor& b, const Tensor& c) { return a + b + c; },
        [](const Tensor& a, const Tensor& b, const Tensor& c) { return a - b - c; }, x, variable, number);
  }
};

class CondClosedOverVariable : public nn::Layer<CondClosedOverVariable> {
 public:
  static constexpr std::array kArguments{"pred", "x"};
  Tensor forward(const Tensor& pred, const Tensor& x) {
    return nn::cond(pred, [&](const Tensor&) { return x * 2; }, [&](const Tensor&) { return x - 2; }, x + 1);
  }
};

class CondOperands : public nn::Layer<CondOperands> {
 public:
  static constexpr std::array kArguments{"x", "y"};
  Tensor forward(const Tensor& x, const Tensor& y) {
    return nn::cond(
        nn::gt(nn::size(x, 0), 2), [](const Tensor& a, const Tensor& b) { return a + b; },
        [](const Tensor& a, const Tensor& b) { return a - b; }, x, y);
  }
};

class CondPredicate : public nn::Layer<CondPredicate> {
 public:
  Tensor forward(const Tensor& x) {
    const bool is_deep = nn::dim(x) > 2 && nn::size(x, 2) > 10;
    return nn::cond(
        is_deep, [](const Tensor& a) { return nn::cos(a); }, [](const Tensor& a) { return nn::sin(a); }, x);
  }
};

class ConstrainAsSize : public nn::Layer<ConstrainAsSize> {
 public:
  Tensor forward(const Tensor& x) {
    const SymInt a = nn::item(x);
    nn::check(nn::ge(a, 0));
    nn::check(nn::le(a, 5));
    return nn::zeros({a, 5});
  }
};

class ConstrainAsValue : public nn::Layer<ConstrainAsValue> {
 public:
  static constexpr std::array kArguments{"x", "y"};
  Tensor forward(const Tensor& x, const Tensor& y) {
    const SymInt a = nn::item(x);
    nn::check(nn::ge(a, 0));
    nn::check(nn::le(a, 5));
    return a < 6 ? nn::sin(y) : nn::cos(y);
  }
};

class Decorator : public nn::Layer<Decorator> {
 public:
  static constexpr std::array kArguments{"x", "y"};
  template <typename Function>
  static Tensor decorated(const Function& function) {
    return function() + 1;
  }
  Tensor forward(const Tensor& x, const Tensor& y) {
    return decorated([&] { return x + y; });
  }
};

class Dictionary : public nn::Layer<Dictionary> {
 public:
  static constexpr std::array kArguments{"x", "y"};
  std::map<std::string, Tensor> forward(const Tensor& x, const Tensor& y) {
    std::map<std::string, Tensor> elements;
    elements["x2"] = x * x;
    return {{"y", y * elements["x2"]}};
  }
};

class DynamicShapeAssert : public nn::Layer<DynamicShapeAssert> {
 public:
  Tensor forward(const Tensor& x) {
    nn::check(nn::gt(nn::size(x, 0), 2), "the first size is not greater than 2");
    nn::check(nn::gt(nn::size(x, 0), 1));
    return x;
  }
};

class DynamicShapeConstructor : public nn::Layer<DynamicShapeConstructor> {
 public:
  Tensor forward(const Tensor& x) { return nn::zeros({nn::size(x, 0) * 2}); }
};

class DynamicShapeIfGuard : public nn::Layer<DynamicShapeIfGuard> {
 public:
  Tensor forward(const Tensor& x) { return nn::size(x, 0) == 3 ? nn::cos(x) : nn::sin(x); }
};

class DynamicShapeMap : public nn::Layer<DynamicShapeMap> {
 public:
  static constexpr std::array kArguments{"xs", "y"};
  Tensor forward(const Tensor& xs, const Tensor& y) {
    return nn::map([](const Tensor& x, const Tensor& b) { return x + b; }, xs, y);
  }
};

class DynamicShapeRound : public nn::Layer<DynamicShapeRound> {
 public:
  Tensor forward(const Tensor& x) { return nn::at(x, {nn::Slice({}, round_div(nn::size(x, 0), 2))}); }
};

class DynamicShapeSlicing : public nn::Layer<DynamicShapeSlicing> {
 public:
  Tensor forward(const Tensor& x) {
    return nn::at(x, {nn::Slice({}, nn::size(x, 0) - 2), nn::Slice(nn::size(x, 1) - 1, {}, 2)});
  }
};

class DynamicShapeView : public nn::Layer<DynamicShapeView> {
 public:
  Tensor forward(const Tensor& x) {
    const Tensor y = nn::view(x, {nn::size(x, 0), 2, 5});
    return nn::permute(y, {0, 2, 1});
  }
};

class FnWithKwargs : public nn::Layer<FnWithKwargs> {
 public:
  static constexpr std::array kArguments{"pos0", "tuple0", "*myargs", "mykw0", "**mykwargs"};
  Tensor forward(const Tensor& pos0, const std::pair<Tensor, Tensor>& tuple0,
                 const std::vector<Tensor>& myargs, const Tensor& mykw0,
                 const std::map<std::string, Tensor>& mykwargs) {
    Tensor out = pos0 * tuple0.first;
    out = out * tuple0.second;
    for (const Tensor& argument : myargs) out = out * argument;
    out = out * mykw0;
    out = out * mykwargs.at("input0");
    return out * mykwargs.at("input1");
  }
};

class ListContains : public nn::Layer<ListContains> {
 public:
  Tensor forward(const Tensor& x) {
    const SymInt last = nn::size(x, -1);
    const SymInt first = nn::size(x, 0);
    const bool fits = (last == 6 || last == 2) && !(first == 4 || first == 5 || first == 6);
    if (!fits) throw Error(ErrorCode::kInvalidArgument, "the sizes are not in the lists");
    return x + x;
  }
};

class ListUnpack : public nn::Layer<ListUnpack> {
 public:
  static constexpr std::array kArguments{"args"};
  Tensor forward(const std::vector<Tensor>& args) { return args.at(0) + args.at(1); }
};

class ModelAttrMutation : public nn::Layer<ModelAttrMutation> {
 public:
  ModelAttrMutation() : list{nn::randn({3, 2}), nn::randn({3, 2})} {}
  Tensor forward(const Tensor& x) {
    const Tensor first = nn::zeros({3, 2});
    const Tensor second = nn::zeros({3, 2});
    list = {first, second};
    const Tensor sum = nn::sum(x);
    return sum + nn::sum(list[0]);
  }
  std::vector<Tensor> list;
};

class NestedFunction : public nn::Layer<NestedFunction> {
 public:
  static constexpr std::array kArguments{"a", "b"};
  Tensor forward(const Tensor& a, const Tensor& b) {
    Tensor x = a + b;
    const Tensor z = a - b;
    const auto closure = [&](const Tensor&) {
      x = nn::add_(x, 1);
      return x * x + z;
    };
    return closure(x);
  }
};

class NullContextManager : public nn::Layer<NullContextManager> {
 public:
  Tensor forward(const Tensor& x) {
    const Tensor a = nn::sin(x);
    return a + nn::cos(x);
  }
};

class OptionalInput : public nn::Layer<OptionalInput> {
 public:
  OptionalInput() : fallback(nn::ones({2, 3})) {}
  static constexpr std::array kArguments{"x", "y"};
  Tensor forward(const Tensor& x, const std::optional<Tensor>& y) { return x + y.value_or(fallback); }
  Tensor fallback;
};

class PytreeFlatten : public nn::Layer<PytreeFlatten> {
 public:
  static constexpr std::array kArguments{"x"};
  Tensor forward(const std::tuple<std::map<int64_t, Tensor>>& x) {
    const nn::Tree tree = nn::to_tree(x);
    return tree.leaves.at(0).tensor() + 1;
  }
};

class ScalarOutput : public nn::Layer<ScalarOutput> {
 public:
  SymInt forward(const Tensor& x) { return nn::size(x, 1) + 1; }
};

class SpecializedAttribute : public nn::Layer<SpecializedAttribute> {
 public:
  Tensor forward(const Tensor& x) {
    if (animal != "moo") throw Error(ErrorCode::kInvalidArgument, "bad");
    return x * x + number;
  }
  std::string animal = "moo";
  int64_t number = 4;
};

class StaticForLoop : public nn::Layer<StaticForLoop> {
 public:
  std::vector<Tensor> forward(const Tensor& x) {
    std::vector<Tensor> results;
    for (int i = 0; i < 10; ++i) results.push_back(i + x);
    return results;
  }
};

class StaticIf : public nn::Layer<StaticIf> {
 public:
  Tensor forward(const Tensor& x) { return nn::dim(x) == 3 ? x + nn::ones({1, 1, 1}) : x; }
};

class TensorSetattr : public nn::Layer<TensorSetattr> {
 public:
  static constexpr std::array kArguments{"x", "attr"};
  Tensor forward(const Tensor& x, const std::string& attr) {
    std::map<std::string, Tensor> attributes;
    attributes[attr] = nn::randn({3, 2});
    return x + 4;
  }
};

class TypeReflectionMethod : public nn::Layer<TypeReflectionMethod> {
 public:
  struct A {
    static Tensor func(const Tensor& x) { return 1 + x; }
  };
  Tensor forward(const Tensor& x) {
    const A a;
    return decltype(a)::func(x);
  }
};

class TorchSymMin : public nn::Layer<TorchSymMin> {
 public:
  Tensor forward(const Tensor& x) { return nn::sum(x) + min(nn::size(x, 0), 100); }
};

class UserInputMutation : public nn::Layer<UserInputMutation> {
 public:
  Tensor forward(const Tensor& x) {
    nn::mul_(x, 2);
    return nn::cos(x);
  }
};

template <typename Module>
Case one(std::string name) {
  return {std::move(name), [] { return std::make_shared<Module>(); }};
}

}  // namespace

std::span<const Case> exportdb_cases() {
  static const std::vector<Case> kCases = {
      one<AssumeConstantResult>("assume_constant_result"),
      one<AutogradFunction>("autograd_function"),
      one<ClassMethod>("class_method"),
      one<CondBranchClassMethod>("cond_branch_class_method"),
      one<CondBranchNestedFunction>("cond_branch_nested_function"),
      one<CondBranchNonlocalVariables>("cond_branch_nonlocal_variables"),
      one<CondClosedOverVariable>("cond_closed_over_variable"),
      one<CondOperands>("cond_operands"),
      one<CondPredicate>("cond_predicate"),
      one<ConstrainAsSize>("constrain_as_size_example"),
      one<ConstrainAsValue>("constrain_as_value_example"),
      one<Decorator>("decorator"),
      one<Dictionary>("dictionary"),
      one<DynamicShapeAssert>("dynamic_shape_assert"),
      one<DynamicShapeConstructor>("dynamic_shape_constructor"),
      one<DynamicShapeIfGuard>("dynamic_shape_if_guard"),
      one<DynamicShapeMap>("dynamic_shape_map"),
      one<DynamicShapeRound>("dynamic_shape_round"),
      one<DynamicShapeSlicing>("dynamic_shape_slicing"),
      one<DynamicShapeView>("dynamic_shape_view"),
      one<FnWithKwargs>("fn_with_kwargs"),
      one<ListContains>("list_contains"),
      one<ListUnpack>("list_unpack"),
      one<ModelAttrMutation>("model_attr_mutation"),
      one<NestedFunction>("nested_function"),
      one<NullContextManager>("null_context_manager"),
      one<OptionalInput>("optional_input"),
      one<PytreeFlatten>("pytree_flatten"),
      one<ScalarOutput>("scalar_output"),
      one<SpecializedAttribute>("specialized_attribute"),
      one<StaticForLoop>("static_for_loop"),
      one<StaticIf>("static_if"),
      one<TensorSetattr>("tensor_setattr"),
      one<TorchSymMin>("unsupported_operator"),
      one<TypeReflectionMethod>("type_reflection_method"),
      one<UserInputMutation>("user_input_mutation"),
  };
  return kCases;
}

}  // namespace flambeau::nn_cases
