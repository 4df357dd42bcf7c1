// What a node takes or gives: one value, a list of them, or a constant. The kinds are those of the file
// format.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "flambeau/graph/meta.h"
#include "flambeau/graph/value.h"

namespace flambeau::graph {

class Argument;
class Graph;

// A SymInt, SymFloat or SymBool argument: a value of the graph, or a number.
template <typename Number>
struct SymArgument {
  SymArgument() = default;
  explicit SymArgument(Value& value) : ref(value) {}
  explicit SymArgument(Number number) : literal(number) {}
  ValueRef ref;
  Number literal = {};  // when there is no value
};

struct CustomObjArgument {
  ValueRef ref;
  std::string class_fqn;
  Extras extras = {};
};

// A graph given to a higher-order operator.
struct GraphArgument {
  GraphArgument();
  ~GraphArgument();
  GraphArgument(GraphArgument&&) noexcept;
  GraphArgument& operator=(GraphArgument&&) noexcept;
  std::string name;
  std::unique_ptr<Graph> graph;
  Extras extras = {};
};

using ArgumentDict = std::vector<std::pair<std::string, Argument>>;

// In the order of Argument::Data.
enum class ArgumentKind : uint8_t {
  kNone,
  kTensor,
  kTensors,
  kInt,
  kInts,
  kFloat,
  kFloats,
  kString,
  kStrings,
  kSymInt,
  kSymInts,
  kScalarType,
  kMemoryFormat,
  kLayout,
  kDevice,
  kBool,
  kBools,
  kSymBool,
  kSymBools,
  kGraph,
  kOptionalTensors,
  kCustomObj,
  kOperator,
  kSymFloat,
  kSymFloats,
  kOptionalTensor,
  kComplex,
  kNestedTensors,
  kIntLists,
  kStringToArgument,
  kFloatLists,
  kUnknown,  // a kind of a newer schema: its JSON member, untouched
};
inline constexpr size_t kArgumentKinds = 32;
// The name in the file format: "as_tensor".
std::string_view argument_kind_key(ArgumentKind kind);

// One alternative of an argument; the kind makes those different that hold the same type.
template <ArgumentKind kKind, typename T>
struct ArgumentData {
  static constexpr ArgumentKind kind = kKind;
  using Type = T;
  T data{};
};

template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;

class Argument {
 public:
  template <typename T>
  using List = std::vector<T>;

 private:
  template <ArgumentKind kKind, typename T>
  using H = ArgumentData<kKind, T>;
  using K = ArgumentKind;

 public:
  // A tensor that may be absent is a reference that refers to nothing.
  using Data = std::variant<
      H<K::kNone, std::monostate>, H<K::kTensor, ValueRef>, H<K::kTensors, List<ValueRef>>,
      H<K::kInt, int64_t>, H<K::kInts, List<int64_t>>, H<K::kFloat, double>, H<K::kFloats, List<double>>,
      H<K::kString, std::string>, H<K::kStrings, List<std::string>>, H<K::kSymInt, SymArgument<int64_t>>,
      H<K::kSymInts, List<SymArgument<int64_t>>>, H<K::kScalarType, DType>, H<K::kMemoryFormat, MemoryFormat>,
      H<K::kLayout, Layout>, H<K::kDevice, DeviceSpec>, H<K::kBool, bool>, H<K::kBools, List<uint8_t>>,
      H<K::kSymBool, SymArgument<bool>>, H<K::kSymBools, List<SymArgument<bool>>>,
      H<K::kGraph, GraphArgument>, H<K::kOptionalTensors, List<ValueRef>>,
      H<K::kCustomObj, CustomObjArgument>, H<K::kOperator, std::string>, H<K::kSymFloat, SymArgument<double>>,
      H<K::kSymFloats, List<SymArgument<double>>>, H<K::kOptionalTensor, ValueRef>,
      H<K::kComplex, std::complex<double>>, H<K::kNestedTensors, List<List<ValueRef>>>,
      H<K::kIntLists, List<List<int64_t>>>, H<K::kStringToArgument, std::unique_ptr<ArgumentDict>>,
      H<K::kFloatLists, List<List<double>>>, H<K::kUnknown, json::Member>>;

