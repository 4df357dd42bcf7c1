#include "flambeau/shapes/dynamic_shapes.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"
#include "flambeau/symbolic/ranges/value_range.h"

namespace flambeau::trace {
namespace {

using SpecKind = ShapeSpec::Kind;

[[noreturn]] void refuse(std::string message, std::string remedy) {
  throw Error(ErrorCode::kInvalidArgument, std::move(message), std::move(remedy));
}

bool is_dict(TreeKind kind) {
  return kind == TreeKind::kDict || kind == TreeKind::kOrderedDict || kind == TreeKind::kDefaultDict ||
         kind == TreeKind::kImmutableDict;
}

std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", name);
  return "[" + text + "]";
}

// Fits specs to arguments and collects the spec of every leaf.
class Resolver {
 public:
  explicit Resolver(std::vector<ShapeSpec>& result) : result_(result) {}

  void fit(const InputArgument& argument, const ShapeSpec& spec) {
    leaves_ = argument.leaves;
    fit(argument.spec, spec, fmt::format("['{}']", argument.name));
  }

 private:
  void fit(const TreeSpec& tree, const ShapeSpec& spec, const std::string& path) {
    if (tree.is_leaf()) {
      if (leaves_.empty()) throw Error(ErrorCode::kInternal, "an argument has fewer leaves than its tree");
      check_leaf(leaves_[0], spec, path);
      leaves_ = leaves_.subspan(1);
      result_.push_back(spec);
      return;
    }
    const bool wants_dict = is_dict(tree.kind());
    const bool has_items = spec.kind() == ShapeSpec::Kind::kList || spec.kind() == ShapeSpec::Kind::kTuple ||
                           spec.kind() == ShapeSpec::Kind::kDict;
    const bool wants_list = tree.kind() == TreeKind::kList;
    const bool wants_tuple = tree.kind() == TreeKind::kTuple;
    const bool same = wants_dict    ? spec.kind() == ShapeSpec::Kind::kDict
                      : wants_list  ? spec.kind() == ShapeSpec::Kind::kList
                      : wants_tuple ? spec.kind() == ShapeSpec::Kind::kTuple
                                    : has_items;
    if (!same) {
      refuse(fmt::format("the argument at inputs{} is a {}, but the shapes given for it are {}", path,
                         type_text(tree), spec.to_string()),
             "Give a container of the same kind, with None for what is static");
    }
    if (spec.items().size() != tree.children().size()) {
      refuse(fmt::format("the argument at inputs{} has {} elements, but the shapes given for it have {}",
                         path, tree.children().size(), spec.items().size()),
             "Give one for each element, None for what is static");
    }
    for (size_t i = 0; i < tree.children().size(); ++i) {
      const std::string below = path + tree.child_path(i);
      fit(tree.child(i),
          spec.kind() == ShapeSpec::Kind::kDict ? by_key(tree, spec, i, path) : spec.items()[i].second,
          below);
    }
  }

  static std::string type_text(const TreeSpec& tree) {
    const std::string_view name = tree.type_name();
    return std::string(name.substr(name.rfind('.') + 1));
  }

  static const ShapeSpec& by_key(const TreeSpec& tree, const ShapeSpec& spec, size_t index,
                                 const std::string& path) {
    for (const auto& [key, item] : spec.items())
      if (tree.find(key) == &tree.child(index)) return item;
    std::vector<std::string> keys;
    for (const auto& item : spec.items()) keys.push_back(item.first);
    refuse(fmt::format("the shapes given for inputs{} have keys {}, and none for {}", path, names_text(keys),
                       tree.child_path(index)),
           "Give the keys that the argument has, with None for what is static");
  }

