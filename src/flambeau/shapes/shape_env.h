// The symbols of one trace: what each size was in the example (its hint), what is known of it (its range,
// what it equals, what divides it), and every question about sizes that the trace answered. A question that
// is known to be true or false leaves nothing behind; another is answered for the example and becomes a
// guard. Symbols whose value comes from data have no hint: nothing can be asked about them that is not known,
// but things can be required of them (check), which the program asserts when it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "flambeau/symbolic/evaluate.h"
#include "flambeau/symbolic/expr.h"
#include "flambeau/symbolic/ranges/value_range.h"
#include "flambeau/symbolic/sym_int.h"

namespace flambeau::trace {

// A condition that the example satisfied and the trace relies on.
struct ShapeGuard {
  symbolic::Expr condition;
  std::string where;  // the line that asked
};

// A condition over data that the program must assert when it runs.
struct Assertion {
  symbolic::Expr condition;  // in canonical form
  std::string message;
  std::string where;
  std::string
      symbol;  // the newest symbol from data in it: it can be asserted once that one exists; may be none
};

// A symbol and what is known of it.
struct SymbolInfo {
  symbolic::Expr symbol;
  std::vector<std::string> sources;  // "L['x'].size()[0]", first the one it was made for; none from data
  std::optional<int64_t> hint;       // nothing from data
  symbolic::ValueRange range;
  bool is_size_like = false;
  std::string where;        // the line that made it, from data
  std::string lower_where;  // the line that last moved an end of its range; empty: nobody has
  std::string upper_where;
  // What it equals, once a guard said so, and the line of that guard.
  std::optional<symbolic::Expr> replacement = {};
  std::string replacement_where = {};

  bool is_backed() const { return hint.has_value(); }
};

// How a symbol of an input is made.
struct BackedRule {
  // What the user said of it. One value makes it a literal; a value outside is an error.
  std::optional<symbolic::ValueRange> range = {};
  // Inputs with the same hint that have this share one symbol (strides and offsets).
  bool shares = false;
  // A size: positive, a literal where the hint is 0 or 1, otherwise at least 2. Else any integer.
  bool is_size = true;
  // Of a size: a hint of 1 is a symbol too, from 1.
  bool takes_one = false;
};

// Is there a number in both?
bool overlaps(const symbolic::ValueRange& a, const symbolic::ValueRange& b);

class ShapeEnv : public symbolic::Decider {
 public:
  using Where = std::function<std::string()>;

  ShapeEnv();
  ~ShapeEnv() override;
  ShapeEnv(const ShapeEnv&) = delete;
  ShapeEnv& operator=(const ShapeEnv&) = delete;

  // With it, guards that ranges and equalities do not say in full become assertions of the program, so that
  // sizes may be given for which they do not hold (prefer_deferred_runtime_asserts_over_guards). To be set
  // before anything is asked.
  void set_prefers_assertions(bool prefers) { prefers_assertions_ = prefers; }
  bool prefers_assertions() const { return prefers_assertions_; }

  // Nothing is seen that PyTorch's solver does not see: conditions that hold for all sizes, and would have to
  // be proved, and recurrent layers over any number of steps are refused as there. For comparison.
  void set_like_pytorch(bool is_like) { is_like_pytorch_ = is_like; }
  bool is_like_pytorch() const { return is_like_pytorch_; }
  // Is it proved that the condition holds for every size in the ranges?
  bool is_proved(const symbolic::Expr& condition) const;

  // Says which line of the model is running; called when a guard or an assertion is made.
  void set_where(Where where) { where_ = std::move(where); }
  std::string where() const { return where_ ? where_() : std::string(); }

  // The number that an input has at `source`, such as "L['x'].size()[0]": a symbol named as PyTorch names it,
  // or a literal. Throws Error(kInvalidArgument) when the hint contradicts the rule.
  symbolic::SymInt backed(const std::string& source, int64_t hint, const BackedRule& rule = {});

  // A symbol of a program that is traced again, under its own name; without a hint it is one from data. Sizes
  // with a hint are at least 2, as when they were made.
  symbolic::SymInt adopt(const symbolic::Expr& symbol, std::optional<int64_t> hint,
                         const symbolic::ValueRange& range);

  // A number that only the data knows (item): u0, u1...
  symbolic::SymInt unbacked();
  // The same for a size (nonzero, a mask): from 0 to `most`.
  symbolic::SymInt unbacked_size(std::optional<int64_t> most = {});

  // Throws Error(kInvalidArgument) when the answer depends on data: the message has the expression and the
  // line, the remedy what to check before.
  bool decide(const symbolic::Expr& condition) override;
  // The same, but where it depends on data the fallback is the answer, and nothing is remembered.
  bool decide_or(const symbolic::Expr& condition, bool fallback);
  // While it lives, the rules of operators ask: whether a tensor is contiguous, broadcasts, has room for a
  // part. Of sizes from data that has no answer, and needs none: as in PyTorch they are taken as neither 0
  // nor 1, which decides about layouts alone, and what an operator would refuse becomes an assertion of its
  // contrary. Inside of a branch or loop (`may_assert` is false), where nothing is known to hold outside, the
  // operator alone says so when it runs.
  class InRule {
   public:
    InRule(ShapeEnv& env, bool may_assert)
        : env_(env), before_(std::exchange(env.rule_, may_assert ? Rule::kAsserts : Rule::kTrusts)) {}
    ~InRule() { env_.rule_ = before_; }
    InRule(const InRule&) = delete;
    InRule& operator=(const InRule&) = delete;

   private:
    enum class Rule : uint8_t { kNone, kAsserts, kTrusts };
    friend class ShapeEnv;

