// The cases of tests/golden/dynamic_shapes: what torch.export said of each small model, and what we say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"
#include "flambeau/shapes/dim_solver.h"
#include "flambeau/shapes/input_shapes.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/evaluate.h"
#include "flambeau/symbolic/forms/relation.h"
#include "flambeau/symbolic/text/parse.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::trace {
namespace {

using symbolic::Expr;
using symbolic::SymInt;

using Texts = std::map<std::string, std::map<int64_t, std::string>>;  // what is said, by input and dimension
using NamedBounds = std::map<std::string, Bounds>;

struct Outcome {
  std::string status = "ok";
  std::map<std::string, std::string> ranges = {};
  std::vector<std::string> guards = {};
  std::vector<std::string> assertions = {};
  std::map<std::string, std::vector<std::string>> shapes = {};
  std::set<std::vector<std::string>> findings = {};
  std::vector<std::string> fixes = {};
  std::vector<SuggestedFix> fix_list = {};
  std::string message = {};
};

std::optional<int64_t> bound(const json::Value& value) {
  return value.is_null() ? std::nullopt : std::optional(value.as_int());
}

std::string range_text(std::optional<int64_t> min, std::optional<int64_t> max) {
  return fmt::format("[{}, {}]", min ? std::to_string(*min) : "-oo", max ? std::to_string(*max) : "oo");
}

Expr parse_dims(const std::string& text) {
  return symbolic::parse(text, [](std::string_view name) { return symbolic::symbol(name, {}); });
}

Dim dim_of(const std::string& text, const NamedBounds& bounds) {
  for (const DimHint& hint : {Dim::AUTO, Dim::DYNAMIC, Dim::STATIC}) {
    const std::string name = Dim(hint).to_string().substr(4);
    if (!text.starts_with(name)) continue;
    if (text == name) return hint;
    Bounds given;
    if (const size_t at = text.find("min="); at != std::string::npos)
      given.min = std::stoll(text.substr(at + 4));
    if (const size_t at = text.find("max="); at != std::string::npos)
      given.max = std::stoll(text.substr(at + 4));
    return hint(given);
  }
  const Expr expr = parse_dims(text);
  if (expr.is_integer()) return expr.integer();
  const Expr root = free_symbols(expr)[0];
  const Linear linear = *linear_in(expr, root);
  const auto found = bounds.find(std::string(root.name()));
  Dim dim(std::string(root.name()), found == bounds.end() ? Bounds() : found->second);
  if (!linear.factor.is(1)) dim = dim * linear.factor.numerator();
  if (!linear.offset.is(0)) dim = dim + linear.offset.numerator();
  return dim;
}

std::string kind_of(const std::string& message) {
  const std::pair<const char*, const char*> kinds[] = {
      {"are both said to be", "unequal"}, {"in the example, which is not in the range", "outside"},
      {"but the example has", "literal"}, {"contradicts what the trace needs", "conflict"},
      {"for the smallest", "negative"},   {"but it depends on data", "data"},
      {"does not hold", "check"},         {"is defined twice", "twice"},
      {"but it is", "unequal"},
  };
  for (const auto& [part, kind] : kinds)
    if (message.find(part) != std::string::npos) return kind;
  return message;
}

void take_step(ShapeEnv& env, const std::string& step, std::map<std::string, SymInt>& values, int& count) {
  // As Python asks it: with a number on the right.
  const auto expression = [&](const std::string& text) {
    const Expr found = symbolic::parse(text, [&](std::string_view name) -> std::optional<Expr> {
      const auto value = values.find(std::string(name));
      return value == values.end() ? std::nullopt : std::optional(env.replace(value->second.expr()));
    });
    return found.is_relation() && found.arg(0).is_number() ? symbolic::reversed(found) : found;
  };
  if (step == "item") {
    values.insert_or_assign(fmt::format("u{}", count++), env.unbacked());
  } else if (step.starts_with("check ")) {
    env.check(expression(step.substr(6)));
  } else if (step.starts_with("size ")) {
    env.check_is_size(values.at(step.substr(5)));
  } else if (step.starts_with("int ")) {
    env.specialize(values.at(step.substr(4)));
  } else {
    env.decide(expression(step));
  }
}

const char* const kFindingNames[] = {"specialized", "equal", "related", "guard", "forced"};

Outcome run(const json::Value& test, const Texts& said, const NamedBounds& bounds,
            const std::vector<SuggestedFix>& fixes = {}) {
  std::map<std::string, Dim> roots;
  for (const auto& [name, ends] : bounds) roots.emplace(name, Dim(name, ends));
  const auto read_dim = [&](const std::string& text) {
    return apply_fixes(dim_of(text, bounds), fixes, roots);
  };
  Outcome result;
  ShapeEnv env;
  env.set_prefers_assertions(test.find("deferred") != nullptr);
  std::vector<InputArgument> arguments;
  std::vector<std::pair<std::string, ShapeSpec>> specs;
  std::vector<std::string> transposed;
  if (const json::Value* names = test.find("transposed"))
    for (const json::Value& name : names->as_array()) transposed.push_back(name.as_string());
  std::optional<InputShapes> shapes;
  try {
    for (const auto& [name, value] : test.find("inputs")->as_object()) {
      InputLeaf leaf;
      const auto dims = said.find(name);
      ShapeSpec spec;
      if (value.is_integer()) {
        leaf.kind = InputLeaf::Kind::kInteger;
        leaf.value = value.as_int();
        if (dims != said.end()) spec = dim_of(dims->second.at(-1), bounds);
      } else {
        leaf.kind = InputLeaf::Kind::kTensor;
        for (const json::Value& size : value.as_array()) leaf.sizes.push_back(size.as_int());
        if (std::ranges::find(transposed, name) != transposed.end()) leaf.strides = {1, leaf.sizes[0]};
        if (dims != said.end()) {
          std::map<int64_t, Dim> map;
          for (const auto& [index, text] : dims->second) map.emplace(index, read_dim(text));
          spec = map;
        }
      }
      arguments.push_back({.name = name, .spec = TreeSpec(), .leaves = {leaf}});
      specs.emplace_back(name, spec);
    }
    shapes.emplace(env, DynamicShapes::by_name(specs), arguments);
    std::map<std::string, SymInt> values;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const InputSymbols& symbols = shapes->symbols()[i];
      for (size_t d = 0; d < symbols.sizes.size(); ++d)
        values.emplace(fmt::format("{}{}", arguments[i].name, d), symbols.sizes[d]);
      if (symbols.sizes.empty()) values.emplace(arguments[i].name, symbols.value);
    }
    int count = 0;
    int line = 0;
    env.set_where([&] { return fmt::format("line {}", line); });
    for (const json::Value& step : test.find("steps")->as_array()) {
      ++line;
      take_step(env, step.as_string(), values, count);
    }
    const ShapeConstraints constraints = shapes->finish();
    for (const auto& [name, range] : constraints.range_constraints())
      result.ranges.emplace(name, range_text(range.min, range.max));
    result.guards = constraints.guards_code;
    std::vector<std::string> places = {""};
    for (const auto& info : env.symbols())
      if (!info->is_backed()) places.emplace_back(info->symbol.name());
    for (const std::string& place : places)
      for (const Expr& condition : env.assertions_after(place))
        result.assertions.push_back(to_string(condition));
    for (size_t i = 0; i < arguments.size(); ++i) {
      std::vector<std::string>& texts = result.shapes[arguments[i].name];
      const auto add = [&](const SymInt& value) { texts.push_back(to_string(env.replace(value.expr()))); };
      if (arguments[i].leaves[0].kind == InputLeaf::Kind::kInteger) add(shapes->symbols()[i].value);
      for (const SymInt& size : shapes->symbols()[i].sizes) add(size);
      for (const SymInt& stride : shapes->symbols()[i].strides) add(stride);
    }
  } catch (const Error& error) {
    result.message = error.message() + "\n" + error.remedy();
    if (shapes && !shapes->findings().empty()) {
      result.status = "findings";
      for (const ShapeFinding& finding : shapes->findings())
        result.findings.insert({kFindingNames[static_cast<int>(finding.kind)], finding.name, finding.detail});
      result.fix_list = shapes->fixes();
      for (const SuggestedFix& fix : shapes->fixes()) result.fixes.push_back(fix.to_string());
    } else {
      result.status = kind_of(error.message());
    }
  }
  return result;
}

