#include "flambeau/shapes/input_shapes.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::trace {

using symbolic::Expr;
using symbolic::SymInt;

namespace {

bool is_named(const Dim& dim) { return dim.kind() == DimKind::kNamed || dim.kind() == DimKind::kDerived; }

}  // namespace

InputShapes::InputShapes(ShapeEnv& env, const DynamicShapes& shapes, std::vector<InputArgument> arguments,
                         bool widens_ones)
    : env_(env), is_empty_(shapes.is_empty()) {
  name_leaves(arguments);
  specs_ = shapes.resolve(arguments);
  for (InputArgument& argument : arguments)
    for (InputLeaf& leaf : argument.leaves) leaves_.push_back(std::move(leaf));
  if (widens_ones) widen_ones();
  make_symbols();
}

InputShapes::InputShapes(ShapeEnv& env, std::vector<InputLeaf> leaves, std::vector<ShapeSpec> specs)
    : env_(env), leaves_(std::move(leaves)), specs_(std::move(specs)), is_replay_(true) {
  make_symbols();
}

void InputShapes::widen_ones() {
  for (size_t i = 0; i < leaves_.size(); ++i) {
    InputLeaf& leaf = leaves_[i];
    if (leaf.kind != InputLeaf::Kind::kTensor) continue;
    bool is_wider = false;
    for (const auto& [index, dim] : specs_[i].dims()) {
      const bool varies = dim.kind() == DimKind::kNamed || dim.kind() == DimKind::kDynamic;
      if (!varies || index < 0 || static_cast<size_t>(index) >= leaf.sizes.size()) continue;
      int64_t& size = leaf.sizes[static_cast<size_t>(index)];
      if (size != 1 || !dim.range().contains(symbolic::Number(2))) continue;
      size = 2;
      is_wider = true;
    }
    // Whatever a stride of a size of 1 was: the elements lie in order.
    if (is_wider) leaf.strides.clear();
  }
}

void InputShapes::make_symbols() {
  symbols_.resize(leaves_.size());
  for (size_t i = 0; i < leaves_.size(); ++i) {
    const InputLeaf& leaf = leaves_[i];
    size_t first = i;
    if (leaf.identity != nullptr) {
      // The same memory seen otherwise is another tensor.
      const auto same = std::ranges::find_if(leaves_, [&](const InputLeaf& other) {
        return other.identity == leaf.identity && other.sizes == leaf.sizes &&
               other.strides == leaf.strides && other.offset == leaf.offset;
      });
      first = static_cast<size_t>(same - leaves_.begin());
    }
    first_of_.push_back(first);
    for (const auto& [index, dim] : specs_[i].dims())
      if (index >= 0 && dim.kind() != DimKind::kNone)
        dims_.emplace(Place{i, static_cast<size_t>(index)}, dim);
    if (leaf.kind == InputLeaf::Kind::kTensor) {
      make_tensor(i);
    } else if (leaf.kind == InputLeaf::Kind::kInteger) {
      const bool is_dynamic = specs_[i].kind() == ShapeSpec::Kind::kHint &&
                              (specs_[i].dims()[0].second.kind() == DimKind::kAuto ||
                               specs_[i].dims()[0].second.kind() == DimKind::kDynamic);
      symbols_[i].value =
          is_dynamic ? env_.backed(leaf.source, leaf.value, {.is_size = false}) : SymInt(leaf.value);
    }
  }
  collect_relations();
}

std::string InputShapes::source(const Place& place) const {
  return fmt::format("{}.size()[{}]", leaves_[place.leaf].source, place.dim);
}

Expr InputShapes::size_at(const Place& place) const {
  return env_.replace(symbols_[place.leaf].sizes[place.dim].expr());
}

void InputShapes::make_tensor(size_t leaf) {
  const InputLeaf& input = leaves_[leaf];
  InputSymbols& result = symbols_[leaf];
  for (size_t d = 0; d < input.sizes.size(); ++d) {
    const auto said = dims_.find({leaf, d});
    const DimKind kind = said == dims_.end() ? DimKind::kNone : said->second.kind();
    if (is_named(said == dims_.end() ? Dim() : said->second) || kind == DimKind::kLiteral)
      names_.emplace(source({leaf, d}), said->second.name());
    if (first_of_[leaf] != leaf) continue;
    if (kind == DimKind::kNone || kind == DimKind::kStatic) {
      result.sizes.emplace_back(input.sizes[d]);
    } else if (kind == DimKind::kAuto || kind == DimKind::kDynamic) {
      result.sizes.push_back(env_.backed(source({leaf, d}), input.sizes[d]));
    } else {
      result.sizes.push_back(env_.backed(source({leaf, d}), input.sizes[d], {.range = said->second.range()}));
    }
  }
  if (first_of_[leaf] == leaf) {
    make_strides(leaf);
  } else {
    result = symbols_[first_of_[leaf]];
  }
}