  void check_leaf(const InputLeaf& leaf, const ShapeSpec& spec, const std::string& path) {
    if (spec.kind() == SpecKind::kNone) return;
    if (leaf.kind == InputLeaf::Kind::kOther) {
      refuse(fmt::format("shapes {} are given for inputs{}, which is no tensor{}", spec.to_string(), path,
                         leaf.type.empty() ? "" : " but " + leaf.type),
             "Give None there");
    }
    if (leaf.kind == InputLeaf::Kind::kInteger) {
      if (spec.kind() == SpecKind::kHint &&
          (spec.dims()[0].second.is_hint() || spec.dims()[0].second.kind() == DimKind::kLiteral))
        return;
      refuse(fmt::format("inputs{} is an integer, and {} is given for it", path, spec.to_string()),
             "Give Dim::AUTO, Dim::DYNAMIC or None: names are for the dimensions of tensors");
    }
    if (spec.kind() != SpecKind::kDims && spec.kind() != SpecKind::kShape) {
      refuse(fmt::format("{} is given for the tensor inputs{}", spec.to_string(), path),
             "Give one Dim for each dimension, or a map from index to Dim");
    }
    const size_t rank = leaf.sizes.size();
    if (spec.kind() == SpecKind::kShape && spec.dims().size() != rank) {
      refuse(fmt::format("{} dimensions are given for inputs{}, which has {}: {}", spec.dims().size(), path,
                         rank, spec.to_string()),
             "Give one for each dimension, or a map from index to Dim");
    }
    for (const auto& [index, dim] : spec.dims()) {
      if (index < 0 || index >= static_cast<int64_t>(rank)) {
        refuse(fmt::format("dimension {} is given for inputs{}, which has {}", index, path, rank),
               "Count dimensions from 0");
      }
      if (dim.kind() == DimKind::kNamed || dim.kind() == DimKind::kDerived) check_bounds(dim);
    }
  }

  void check_bounds(const Dim& dim) {
    const symbolic::ValueRange range = dim.range();
    for (const Dim& other : named_) {
      if (other.name() != dim.name()) continue;
      if (other.range() == range) return;
      refuse(fmt::format("the dimension {} is defined twice: as {} and as {}", dim.name(),
                         Dim(other.root()).to_string(), Dim(dim.root()).to_string()),
             "Define it once and use that Dim everywhere");
    }
    named_.push_back(dim);
  }

  std::vector<ShapeSpec>& result_;
  std::span<const InputLeaf> leaves_;
  std::vector<Dim> named_;
};

}  // namespace

ShapeSpec::ShapeSpec(std::initializer_list<std::pair<int64_t, Dim>> dims)
    : ShapeSpec(std::map<int64_t, Dim>(dims.begin(), dims.end())) {}

ShapeSpec::ShapeSpec(std::map<int64_t, Dim> dims) : kind_(SpecKind::kDims), dims_(dims.begin(), dims.end()) {}
ShapeSpec::ShapeSpec(std::vector<Dim> shape) : kind_(SpecKind::kShape) {
  for (Dim& dim : shape) dims_.emplace_back(static_cast<int64_t>(dims_.size()), std::move(dim));
}
ShapeSpec::ShapeSpec(const DimHint& hint) : ShapeSpec(Dim(hint)) {}
ShapeSpec::ShapeSpec(const Dim& dim) : kind_(SpecKind::kHint), dims_{{-1, dim}} {}

ShapeSpec ShapeSpec::list(std::vector<ShapeSpec> items) {
  ShapeSpec result = tuple(std::move(items));
  result.kind_ = SpecKind::kList;
  return result;
}

ShapeSpec ShapeSpec::tuple(std::vector<ShapeSpec> items) {
  ShapeSpec result;
  result.kind_ = SpecKind::kTuple;
  for (ShapeSpec& item : items) result.items_.emplace_back(std::string(), std::move(item));
  return result;
}

ShapeSpec ShapeSpec::dict(std::vector<std::pair<std::string, ShapeSpec>> items) {
  ShapeSpec result;
  result.kind_ = SpecKind::kDict;
  result.items_ = std::move(items);
  return result;
}

std::string ShapeSpec::to_string() const {
  if (kind_ == SpecKind::kNone) return "None";
  if (kind_ == SpecKind::kHint) return dims_[0].second.to_string();
  std::string text;
  const auto separate = [&] { text += text.empty() ? "" : ", "; };
  for (const auto& [index, dim] : dims_) {
    separate();
    if (kind_ == SpecKind::kDims) text += fmt::format("{}: ", index);
    text += dim.to_string();
  }
  for (const auto& [key, item] : items_) {
    separate();
    if (kind_ == SpecKind::kDict) text += fmt::format("'{}': ", key);
    text += item.to_string();
  }
  if (kind_ == SpecKind::kDims || kind_ == SpecKind::kDict) return "{" + text + "}";
  return kind_ == SpecKind::kList ? "[" + text + "]" : "(" + text + ")";
}

