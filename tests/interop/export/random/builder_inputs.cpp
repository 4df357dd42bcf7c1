// What a random module is called with: dimensions, tensors, numbers, and what is said of their shapes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "builder.h"

namespace flambeau::random_modules {
namespace {

// Whether one size is a small multiple of the other and a little, at all of them: steps would take such sizes
// for equal that are not.
bool are_related(const SizeOf& a, const SizeOf& b) {
  for (int64_t factor = 1; factor <= 4; ++factor) {
    const auto rest = [&](size_t i) { return a[i] - factor * b[i]; };
    if (rest(0) == rest(1) && rest(0) == rest(2)) return true;
  }
  return false;
}

}  // namespace

void Builder::make_roots() {
  using trace::DimKind;
  constexpr DimKind kKinds[] = {DimKind::kNamed, DimKind::kNamed, DimKind::kAuto, DimKind::kDynamic};
  const auto count = static_cast<size_t>(random.between(1, 3));
  while (roots_.size() < count) {
    Root root{.kind = random.choose(kKinds), .name = fmt::format("d{}", roots_.size())};
    const int64_t least = random.between(2, 4);
    root.sizes = {least, least + random.between(1, 5), least + random.between(1, 8)};
    if (least > 2 || random.chance(30)) root.min = least;
    if (random.chance(50)) root.max = 64;
    const bool is_apart =
        root.sizes[1] != root.sizes[2] && std::ranges::none_of(roots_, [&](const Root& other) {
          return are_related(root.sizes, other.sizes) || are_related(other.sizes, root.sizes);
        });
    if (is_apart) roots_.push_back(root);
  }
}

InputDim Builder::make_dim() {
  constexpr int64_t kSizes[] = {1, 2, 3, 4, 4, 6, 8};
  if (random.chance(45)) return {.root = nullptr, .offset = random.choose(kSizes)};
  InputDim dim{.root = &random.choose(roots_)};
  // PyTorch solves 3*d + 2 and 2*d for each other in rounded fractions where d itself is no dimension.
  const bool has_root = std::ranges::any_of(input_dims_, [&](const auto& dims) {
    return std::ranges::any_of(dims, [&](const InputDim& other) {
      return other.root == dim.root && other.factor == 1 && other.offset == 0;
    });
  });
  if (has_root && random.chance(30)) dim.factor = random.between(2, 3);
  if (random.chance(15)) dim.offset = random.between(1, 2);
  return dim;
}

Tensor Builder::make_input(DType dtype, const std::vector<InputDim>& dims, size_t at) {
  nn::Sizes sizes_at;
  for (const InputDim& dim : dims) sizes_at.push_back(dim.size(at));
  if (dtype == DType::kInt64) return nn::randint(0, 6, sizes_at);
  if (dtype == DType::kBool) return nn::gt(nn::rand(sizes_at), 0.5);
  return nn::randn(sizes_at);
}

void Builder::add_number() {
  const Root& root = random.choose(roots_);
  const int64_t number = random.between(2, 5);
  const bool varies = root.kind != trace::DimKind::kNamed && random.chance(60);
  numbers_.push_back({varies ? &root : nullptr, varies ? root.sizes : SizeOf{number, number, number}});
}

void Builder::add_tensor() {
  std::vector<InputDim> dims;
  // Often of the same shape as another one, so that there is something to add it to.
  if (!input_dims_.empty() && random.chance(35)) {
    dims = random.choose(input_dims_);
  } else {
    for (int64_t left = random.between(input_dims_.empty() ? 2 : 1, 4); left > 0; --left)
      dims.push_back(make_dim());
  }
  const DType type = input_dims_.empty() || random.chance(70) ? DType::kFloat32
                     : random.chance(80)                      ? DType::kInt64
                                                              : DType::kBool;
  for (size_t i = 0; i < kSizeCount; ++i) {
    const Tensor given = make_input(type, dims, i);
    const Tensor other = copy_of(given);
    if (type == DType::kFloat32) nn::add_(other, nn::mul(nn::randn_like(other), kNoise));
    environments_[i].inputs.push_back(given);
    environments_[kSizeCount + i].inputs.push_back(other);
  }
  input_dims_.push_back(std::move(dims));
}

void Builder::add_argument(const std::string& name) {
  Argument argument{.name = name};
  if (random.chance(12)) {
    argument.is_number = true;
    add_number();
  } else {
    if (random.chance(25)) {
      argument.container = static_cast<Container>(random.between(1, 3));
      argument.count = static_cast<size_t>(random.between(1, 3));
    }
    for (size_t leaf = 0; leaf < argument.count; ++leaf) add_tensor();
  }
  module_->arguments.push_back(argument);
}

void Builder::make_arguments() {
  environments_.resize(2 * kSizeCount);
  for (size_t i = 0; i < environments_.size(); ++i) environments_[i].at = i % kSizeCount;
  const int64_t count = random.between(1, 4);
  for (int64_t i = 0; i < count || input_dims_.empty(); ++i) add_argument(fmt::format("x{}", i));
  module_->value_count = input_dims_.size();
  replay();
}

trace::Dim Builder::dim_of(const InputDim& dim, bool names) const {
  if (dim.root == nullptr) return {};
  if (!names && dim.root->kind == trace::DimKind::kNamed) return trace::Dim::AUTO;
  const trace::Bounds bounds{.min = dim.root->min, .max = dim.root->max};
  if (dim.root->kind == trace::DimKind::kNamed)
    return trace::Dim(dim.root->name, bounds) * dim.factor + dim.offset;
  return dim.root->kind == trace::DimKind::kAuto ? trace::Dim::AUTO : trace::Dim::DYNAMIC;
}

ExportOptions Builder::options(bool names) const {
  std::vector<std::pair<std::string, ShapeSpec>> specs;
  size_t tensor = 0, number = 0;
  for (const Argument& argument : module_->arguments) {
    if (argument.is_number) {
      const Root* const root = numbers_[number++].root;
      specs.emplace_back(argument.name,
                         root == nullptr ? ShapeSpec() : ShapeSpec(dim_of({.root = root}, names)));
      continue;
    }
    std::vector<ShapeSpec> leaves;
    for (size_t leaf = 0; leaf < argument.count; ++leaf, ++tensor) {
      std::map<int64_t, trace::Dim> dims;
      for (size_t i = 0; i < input_dims_[tensor].size(); ++i) {
        if (input_dims_[tensor][i].root != nullptr)
          dims.emplace(static_cast<int64_t>(i), dim_of(input_dims_[tensor][i], names));
      }
      leaves.emplace_back(dims);
    }
    std::vector<std::pair<std::string, ShapeSpec>> members;
    for (size_t i = 0; i < leaves.size(); ++i) members.emplace_back(fmt::format("k{}", i), leaves[i]);
    specs.emplace_back(argument.name, argument.container == Container::kLeaf    ? leaves[0]
                                      : argument.container == Container::kTuple ? ShapeSpec::tuple(leaves)
                                      : argument.container == Container::kList  ? ShapeSpec::list(leaves)
                                                                                : ShapeSpec::dict(members));
  }
  return {.dynamic = DynamicShapes::by_name(std::move(specs))};
}

std::vector<nn::Tree> Builder::arguments_at(size_t at) const {
  std::vector<nn::Tree> trees;
  size_t tensor = 0, number = 0;
  for (const Argument& argument : module_->arguments) {
    std::vector<nn::Tree> leaves;
    for (size_t leaf = 0; leaf < argument.count; ++leaf)
      leaves.push_back(argument.is_number ? nn::to_tree(numbers_[number++].values[at])
                                          : nn::to_tree(environments_[at].inputs[tensor++]));
    trees.push_back(make_container(argument.container, leaves));
  }
  return trees;
}

std::string Builder::inputs_text() const {
  std::string text;
  size_t tensor = 0, number = 0;
  for (const Argument& argument : module_->arguments) {
    if (argument.is_number) {
      const NumberInput& input = numbers_[number++];
      text += fmt::format("  {} = n{}: int, {}{}\n", argument.name, number - 1,
                          fmt::join(input.values, " or "), input.root == nullptr ? "" : ", dynamic");
      continue;
    }
    constexpr const char* kNames[] = {"leaf", "tuple", "list", "dict"};
    for (size_t leaf = 0; leaf < argument.count; ++leaf, ++tensor) {
      std::vector<std::string> dims;
      for (const InputDim& dim : input_dims_[tensor])
        dims.push_back(
            dim.root == nullptr
                ? std::to_string(dim.offset)
                : fmt::format("{} ({})", dim_of(dim, true).to_string(),
                              fmt::join(std::array{dim.size(0), dim.size(1), dim.size(2)}, " or ")));
      text += fmt::format("  {} ({}) = v{}: {} [{}]\n", argument.name,
                          kNames[static_cast<size_t>(argument.container)], tensor, dtype_name(dtype(tensor)),
                          fmt::join(dims, ", "));
    }
  }
  return text;
}

}  // namespace flambeau::random_modules