// Strides from the smallest up: each is a literal, a product of a size and a stride before it, or, where
// hints let sizes change, a symbol.
void InputShapes::make_strides(size_t leaf) {
  const InputLeaf& input = leaves_[leaf];
  InputSymbols& result = symbols_[leaf];
  const size_t rank = input.sizes.size();
  bool is_static = true;
  for (size_t d = 0; d < rank; ++d) {
    const auto said = dims_.find({leaf, d});
    if (said == dims_.end()) continue;
    if (said->second.kind() == DimKind::kAuto || said->second.kind() == DimKind::kDynamic) is_static = false;
  }
  std::vector<int64_t> strides = input.strides;
  if (strides.size() != rank) {
    strides.assign(rank, 1);
    for (size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * std::max<int64_t>(input.sizes[d], 1);
  }
  std::vector<size_t> order;
  for (size_t d = rank; d-- > 0;) order.push_back(d);
  std::ranges::stable_sort(order, {}, [&](size_t d) { return strides[d]; });
  std::map<int64_t, SymInt> candidates;
  result.strides.resize(rank);
  for (const size_t d : order) {
    const int64_t stride = strides[d];
    const bool continues = d + 1 < rank && stride == input.sizes[d + 1] * strides[d + 1];
    SymInt& symbol = result.strides[d];
    if ((stride == 0 || stride == 1) && !continues) {
      symbol = stride;
    } else if (const auto found = candidates.find(stride); found != candidates.end()) {
      symbol = found->second;
    } else if (is_static) {
      symbol = stride;
    } else {
      symbol = env_.backed(fmt::format("{}.stride()[{}]", input.source, d), stride, {.shares = true});
    }
    candidates.insert_or_assign(input.sizes[d] * stride, result.sizes[d] * symbol);
  }
  result.offset = is_static ? SymInt(input.offset)
                            : env_.backed(input.source + ".storage_offset()", input.offset, {.shares = true});
}

// What the names say about sizes: the same name, the same size; a derived name, a function of its root's.
void InputShapes::collect_relations() {
  std::vector<std::pair<std::string, std::vector<Place>>> by_name;
  for (const auto& [place, dim] : dims_) {
    if (dim.is_hint()) {
      relaxed_.push_back(source(place));
      continue;
    }
    auto entry = std::ranges::find(by_name, dim.name(), [](const auto& item) { return item.first; });
    if (entry == by_name.end()) entry = by_name.insert(by_name.end(), {dim.name(), {}});
    entry->second.push_back(place);
  }
  std::map<std::string, Expr> phantoms;
  for (const auto& [name, places] : by_name) {
    for (const Place& place : places) {
      const size_t first = first_of_[place.leaf];
      if (first != place.leaf) pairs_.emplace_back(Place{first, place.dim}, place);
      const Dim& dim = dims_.at(place);
      if (dim.kind() != DimKind::kDerived) {
        if (!(place == places[0])) pairs_.emplace_back(place, places[0]);
        continue;
      }
      Relation relation{.place = place, .root = {}, .phantom = {}, .dim = dim};
      const auto root =
          std::ranges::find(by_name, dim.root_name(), [](const auto& item) { return item.first; });
      const int64_t size = leaves_[place.leaf].sizes[place.dim];
      const std::optional<int64_t> value = dim.solve_root(size);
      if (root != by_name.end()) {
        relation.root = root->second[0];
      } else if (const auto known = phantoms.find(dim.root_name()); known != phantoms.end()) {
        relation.phantom = known->second;
      } else {
        if (!value) {
          throw Error(ErrorCode::kInvalidArgument,
                      fmt::format("{} is {} in the example, which is not {} for any {}", source(place), size,
                                  dim.name(), dim.root_name()),
                      "Export with an example that has such a size, or say something else of the dimension");
        }
        // No size itself, so nothing is lost when it starts at 1: 6*a of an example with 6.
        relation.phantom =
            env_.backed(dim.root_name(), *value, {.range = dim.root().range(), .takes_one = true}).expr();
        phantoms.emplace(dim.root_name(), *relation.phantom);
        if (relation.phantom->is_symbol()) phantoms_.push_back(*relation.phantom);
      }
      relations_.push_back(std::move(relation));
    }
  }
  for (const auto& [a, b] : pairs_) {
    const std::string left = find_parent(source(a));
    const std::string right = find_parent(source(b));
    if (left != right) parents_.insert_or_assign(left, right);
  }
  for (const Relation& relation : relations_) {
    const Expr root = relation.root ? definition(source(*relation.root)) : *relation.phantom;
    definitions_.insert_or_assign(find_parent(source(relation.place)), relation.dim.apply(root));
  }
}

std::string InputShapes::find_parent(std::string name) const {
  for (auto found = parents_.find(name); found != parents_.end(); found = parents_.find(name))
    name = found->second;
  return name;
}

Expr InputShapes::definition(const std::string& name) const {
  const std::string parent = find_parent(name);
  const auto found = definitions_.find(parent);
  return found == definitions_.end() ? symbolic::symbol(parent, {}) : found->second;
}

bool InputShapes::is_said_equal(const std::string& a, const std::string& b) const {
  const std::string left = find_parent(a);
  const std::string right = find_parent(b);
  const auto is_relaxed = [&](const std::string& name) {
    return std::ranges::find(relaxed_, name) != relaxed_.end();
  };
  return left == right || is_relaxed(left) || is_relaxed(right) || definition(a) == definition(b);
}

std::string InputShapes::name_of(const std::string& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? name : found->second;
}

std::string ShapeFinding::to_string() const {
  const std::string subject = name == source ? source : fmt::format("{} = {}", name, source);
  const std::string line = where.empty() ? "" : fmt::format(" ({})", where);
  switch (kind) {
    case Kind::kSpecialized:
      return fmt::format("{} was marked dynamic, but the trace needs it to be {}{}", subject, detail, line);
    case Kind::kEqual:
      return fmt::format("{} and {} = {} have to be equal{}", subject, detail, other_source, line);
    case Kind::kRelated:
      return fmt::format("{} has to be {}, by {}{}", subject, detail, other_source, line);
    case Kind::kForced:
      return fmt::format("the guards together leave {} for {}{}", detail, subject, line);
    case Kind::kGuard:
      break;
  }
  return fmt::format("not every size given for {} satisfies {}{}", subject, detail, line);
}

}  // namespace flambeau::trace
