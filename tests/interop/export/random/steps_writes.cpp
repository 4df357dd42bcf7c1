// Steps that write: to a fresh tensor, to a view of one, to a value that others see, to an argument, to a
// buffer.
#include <fmt/format.h>

#include "steps.h"

namespace flambeau::random_modules {
namespace {

using Made = std::optional<Proposal>;

struct Writing {
  const char* text;
  Tensor (*run)(const Tensor&);
};
const Writing kWriting[] = {
    {"add_($, 0.5)", [](const Tensor& x) { return nn::add_(x, 0.5); }},
    {"sub_($, 0.25)", [](const Tensor& x) { return nn::sub_(x, 0.25); }},
    {"mul_($, 0.9)", [](const Tensor& x) { return nn::mul_(x, 0.9); }},
    {"div_($, 2)", [](const Tensor& x) { return nn::div_(x, 2); }},
    {"relu_($)", [](const Tensor& x) { return nn::relu_(x); }},
    {"tanh_($)", [](const Tensor& x) { return nn::tanh_(x); }},
    {"sigmoid_($)", [](const Tensor& x) { return nn::sigmoid_(x); }},
    {"silu_($)", [](const Tensor& x) { return nn::silu_(x); }},
    {"hardtanh_($)", [](const Tensor& x) { return nn::hardtanh_(x); }},
    {"hardswish_($)", [](const Tensor& x) { return nn::hardswish_(x); }},
    {"leaky_relu_($)", [](const Tensor& x) { return nn::leaky_relu_(x); }},
    {"elu_($)", [](const Tensor& x) { return nn::elu_(x); }},
    {"clamp_($, -1, 1)", [](const Tensor& x) { return nn::clamp_(x, -1, 1); }},
    {"fill_($, 0.5)", [](const Tensor& x) { return nn::fill_(x, 0.5); }},
    {"zero_($)", [](const Tensor& x) { return nn::zero_(x); }},
};

std::string written(const Writing& writing, const std::string& name) {
  std::string text = writing.text;
  return text.replace(text.find('$'), 1, name);
}

Made make_write_to_copy(Builder& b) {
  const auto x = b.pick_float();
  if (!x) return {};
  const Writing& writing = b.random.choose(kWriting);
  return {{.text = written(writing, "clone($0)"),
           .inputs = {*x},
           .run = one([run = writing.run](const TensorList& in) {
             const Tensor copy = nn::clone(in[0]);
             return run(copy);
           })}};
}

// The part that the view shows is changed in what it is a view of.
Made make_write_to_view(Builder& b) {
  const auto x = b.pick_float(1);
  if (!x) return {};
  const Writing& writing = b.random.choose(kWriting);
  const size_t at = b.pick_dim(*x);
  const auto dim = static_cast<int64_t>(at);
  const int64_t first = b.random.below(b.least(*x, at));
  const bool selects = b.random.chance(50);
  // PyTorch fixes whether a size that it writes to is 1.
  if (!selects && !b.is_static(*x, at) && b.least(*x, at) - first < 2) return {};
  return {{.text = fmt::format(
               "copy = clone($0); {}; copy",
               written(writing, fmt::format("{}(copy, {}, {})", selects ? "select" : "slice", dim, first))),
           .inputs = {*x},
           .run = one([run = writing.run, dim, first, selects](const TensorList& in) {
             const Tensor copy = nn::clone(in[0]);
             const Tensor view = selects ? nn::select(copy, dim, first) : nn::slice(copy, dim, first);
             run(view);
             return copy;
           })}};
}

// Everything that shares its bytes changes too, an argument among them.
Made make_write_to_value(Builder& b) {
  const auto x = b.pick_float();
  if (!x) return {};
  const Writing& writing = b.random.choose(kWriting);
  return {{.text = written(writing, "$0"),
           .inputs = {*x},
           .run = one([run = writing.run](const TensorList& in) { return run(in[0]); }),
           .writes = true}};
}

Made make_write_of_other(Builder& b) {
  const auto x = b.pick_float();
  const auto y = b.pick([&](size_t at) {
    return x && b.is_float(at) && b.rank(at) <= b.rank(*x) && b.broadcasts(*x, at) &&
           b.dtype(at) == b.dtype(*x);
  });
  if (!x || !y) return {};
  const int64_t which = b.random.below(4);
  constexpr const char* kTexts[] = {"add_(clone($0), $1)", "mul_(clone($0), tanh($1))",
                                    "copy_(clone($0), $1)", "sub_(clone($0), $1)"};
  return {{.text = kTexts[which], .inputs = {*x, *y}, .run = one([which](const TensorList& in) {
                                                        const Tensor copy = nn::clone(in[0]);
                                                        return which == 0   ? nn::add_(copy, in[1])
                                                               : which == 1 ? nn::mul_(copy, nn::tanh(in[1]))
                                                               : which == 2 ? nn::copy_(copy, in[1])
                                                                            : nn::sub_(copy, in[1]);
                                                      })}};
}

// A buffer that keeps something from call to call.
Made make_write_to_buffer(Builder& b) {
  const auto x = b.pick([&](size_t at) {
    return b.dtype(at) == DType::kFloat32 && b.rank(at) >= 1 && b.is_static(at, b.rank(at) - 1);
  });
  if (!x) return {};
  const int64_t size = b.least(*x, b.rank(*x) - 1);
  const size_t slot = b.buffer({size});
  const int64_t which = b.random.below(4);
  constexpr const char* kTexts[] = {"add_(b{0}, 1); $0 + b{0}", "copy_(b{0}, mean of $0); $0 * b{0}",
                                    "mul_(b{0}, 0.9); tanh($0) + b{0}", "mul_(b{0}[0], 0.5); $0 - b{0}"};
  return {{.text = fmt::format(fmt::runtime(kTexts[which]), slot),
           .inputs = {*x},
           .run =
               [=](Frame& frame, const TensorList& in) {
                 const Tensor& buffer = frame.module.buffer(slot);
                 if (which == 0) {
                   nn::add_(buffer, 1);
                   return TensorList{nn::add(in[0], buffer)};
                 }
                 if (which == 1) {
                   const Tensor rows = nn::reshape(in[0], {-1, size});
                   nn::copy_(buffer, nn::mean(rows, 0));
                   return TensorList{nn::mul(in[0], buffer)};
                 }
                 if (which == 2) {
                   nn::mul_(buffer, 0.9);
                   const Tensor small = nn::tanh(in[0]);
                   return TensorList{nn::add(small, buffer)};
                 }
                 nn::mul_(nn::select(buffer, 0, 0), 0.5);
                 return TensorList{nn::sub(in[0], buffer)};
               },
           .writes = true}};
}

// A buffer that is only read.
Made make_read_of_buffer(Builder& b) {
  const auto x = b.pick([&](size_t at) {
    return b.dtype(at) == DType::kFloat32 && b.rank(at) >= 1 && b.is_static(at, b.rank(at) - 1);
  });
  if (!x) return {};
  const size_t slot = b.buffer({b.least(*x, b.rank(*x) - 1)});
  return {
      {.text = fmt::format("$0 + b{}", slot), .inputs = {*x}, .run = [=](Frame& frame, const TensorList& in) {
         return TensorList{nn::add(in[0], frame.module.buffer(slot))};
       }}};
}

constexpr Maker kWritesMakers[] = {make_write_to_copy,  make_write_to_view,   make_write_to_value,
                                   make_write_of_other, make_write_to_buffer, make_read_of_buffer};

}  // namespace

std::span<const Maker> write_makers() { return kWritesMakers; }

}  // namespace flambeau::random_modules