void name_leaves(std::vector<InputArgument>& arguments) {
  for (InputArgument& argument : arguments) {
    size_t index = 0;
    visit_leaf_paths(argument.spec, fmt::format("['{}']", argument.name), [&](std::string_view path) {
      if (index >= argument.leaves.size()) return;
      argument.leaves[index].path = path;
      argument.leaves[index++].source = fmt::format("L{}", path);
    });
  }
}

void ShapesCollection::set(const void* identity, ShapeSpec spec) {
  if (const ShapeSpec* found = find(identity)) {
    if (found->to_string() == spec.to_string()) return;
    refuse(fmt::format("a tensor is given the shapes {}, but has {} already", spec.to_string(),
                       found->to_string()),
           "Give each tensor its shapes once");
  }
  shapes_.emplace_back(identity, std::move(spec));
}

const ShapeSpec* ShapesCollection::find(const void* identity) const {
  const auto found = std::ranges::find(shapes_, identity, [](const auto& entry) { return entry.first; });
  return found == shapes_.end() ? nullptr : &found->second;
}

DynamicShapes DynamicShapes::by_name(std::vector<std::pair<std::string, ShapeSpec>> specs) {
  DynamicShapes result;
  result.form_ = Form::kByName;
  result.specs_ = std::move(specs);
  return result;
}

DynamicShapes DynamicShapes::by_position(std::vector<ShapeSpec> specs) {
  DynamicShapes result;
  result.form_ = Form::kByPosition;
  for (ShapeSpec& spec : specs) result.specs_.emplace_back(std::string(), std::move(spec));
  return result;
}

DynamicShapes DynamicShapes::of(ShapesCollection collection) {
  DynamicShapes result;
  result.form_ = Form::kCollection;
  result.collection_ = std::move(collection);
  return result;
}

bool DynamicShapes::is_empty() const {
  return form_ == Form::kEmpty || (form_ != Form::kCollection && specs_.empty());
}

std::vector<ShapeSpec> DynamicShapes::resolve(std::span<const InputArgument> arguments) const {
  std::vector<ShapeSpec> result;
  if (is_empty()) {
    for (const InputArgument& argument : arguments) result.resize(result.size() + argument.leaves.size());
    return result;
  }
  if (form_ == Form::kCollection) {
    size_t used = 0;
    std::vector<const void*> seen;
    Resolver resolver(result);
    for (const InputArgument& argument : arguments) {
      for (const InputLeaf& leaf : argument.leaves) {
        const ShapeSpec* spec = leaf.identity == nullptr ? nullptr : collection_.find(leaf.identity);
        resolver.fit({.name = argument.name, .spec = TreeSpec(), .leaves = {leaf}},
                     spec == nullptr ? ShapeSpec() : *spec);
        if (spec == nullptr || std::ranges::find(seen, leaf.identity) != seen.end()) continue;
        seen.push_back(leaf.identity);
        ++used;
      }
    }
    if (used != collection_.size()) {
      refuse(fmt::format("of {} tensors that were given shapes, {} are among the arguments",
                         collection_.size(), used),
             "Pass the very tensors that were given shapes, not copies");
    }
    return result;
  }
  std::vector<std::string> wanted;
  for (const InputArgument& argument : arguments) wanted.push_back(argument.name);
  Resolver resolver(result);
  if (form_ == Form::kByPosition) {
    if (specs_.size() != arguments.size()) {
      refuse(fmt::format("shapes are given for {} arguments, but there are {}: {}", specs_.size(),
                         arguments.size(), names_text(wanted)),
             "Give one for each argument, None for what is static");
    }
    for (size_t i = 0; i < specs_.size(); ++i) resolver.fit(arguments[i], specs_[i].second);
    return result;
  }
  std::vector<std::string> found;
  found.reserve(specs_.size());
  for (const auto& spec : specs_) found.push_back(spec.first);
  std::vector<std::string> sorted_found = found;
  std::vector<std::string> sorted_wanted = wanted;
  std::ranges::sort(sorted_found);
  std::ranges::sort(sorted_wanted);
  if (sorted_found != sorted_wanted) {
    refuse(fmt::format("shapes are given for the arguments {}, but the arguments are {}", names_text(found),
                       names_text(wanted)),
           arguments.size() == 1 && is_dict(arguments[0].spec.kind())
               ? "Give the shapes by position: the one argument is a dict, and these look like its keys"
               : "Name every argument, with None for what is static, or give the shapes by position");
  }
  for (const InputArgument& argument : arguments) {
    const auto spec = std::ranges::find(specs_, argument.name, [](const auto& entry) { return entry.first; });
    resolver.fit(argument, spec->second);
  }
  return result;
}