void compare(const Outcome& ours, const json::Value& theirs) {
  ASSERT_EQ(ours.status, theirs.find("status")->as_string()) << ours.message;
  if (ours.status == "ok") {
    std::map<std::string, std::string> ranges;
    for (const auto& [name, range] : theirs.find("ranges")->as_object())
      ranges.emplace(name, range_text(bound(range.as_array()[0]), bound(range.as_array()[1])));
    EXPECT_EQ(ours.ranges, ranges);
    std::vector<std::string> guards;
    for (const json::Value& guard : theirs.find("guards")->as_array()) guards.push_back(guard.as_string());
    EXPECT_EQ(ours.guards, guards);
    std::vector<std::string> assertions;
    for (const json::Value& text : theirs.find("assertions")->as_array())
      assertions.push_back(text.as_string());
    EXPECT_EQ(ours.assertions, assertions);
    std::map<std::string, std::vector<std::string>> shapes;
    for (const auto& [name, texts] : theirs.find("shapes")->as_object())
      for (const json::Value& text : texts.as_array()) shapes[name].push_back(text.as_string());
    EXPECT_EQ(ours.shapes, shapes);
  }
  if (ours.status == "findings") {
    std::set<std::vector<std::string>> findings;
    for (const json::Value& finding : theirs.find("findings")->as_array()) {
      std::vector<std::string> parts;
      for (const json::Value& part : finding.as_array()) parts.push_back(part.as_string());
      findings.insert(parts);
    }
    EXPECT_EQ(ours.findings, findings) << ours.message;
  }
}

