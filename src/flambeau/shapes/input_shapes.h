// The sizes of a model's arguments while it is traced, and after the trace what the program may be given: the
// constraints, or the error that says where the trace needs more than the user said, with fixes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/graph/program.h"
#include "flambeau/shapes/dynamic_shapes.h"
#include "flambeau/shapes/shape_env.h"
#include "flambeau/shapes/suggested_fixes.h"
#include "flambeau/symbolic/sym_int.h"

namespace flambeau::trace {

// Of one leaf.
struct InputSymbols {
  std::vector<symbolic::SymInt> sizes = {};
  std::vector<symbolic::SymInt> strides = {};
  symbolic::SymInt offset = {};
  symbolic::SymInt value = {};  // of an integer
};

struct ShapeFinding {
  enum class Kind : uint8_t {
    kSpecialized,  // detail: the one size
    kEqual,        // detail: the other's name
    kRelated,      // detail: what it must be, over the other's name
    kGuard,        // detail: what not all sizes satisfy
    kForced,       // detail: the size that all guards together leave
  };
  Kind kind = Kind::kGuard;
  std::string name;    // of the Dim; the source where it has none
  std::string source;  // "L['x'].size()[0]"
  std::string detail;
  std::string other_source = {};
  std::string where = {};  // the line that asked

  std::string to_string() const;
};

struct ShapeConstraints {
  // Expressions of the inputs' sizes, and symbols from data, with what they may be.
  std::vector<std::pair<symbolic::Expr, symbolic::ValueRange>> ranges;
  std::vector<std::string> guards_code;
  // What the Dims of single symbols are called: {"s77", "batch"}.
  std::vector<std::pair<std::string, std::string>> names;

  // As a program holds them.
  std::vector<std::pair<std::string, graph::RangeConstraint>> range_constraints() const;
};

class InputShapes {
 public:
  // Makes the symbols. Throws Error(kInvalidArgument) where the shapes do not fit the arguments or the
  // example. `env` must outlive it. `widens_ones`: a size that users said may vary is 2 where it is 1 in the
  // example, since a 1 is taken as one that stays.
  InputShapes(ShapeEnv& env, const DynamicShapes& shapes, std::vector<InputArgument> arguments,
              bool widens_ones = false);

  // One for each leaf, in order.
  const std::vector<InputSymbols>& symbols() const { return symbols_; }
  const std::vector<InputLeaf>& leaves() const { return leaves_; }

  // After the trace, once. Throws Error(kInvalidArgument) with all findings and the suggested fixes.
  ShapeConstraints finish();
  // What finish() found; also when it threw.
  const std::vector<ShapeFinding>& findings() const { return findings_; }
  const std::vector<SuggestedFix>& fixes() const { return fixes_; }

 private:
  struct Place {
    size_t leaf = 0;
    size_t dim = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct Relation {  // source = dim(root)
    Place place;
    std::optional<Place> root;  // nothing: a symbol that is no input's
    std::optional<symbolic::Expr> phantom;
    Dim dim;
  };

  InputShapes(ShapeEnv& env, std::vector<InputLeaf> leaves, std::vector<ShapeSpec> specs);
  void widen_ones();
  void make_symbols();
  void make_tensor(size_t leaf);
  void make_strides(size_t leaf);
  void collect_relations();
  std::string source(const Place& place) const;
  symbolic::Expr size_at(const Place& place) const;
  std::string name_of(const std::string& source) const;
  void require_equalities();
  void check_sizes(DimSolver& solver);
  void check_guards(DimSolver& solver);
  void check_assertions(DimSolver& solver);
  void check_ranges(DimSolver& solver);
  std::string find_parent(std::string source) const;
  symbolic::Expr definition(const std::string& source) const;
  bool is_said_equal(const std::string& a, const std::string& b) const;
  std::string text_of(const symbolic::Expr& expr) const;
  ShapeConstraints make_constraints();
  // Would the same trace pass with these? Its guards are asked again, of symbols made as the fixes say.
  bool passes_with(const std::vector<SuggestedFix>& fixes, const std::map<std::string, Dim>& dims) const;

  ShapeEnv& env_;
  bool is_empty_ = false;
  std::vector<InputLeaf> leaves_;
  std::vector<ShapeSpec> specs_;
  std::vector<InputSymbols> symbols_;
  std::vector<size_t> first_of_;              // the leaf that has the same tensor first
  std::map<Place, Dim> dims_;                 // what was said of sizes, by leaf
  std::map<std::string, std::string> names_;  // of sources: the Dim's
  std::vector<std::pair<Place, Place>> pairs_;
  std::vector<Relation> relations_;
  std::vector<symbolic::Expr> phantoms_;
  std::map<std::string, std::string> parents_;         // sources that were said to be equal
  std::map<std::string, symbolic::Expr> definitions_;  // of sources, over sources
  std::vector<std::string> relaxed_;                   // sources with hints

  // While finishing: sources of each symbol, in order, and the ranges that were said for it.
  std::vector<std::pair<symbolic::Expr, std::vector<std::string>>> sources_;
  std::map<std::string, std::vector<symbolic::ValueRange>> said_;
  size_t traced_ = 0;  // conditions of the trace; later ones come from finish()
  bool is_replay_ = false;
  std::vector<ShapeFinding> findings_;
  std::vector<SuggestedFix> fixes_;
};

}  // namespace flambeau::trace