  Argument() = default;  // none
  // Argument::make<ArgumentKind::kInt>(5).
  template <ArgumentKind kKind, typename T>
  static Argument make(T&& data) {
    Argument argument;
    argument.data_.template emplace<static_cast<size_t>(kKind)>().data = std::forward<T>(data);
    return argument;
  }
  // Of a kind that is known when the program runs: what make.operator()<Holder>() gives for its alternative
  // of Data.
  template <typename Make>
  static Argument of_kind(ArgumentKind kind, Make&& make) {
    using Call = Argument (*)(std::remove_reference_t<Make>&);
    static constexpr auto kCalls = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
      return std::array<Call, sizeof...(kIndex)>{
          &call_make<std::variant_alternative_t<kIndex, Data>, std::remove_reference_t<Make>>...};
    }(std::make_index_sequence<std::variant_size_v<Data>>());
    return kCalls[static_cast<size_t>(kind)](make);
  }
  static Argument tensor(Value& value) { return make<ArgumentKind::kTensor>(ValueRef(value)); }
  static Argument sym_int(Value& value) { return make<ArgumentKind::kSymInt>(SymArgument<int64_t>(value)); }

  ArgumentKind kind() const { return static_cast<ArgumentKind>(data_.index()); }
  bool is(ArgumentKind kind) const { return this->kind() == kind; }
  // The kind must be the right one.
  template <ArgumentKind kKind>
  const auto& get() const {
    return std::get<static_cast<size_t>(kKind)>(data_).data;
  }
  template <ArgumentKind kKind>
  auto& get() {
    return std::get<static_cast<size_t>(kKind)>(data_).data;
  }
  const Data& data() const { return data_; }
  Data& data() { return data_; }

  // Calls visit(ref) for each reference in it, in order, also those that refer to nothing (an absent tensor,
  // a number among symbols); not inside a subgraph, which has values of its own.
  template <typename Visit>
  void for_each_ref(Visit&& visit) {
    std::visit([&](auto& holder) { walk(holder.data, visit); }, data_);
  }
  template <typename Visit>
  void for_each_ref(Visit&& visit) const {
    std::visit([&](const auto& holder) { walk(holder.data, visit); }, data_);
  }
  // Calls visit(value) for each value it refers to.
  template <typename Visit>
  void for_each_value(Visit&& visit) const {
    for_each_ref([&](const ValueRef& ref) {
      if (ref) visit(*ref);
    });
  }
  // The one value it refers to; null when it is a constant or a list.
  Value* value() const;
  void attach(ValueRef::Role role, Node* user);

 private:
  template <typename Holder, typename Make>
  static Argument call_make(Make& make) {
    return make.template operator()<Holder>();
  }
  template <typename T>
  static constexpr bool holds_refs() {
    if constexpr (kIsList<T>) {
      return holds_refs<typename T::value_type>();
    } else {
      return std::is_same_v<T, ValueRef> || requires(T item) { item.ref; };
    }
  }
  template <typename T, typename Visit>
  static void walk(T& data, Visit& visit) {
    using Plain = std::remove_const_t<T>;
    if constexpr (std::is_same_v<Plain, ValueRef>) {
      visit(data);
    } else if constexpr (requires { data.ref; }) {
      visit(data.ref);
    } else if constexpr (std::is_same_v<Plain, std::unique_ptr<ArgumentDict>>) {
      if (data == nullptr) return;
      for (auto& [key, argument] : *data) argument.for_each_ref(visit);
    } else if constexpr (kIsList<Plain>) {
      if constexpr (holds_refs<typename Plain::value_type>()) {
        for (auto& item : data) walk(item, visit);
      }
    }
  }

  Data data_;
};

// How an argument was passed in Python; files of older PyTorch do not say.
enum class PassedBy : uint8_t { kUnsaid, kUnknown, kPositional, kKeyword };

struct NamedArgument {
  std::string name;  // of the operator's schema; empty for higher-order operators
  Argument argument;
  PassedBy passed_by = PassedBy::kUnsaid;
  Extras extras = {};
};

}  // namespace flambeau::graph
