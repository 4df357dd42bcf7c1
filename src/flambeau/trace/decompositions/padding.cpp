// Padding: by gathering the elements again, or by writing into something larger.
#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

// How much before and after along each of the last dimensions, the last one first.
struct Sides {
  SymInt before;
  SymInt after;
};
std::vector<Sides> sides_of(const Value& pad) {
  const SymIntList list = to_syms(pad);
  std::vector<Sides> sides;
  for (size_t i = 0; i + 1 < list.size(); i += 2) sides.push_back({list[i], list[i + 1]});
  return sides;
}

template <typename Places>
Tensor gathered(Context& c, const Tensor& input, const Value& pad, Places&& places) {
  const std::vector<Sides> sides = sides_of(pad);
  const int64_t rank = rank_of(input);
  Tensor result = input;
  for (size_t i = sides.size(); i-- > 0;) {
    const int64_t dim = rank - 1 - static_cast<int64_t>(i);
    const SymInt size = size_of(input, dim);
    const Tensor line = parts::arange(c, -sides[i].before, size + sides[i].after, {}, input.device());
    TensorList indices(static_cast<size_t>(rank));
    indices[static_cast<size_t>(dim)] = places(line, size - SymInt(1));
    result = call(c, "aten::index.Tensor", result, indices);
  }
  return result;
}

Decomposition reflected() {
  return [](Context& c, const Arguments& given) {
    return gives(gathered(c, given.tensor(0), given[1], [&](const Tensor& line, const SymInt& last) {
      const auto mirror = [&](const Tensor& x) {
        return call(c, "aten::sub.Tensor", Value(last), call(c, "aten::abs", x));
      };
      return mirror(mirror(line));
    }));
  };
}

Decomposition replicated() {
  return [](Context& c, const Arguments& given) {
    return gives(gathered(c, given.tensor(0), given[1], [&](const Tensor& line, const SymInt& last) {
      return call(c, "aten::clamp", line, 0, Value(last));
    }));
  };
}

Tensor circular(Context& c, const Tensor& input, const Value& pad) {
  const std::vector<Sides> sides = sides_of(pad);
  const int64_t rank = rank_of(input);
  const SymInt zero = 0;
  const auto part = [&](const Tensor& of, int64_t dim, const SymInt& start, const SymInt& end) {
    return call(c, "aten::slice.Tensor", of, dim, start, end);
  };
  SymIntList sizes = sizes_of(input);
  for (size_t i = 0; i < sides.size(); ++i) sizes[sizes.size() - 1 - i] += sides[i].before + sides[i].after;
  const Tensor out = call_with(c, "aten::empty.memory_format", {sizes},
                               {{"dtype", input.dtype()},
                                {"layout", Layout::kStrided},
                                {"device", input.device()},
                                {"pin_memory", false}});
  Tensor to = out;
  Tensor from = input;
  for (size_t i = 0; i < sides.size(); ++i) {
    const int64_t dim = rank - 1 - static_cast<int64_t>(i);
    const auto& [before, after] = sides[i];
    to = part(to, dim, before > zero ? before : zero, size_of(out, dim) - (after > zero ? after : zero));
    from =
        part(from, dim, before < zero ? -before : zero, size_of(input, dim) - (after < zero ? -after : zero));
  }
  call(c, "aten::copy_", to, from);
  for (size_t i = 0; i < sides.size(); ++i) {
    const int64_t dim = rank - 1 - static_cast<int64_t>(i);
    const SymInt before = sides[i].before > zero ? sides[i].before : zero;
    const SymInt after = sides[i].after > zero ? sides[i].after : zero;
    const SymInt size = size_of(out, dim);
    if (before > zero) {
      const Tensor left = part(out, dim, zero, before);
      call(c, "aten::copy_", left, part(out, dim, size - before - after, size - after));
    }
    if (after > zero) {
      const Tensor right = part(out, dim, size - after, size);
      call(c, "aten::copy_", right, part(out, dim, before, before + after));
    }
  }
  return out;
}

}  // namespace

void add_padding(DecompositionTable& table) {
  for (const char* const name :
       {"aten::reflection_pad1d", "aten::reflection_pad2d", "aten::reflection_pad3d"})
    table.functional(name, reflected());
  for (const char* const name :
       {"aten::replication_pad1d", "aten::replication_pad2d", "aten::replication_pad3d"})
    table.functional(name, replicated());
  table.composite("aten::pad", [](Context& c, const Arguments& given) {
    const std::string& mode = given.text(2);
    if (mode == "constant") {
      const Value number = given.has(3) ? given[3] : Value(0.0);
      return gives(call(c, "aten::constant_pad_nd", given.tensor(0), given[1], number));
    }
    if (mode == "circular") return gives(circular(c, given.tensor(0), given[1]));
    const size_t dims = to_syms(given[1]).size() / 2;
    const std::string family = mode == "reflect" ? "aten::reflection_pad" : "aten::replication_pad";
    return gives(call(c, family + std::to_string(dims) + "d", given.tensor(0), given[1]));
  });
}

}  // namespace flambeau::trace
