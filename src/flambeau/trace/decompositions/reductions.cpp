// Reductions as their general forms.
#include <limits>

#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

// var.dim and its like: unbiased or not is a correction of 1 or 0.
Decomposition corrected(const char* name, bool has_dims) {
  return [name, has_dims](Context& c, const Arguments& given) {
    const int64_t correction = given.flag(has_dims ? 2 : 1) ? 1 : 0;
    return call_with<std::vector<Value>>(
        c, name, {given[0], has_dims ? given[1] : Value()},
        {{"correction", correction}, {"keepdim", has_dims && given.flag(3)}});
  };
}

double correction_of(const Arguments& given, size_t index) {
  return given.has(index) ? given.real(index) : 1.0;
}

void add_spreads(DecompositionTable& table) {
  for (const char* const name : {"var", "std", "var_mean", "std_mean"}) {
    const std::string base = std::string("aten::") + name;
    static const std::unordered_map<std::string, const char*> kCorrected = {
        {"aten::var", "aten::var.correction"},
        {"aten::std", "aten::std.correction"},
        {"aten::var_mean", "aten::var_mean.correction"},
        {"aten::std_mean", "aten::std_mean.correction"}};
    table.composite(base, corrected(kCorrected.at(base), false));
    table.composite(base + ".dim", corrected(kCorrected.at(base), true));
  }
  table.functional("aten::std.correction", [](Context& c, const Arguments& given) {
    const Tensor variance = call_with(c, "aten::var.correction", {given[0], given[1]},
                                      {{"correction", correction_of(given, 2)}, {"keepdim", given[3]}});
    return gives(call(c, "aten::sqrt", variance));
  });
  table.functional("aten::std_mean.correction", [](Context& c, const Arguments& given) {
    const std::vector<Value> both =
        call_with<std::vector<Value>>(c, "aten::var_mean.correction", {given[0], given[1]},
                                      {{"correction", correction_of(given, 2)}, {"keepdim", given[3]}});
    return gives(call(c, "aten::sqrt", both[0].tensor()), both[1]);
  });
}

void add_truths(DecompositionTable& table) {
  const auto negated = [](Context& c, const Tensor& x) { return call(c, "aten::logical_not", x); };
  table.functional("aten::all", [=](Context& c, const Arguments& given) {
    return gives(negated(c, call(c, "aten::any.dims", negated(c, given.tensor(0)))));
  });
  table.functional("aten::all.dim", [=](Context& c, const Arguments& given) {
    return gives(negated(c, call(c, "aten::any.dim", negated(c, given.tensor(0)), given[1], given[2])));
  });
  table.functional("aten::count_nonzero", [](Context& c, const Arguments& given) {
    return gives(call(c, "aten::sum.dim_IntList", call(c, "aten::ne.Scalar", given.tensor(0), 0), Value()));
  });
  table.composite("aten::count_nonzero.dim_IntList", [](Context& c, const Arguments& given) {
    return gives(call(c, "aten::sum.dim_IntList", call(c, "aten::ne.Scalar", given.tensor(0), 0), given[1]));
  });
}

}  // namespace

void add_reductions(DecompositionTable& table) {
  table.functional("aten::sum", [](Context& c, const Arguments& given) {
    return gives(call_with(c, "aten::sum.dim_IntList", {given[0], Dims{}}, {{"dtype", given[1]}}));
  });
  table.functional("aten::logsumexp", [](Context& c, const Arguments& given) {
    const Tensor& x = given.tensor(0);
    const Tensor most = call(c, "aten::amax", x, given[1], true);
    const Tensor is_infinite =
        call(c, "aten::eq.Scalar", call(c, "aten::abs", most), std::numeric_limits<double>::infinity());
    const Tensor safe = parts::where(c, is_infinite, parts::scalar(c, 0.0, x.dtype(), x.device()), most);
    const Tensor shift = given.flag(2) ? safe : call(c, "aten::squeeze.dims", safe, given[1]);
    const Tensor powers = call(c, "aten::exp", call(c, "aten::sub.Tensor", x, safe));
    const Tensor sum = call(c, "aten::sum.dim_IntList", powers, given[1], given[2]);
    return gives(call(c, "aten::add.Tensor", call(c, "aten::log", sum), shift));
  });
  table.composite("aten::argsort", [](Context& c, const Arguments& given) {
    return gives(call<std::vector<Value>>(c, "aten::sort", given[0], given[1], given[2]).at(1));
  });
  add_spreads(table);
  add_truths(table);
}

}  // namespace flambeau::trace