    ShapeEnv& env_;
    Rule before_;
  };

  // The answer if it is known for all sizes; asks nothing.
  std::optional<bool> known(const symbolic::Expr& condition);
  // The value of a size for this example, which the trace then relies on.
  int64_t specialize(const symbolic::SymInt& value);

  // torch._check: the condition must hold. Throws Error(kInvalidArgument) when it does not; a guard where it
  // is about inputs only, else an assertion of the program.
  void check(const symbolic::Expr& condition, const std::string& message = {});
  // torch._check_is_size: not negative, at most `most`.
  void check_is_size(const symbolic::SymInt& value, std::optional<int64_t> most = {},
                     const std::string& message = {});
  // Narrows a symbol's range without a guard (torch.sym_constrain_range). Throws Error(kInvalidArgument) for
  // a literal outside, and when nothing is left.
  void constrain_range(const symbolic::SymInt& value, std::optional<int64_t> least,
                       std::optional<int64_t> most);
  // The same for a size: at least 0, and treated as a size from then on.
  void constrain_range_for_size(const symbolic::SymInt& value, std::optional<int64_t> least = {},
                                std::optional<int64_t> most = {});

  // With every symbol replaced by what it equals.
  symbolic::Expr replace(const symbolic::Expr& expr) const;
  // As replace(), and with known divisions and maxima resolved.
  symbolic::Expr simplify(const symbolic::Expr& expr);
  symbolic::SymInt simplify(const symbolic::SymInt& value);
  // The value for the example; nothing when data decides.
  std::optional<int64_t> hint(const symbolic::Expr& expr) const;
  std::optional<bool> hint_of_condition(const symbolic::Expr& condition) const;
  symbolic::ValueRange bounds(const symbolic::Expr& expr) const;

  // In order of creation.
  const std::vector<std::unique_ptr<SymbolInfo>>& symbols() const { return symbols_; }
  // Null for a name that is none of this trace's.
  const SymbolInfo* find(std::string_view name) const;
  const SymbolInfo& info(const symbolic::Expr& symbol) const;
  bool has_unbacked(const symbolic::Expr& expr) const;

  const std::vector<ShapeGuard>& guards() const { return guards_; }
  const std::vector<Assertion>& assertions() const { return assertions_; }
  // What a program asserts as soon as this symbol from data exists: its range, then the assertions it is the
  // newest symbol of, in order and each once. With no symbol: what it asserts of its inputs, at the start.
  std::vector<symbolic::Expr> assertions_after(std::string_view symbol) const;
  // Every condition about inputs that was learned from, whatever it became.
  const std::vector<symbolic::Expr>& learned() const { return learned_; }
  // Is the condition true or false whatever the guards say, for every size in the ranges? For the passes
  // after the trace, which drop such guards.
  std::optional<bool> known_from_ranges(const symbolic::Expr& condition);
  // After the trace, what is still asked becomes guards in any case: it is about what users said.
  void end_trace() { is_tracing_ = false; }
  // After the trace: the ranges of symbols that were replaced follow what replaced them.
  void settle();
  // Intersects a symbol's range with what a user said, after the trace; false when nothing is left.
  bool narrow(const symbolic::Expr& symbol, const symbolic::ValueRange& range);

 private:
  friend class Learner;

  SymbolInfo& mutable_info(const symbolic::Expr& symbol);
  symbolic::Expr new_symbol(const std::string& name, bool is_size);
  bool answer(const symbolic::Expr& condition, std::optional<bool> fallback);
  std::optional<bool> answer_in_rule(const symbolic::Expr& condition);
  symbolic::Expr simplify_anew(const symbolic::Expr& expr);
  symbolic::Expr find_replacement(const symbolic::Expr& symbol) const;
  bool is_divisible(const symbolic::Expr& base, const symbolic::Expr& divisor);
  bool is_sum_of_nonnegative(const symbolic::Expr& expr) const;
  std::optional<symbolic::Expr> evaluate_static(const symbolic::Expr& expr, bool uses_axioms = true);
  // What is left of the condition once what is known of the symbols from data is used.
  symbolic::Expr without_unbacked(const symbolic::Expr& condition);
  void add_guard(const symbolic::Expr& condition);
  void add_assertion(const symbolic::Expr& condition, const std::string& message);
  void forget_answers();
  [[noreturn]] void throw_data_dependent(const symbolic::Expr& expr) const;

  Where where_;
  bool prefers_assertions_ = false;
  bool is_like_pytorch_ = false;
  bool is_tracing_ = true;
  InRule::Rule rule_ = InRule::Rule::kNone;  // that asks
  std::vector<std::unique_ptr<SymbolInfo>> symbols_;
  std::unordered_map<std::string, SymbolInfo*> by_name_;
  std::unordered_set<int> numbers_;                  // taken by names
  std::unordered_map<int64_t, SymbolInfo*> shared_;  // by hint
  symbolic::Bindings hints_;
  int unbacked_count_ = 0;

  std::vector<ShapeGuard> guards_;
  std::vector<Assertion> assertions_;
  std::vector<symbolic::Expr> learned_;
  std::unordered_map<symbolic::Expr, bool, symbolic::ExprHash> axioms_;
  std::unordered_set<symbolic::Expr, symbolic::ExprHash> divisible_;  // Mod(a, b) that are 0
  // What was computed since the last thing was learned: traces ask the same of many tensors.
  std::unordered_map<symbolic::Expr, std::optional<symbolic::Expr>, symbolic::ExprHash> answers_;
  std::unordered_map<symbolic::Expr, symbolic::Expr, symbolic::ExprHash> simplified_;
  bool has_replacements_ = false;
};

}  // namespace flambeau::trace