DynamicShapes DynamicShapes::with(std::vector<std::pair<std::string, ShapeSpec>> more) const {
  DynamicShapes result = *this;
  if (result.form_ == Form::kEmpty) result.form_ = Form::kByName;
  for (auto& [name, spec] : more)
    result.specs_.emplace_back(form_ == Form::kByPosition ? std::string() : std::move(name), std::move(spec));
  return result;
}

DynamicShapes DynamicShapes::of_examples(std::span<const InputArgument> example,
                                         std::span<const std::vector<InputArgument>> others) {
  std::vector<ShapeSpec> leaves;
  const auto differs = [](const InputLeaf& leaf, const char* how) {
    refuse(fmt::format("the examples differ in {} of inputs{}", how, leaf.path),
           "Only the sizes of tensors and integers may differ");
  };
  size_t argument_index = 0;
  std::vector<std::pair<std::string, ShapeSpec>> specs;
  for (const InputArgument& argument : example) {
    std::vector<ShapeSpec> found;
    for (size_t i = 0; i < argument.leaves.size(); ++i) {
      const InputLeaf& leaf = argument.leaves[i];
      std::map<int64_t, Dim> dims;
      bool is_dynamic = false;
      for (const std::vector<InputArgument>& other_arguments : others) {
        if (argument_index >= other_arguments.size() ||
            !(other_arguments[argument_index].spec == argument.spec))
          differs(leaf, "the containers");
        const InputLeaf& other = other_arguments[argument_index].leaves[i];
        if (other.kind != leaf.kind) differs(leaf, "the type");
        if (other.sizes.size() != leaf.sizes.size()) differs(leaf, "the number of dimensions");
        is_dynamic = is_dynamic || other.value != leaf.value;
        for (size_t d = 0; d < leaf.sizes.size(); ++d)
          if (other.sizes[d] != leaf.sizes[d]) dims.insert_or_assign(static_cast<int64_t>(d), Dim::DYNAMIC);
      }
      found.push_back(!dims.empty() ? ShapeSpec(std::move(dims))
                      : is_dynamic  ? ShapeSpec(Dim::DYNAMIC)
                                    : ShapeSpec());
    }
    size_t next = 0;
    const std::function<ShapeSpec(const TreeSpec&)> build = [&](const TreeSpec& tree) {
      if (tree.is_leaf()) return found[next++];
      std::vector<std::pair<std::string, ShapeSpec>> items;
      for (size_t i = 0; i < tree.children().size(); ++i) {
        std::string path = tree.child_path(i);
        items.emplace_back(is_dict(tree.kind()) && path.size() > 4 ? path.substr(2, path.size() - 4) : "",
                           build(tree.child(i)));
      }
      if (is_dict(tree.kind())) return ShapeSpec::dict(std::move(items));
      std::vector<ShapeSpec> values;
      values.reserve(items.size());
      for (auto& item : items) values.push_back(std::move(item.second));
      return tree.kind() == TreeKind::kList ? ShapeSpec::list(std::move(values))
                                            : ShapeSpec::tuple(std::move(values));
    };
    specs.emplace_back(argument.name, build(argument.spec));
    ++argument_index;
  }
  return by_name(std::move(specs));
}

}  // namespace flambeau::trace
