// A function of PyTorch's C interface for an operator: its arguments are those of the operator's schema, each
// spread over one or two plain values of C; the results are written through pointers behind them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "flambeau/aot/native/box.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::aot::native {

template <typename... T>
struct Types {};

// What stands for an argument in C, and how it becomes a value.
struct In {
  using Spread = Types<Handle>;
  static Value value(Handle tensor) { return at(tensor); }
};
// The tensor that an operator writes to; in C it stands first, in the schema last.
struct Out : In {};
struct OptionalIn {
  using Spread = Types<const Handle*>;
  static Value value(const Handle* tensor) { return tensor == nullptr ? Value() : Value(at(*tensor)); }
};
struct InList {
  using Spread = Types<const Handle*, int64_t>;
  static Value value(const Handle* tensors, int64_t count) {
    TensorList list;
    for (int64_t i = 0; i < count; ++i) list.push_back(at(tensors[i]));
    return list;
  }
};
struct OptionalInList {
  using Spread = Types<const Handle**, int64_t>;
  static Value value(const Handle** tensors, int64_t count) {
    TensorList list;
    for (int64_t i = 0; i < count; ++i) list.push_back(tensors[i] == nullptr ? Tensor() : at(*tensors[i]));
    return list;
  }
};
struct Int {
  using Spread = Types<int64_t>;
  static Value value(int64_t number) { return number; }
};
struct Real {
  using Spread = Types<double>;
  static Value value(double number) { return number; }
};
struct Bool {
  using Spread = Types<int32_t>;
  static Value value(int32_t flag) { return flag != 0; }
};
struct OptionalBool {
  using Spread = Types<const int32_t*>;
  static Value value(const int32_t* flag) { return flag == nullptr ? Value() : Value(*flag != 0); }
};
struct OptionalInt {
  using Spread = Types<const int64_t*>;
  static Value value(const int64_t* number) { return number == nullptr ? Value() : Value(*number); }
};
struct OptionalReal {
  using Spread = Types<const double*>;
  static Value value(const double* number) { return number == nullptr ? Value() : Value(*number); }
};
struct Ints {
  using Spread = Types<const int64_t*, int64_t>;
  static Value value(const int64_t* numbers, int64_t count) {
    return Dims(std::span<const int64_t>(numbers, static_cast<size_t>(count)));
  }
};
struct OptionalInts {
  using Spread = Types<const int64_t**, int64_t>;
  static Value value(const int64_t** numbers, int64_t count) {
    return numbers == nullptr ? Value() : Ints::value(*numbers, count);
  }
};
struct Text {
  using Spread = Types<const char*>;
  static Value value(const char* text) { return std::string_view(text); }
};
struct OptionalType {
  using Spread = Types<const int32_t*>;
  static Value value(const int32_t* number) {
    if (number == nullptr) return {};
    if (const std::optional<DType> dtype = dtype_from_number(*number)) return *dtype;
    throw Error(ErrorCode::kInvalidArgument, "the element type is unknown");
  }
};

// Calls an operator with as many of its arguments, in the schema's order, as are given; an out= tensor is the
// last one of the schema.
std::vector<Value> call_operator(std::string_view name, std::vector<Value> arguments, const Value* out);
void give_results(std::vector<Value> results, std::span<Handle* const> to);

template <size_t kSize>
struct Name {
  char text[kSize] = {};
  constexpr Name(const char (&name)[kSize]) {
    for (size_t i = 0; i < kSize; ++i) text[i] = name[i];
  }
  constexpr std::string_view view() const { return {text, kSize - 1}; }
};

template <typename... Lists>
struct Joined;
template <typename... A>
struct Joined<Types<A...>> {
  using List = Types<A...>;
};
template <typename... A, typename... B, typename... Rest>
struct Joined<Types<A...>, Types<B...>, Rest...> : Joined<Types<A..., B...>, Rest...> {};

template <typename>
struct Count;
template <typename... T>
struct Count<Types<T...>> {
  static constexpr size_t value = sizeof...(T);
};

template <Name kName, typename List, size_t kResults, typename... Arguments>
struct OperatorFunction;
template <Name kName, typename... C, size_t kResults, typename... Arguments>
struct OperatorFunction<kName, Types<C...>, kResults, Arguments...> {
  static int32_t call(C... given) {
    return guarded(kName.view(), [&] {
      const std::tuple<C...> all(given...);
      std::vector<Value> arguments;
      Value out;
      bool has_out = false;
      [&]<size_t... I>(std::index_sequence<I...>) {
        (
            [&] {
              constexpr size_t kAt = start_of(I);
              using Argument = std::tuple_element_t<I, std::tuple<Arguments...>>;
              Value value = read<Argument, kAt>(all);
              if constexpr (std::is_same_v<Argument, Out>) {
                out = std::move(value);
                has_out = true;
              } else {
                arguments.push_back(std::move(value));
              }
            }(),
            ...);
      }(std::index_sequence_for<Arguments...>());
      std::vector<Value> results =
          call_operator(kName.view(), std::move(arguments), has_out ? &out : nullptr);
      if constexpr (kResults != 0) {
        constexpr size_t kFirst = start_of(sizeof...(Arguments));
        const auto to = [&]<size_t... I>(std::index_sequence<I...>) {
          return std::array<Handle*, kResults>{std::get<kFirst + I>(all)...};
        }(std::make_index_sequence<kResults>());
        give_results(std::move(results), to);
      }
    });
  }

 private:
  static constexpr size_t start_of(size_t index) {
    constexpr size_t kCounts[] = {Count<typename Arguments::Spread>::value..., 0};
    size_t start = 0;
    for (size_t i = 0; i < index; ++i) start += kCounts[i];
    return start;
  }
  template <typename Argument, size_t kAt>
  static Value read(const std::tuple<C...>& all) {
    if constexpr (Count<typename Argument::Spread>::value == 1) {
      return Argument::value(std::get<kAt>(all));
    } else {
      return Argument::value(std::get<kAt>(all), std::get<kAt + 1>(all));
    }
  }
};

template <size_t kCount, typename... T>
struct Repeated : Repeated<kCount - 1, T..., Handle*> {};
template <typename... T>
struct Repeated<0, T...> {
  using List = Types<T...>;
};

// of<"aten::topk", 2, In, Int, Int, Bool, Bool>: an operator of two results.
template <Name kName, size_t kResults, typename... Arguments>
constexpr auto of =
    &OperatorFunction<kName,
                      typename Joined<typename Arguments::Spread..., typename Repeated<kResults>::List>::List,
                      kResults, Arguments...>::call;

}  // namespace flambeau::aot::native