// Where we suggest something else than PyTorch: its fixes do not make the export pass, or there are none.
const std::map<std::string, std::vector<std::string>> kOtherFixes = {
    {"is a multiple plus one", {"_a = Dim('_a', min=2)", "a = 3*_a - 2"}},
    {"its double is a multiple", {"_a = Dim('_a', min=1)", "a = 2*_a"}},
    {"a square is large", {"a = Dim('a', min=4)"}},
    {"large and not a number", {}},
    {"both add up", {}},
};

class DynamicShapesGolden : public testing::Test {
 protected:
  DynamicShapesGolden() {
    std::ifstream file(FLAMBEAU_GOLDEN_DIR "/dynamic_shapes/cases.json");
    std::stringstream text;
    text << file.rdbuf();
    cases_ = json::parse(text.str());
  }

  static Texts said_of(const json::Value& test) {
    Texts said;
    for (const auto& [name, dims] : test.find("dims")->as_object()) {
      if (dims.is_string()) {
        said[name][-1] = dims.as_string();
        continue;
      }
      for (const auto& [index, text] : dims.as_object()) said[name][std::stoll(index)] = text.as_string();
    }
    return said;
  }

  static NamedBounds bounds_of(const json::Value& test) {
    NamedBounds bounds;
    for (const auto& [name, ends] : test.find("bounds")->as_object())
      bounds[name] = {bound(ends.as_array()[0]), bound(ends.as_array()[1])};
    return bounds;
  }

  json::Value cases_;
};

TEST_F(DynamicShapesGolden, SaysWhatPyTorchSays) {
  ASSERT_GE(cases_.as_array().size(), 60u);
  for (const json::Value& test : cases_.as_array()) {
    const std::string& name = test.find("name")->as_string();
    SCOPED_TRACE(name);
    const Outcome ours = run(test, said_of(test), bounds_of(test));
    const json::Value& theirs = *test.find("expected");
    if (theirs.find("status")->as_string() == "crash") continue;
    compare(ours, theirs);
    if (ours.status != "findings") continue;
    std::vector<std::string> fixes;
    for (const json::Value& fix : theirs.find("fixes")->as_array()) fixes.push_back(fix.as_string());
    if (const auto other = kOtherFixes.find(name); other != kOtherFixes.end()) fixes = other->second;
    EXPECT_EQ(ours.fixes, fixes) << ours.message;
  }
}

TEST_F(DynamicShapesGolden, FixesMakeTheExportPass) {
  int count = 0;
  for (const json::Value& test : cases_.as_array()) {
    SCOPED_TRACE(test.find("name")->as_string());
    const Texts said = said_of(test);
    const NamedBounds bounds = bounds_of(test);
    const Outcome before = run(test, said, bounds);
    if (before.fixes.empty()) continue;
    ++count;
    const Outcome after = run(test, said, bounds, before.fix_list);
    EXPECT_EQ(after.status, "ok") << before.message << "\n" << after.message;
    const json::Value* theirs = test.find("fixed");
    if (theirs != nullptr && theirs->find("status")->as_string() == "ok") compare(after, *theirs);
  }
  EXPECT_GE(count, 20);
}

}  // namespace
}  // namespace flambeau::trace
