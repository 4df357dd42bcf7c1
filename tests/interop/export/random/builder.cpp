#include "builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "flambeau/error.h"
#include "flambeau/ops/overlap.h"
#include "flambeau/tensor.h"

namespace flambeau::random_modules {
namespace {

constexpr size_t kLeastSteps = 6, kMostSteps = 20;
constexpr int64_t kMostElements = 3000;
constexpr double kLargest = 10, kLargestInteger = 1e6;
constexpr double kNoise = 1e-4;     // of a twin's inputs
constexpr double kMostGrowth = 10;  // of the noise
constexpr double kLeastMargin = 1e-3;

std::vector<double> numbers_of(const Tensor& tensor) {
  const Tensor plain = convert(tensor.to_contiguous(), DType::kFloat64);
  const auto* const data = plain.data<double>();
  return {data, data + plain.element_count()};
}

Tensor copy_of(const Tensor& tensor) {
  Tensor copy = Tensor::zeros(tensor.dtype(), tensor.sizes());
  if (tensor.element_count() > 0) nn::copy_(copy, tensor);
  return copy;
}

// Whether one size is a small multiple of the other and a little, at all of them: steps would take such sizes
// for equal that are not.
bool are_related(const SizeOf& a, const SizeOf& b) {
  for (int64_t factor = 1; factor <= 4; ++factor) {
    const auto rest = [&](size_t i) { return a[i] - factor * b[i]; };
    if (rest(0) == rest(1) && rest(0) == rest(2)) return true;
  }
  return false;
}

bool is_float_type(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }
bool is_half_type(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

}  // namespace

uint64_t Random::next() {
  // SplitMix64.
  uint64_t x = state_ += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

Builder::Builder(uint64_t seed) : random(seed) {}

SizeOf Builder::sizes(size_t value, size_t dim) const {
  SizeOf sizes;
  for (size_t i = 0; i < kSizeCount; ++i) sizes[i] = environments_[i].values[value].sizes()[dim];
  return sizes;
}

bool Builder::is_static(size_t value, size_t dim) const {
  const SizeOf at = sizes(value, dim);
  return at[0] == at[1] && at[0] == at[2];
}

bool Builder::all_static(size_t value) const {
  for (size_t dim = 0; dim < rank(value); ++dim) {
    if (!is_static(value, dim)) return false;
  }
  return true;
}

bool Builder::same_shape(size_t a, size_t b) const {
  if (rank(a) != rank(b)) return false;
  for (size_t dim = 0; dim < rank(a); ++dim) {
    if (!same_size(a, dim, b, dim)) return false;
  }
  return true;
}

bool Builder::broadcasts(size_t a, size_t b) const {
  for (size_t back = 1; back <= std::min(rank(a), rank(b)); ++back) {
    const SizeOf x = sizes(a, rank(a) - back), y = sizes(b, rank(b) - back);
    if (x != y && x != SizeOf{1, 1, 1} && y != SizeOf{1, 1, 1}) return false;
  }
  return true;
}

bool Builder::is_float(size_t value) const { return is_float_type(dtype(value)); }

std::optional<size_t> Builder::pick(const std::function<bool(size_t)>& wanted) {
  std::vector<size_t> found;
  for (size_t value = 0; value < module_->value_count; ++value) {
    if (wanted(value)) found.push_back(value);
  }
  if (found.empty()) return std::nullopt;
  const double place = std::sqrt(random.uniform()) * static_cast<double>(found.size());
  return found[std::min(found.size() - 1, static_cast<size_t>(place))];
}

std::optional<size_t> Builder::pick_float(size_t least_rank, size_t most_rank) {
  return pick(
      [&](size_t value) { return is_float(value) && rank(value) >= least_rank && rank(value) <= most_rank; });
}
std::optional<size_t> Builder::pick_integer(size_t least_rank) {
  return pick([&](size_t value) { return dtype(value) == DType::kInt64 && rank(value) >= least_rank; });
}
std::optional<size_t> Builder::pick_bool() {
  return pick([&](size_t value) { return dtype(value) == DType::kBool; });
}

size_t Builder::parameter(std::initializer_list<int64_t> sizes) {
  const Dims wanted(sizes);
  // Tied to one that is there already.
  for (const Tensor& other : module_->parameters) {
    if (std::ranges::equal(other.sizes(), wanted) && random.chance(50)) {
      module_->parameters.push_back(other);
      return module_->parameters.size() - 1;
    }
  }
  Tensor tensor = nn::init::empty(wanted);
  const int64_t fan = wanted.size() < 2 ? 1 : tensor.element_count() / wanted[0];
  nn::init::normal_(tensor, 0, 1 / std::sqrt(static_cast<double>(fan)));
  module_->parameters.push_back(tensor);
  return module_->parameters.size() - 1;
}

size_t Builder::buffer(std::initializer_list<int64_t> sizes) {
  Tensor tensor = nn::init::empty(Dims(sizes));
  nn::init::normal_(tensor);
  module_->buffers.push_back(tensor);
  module_->is_persistent.push_back(random.chance(70));
  initial_buffers_.push_back(copy_of(tensor));
  for (Environment& environment : environments_) environment.buffers.push_back(copy_of(tensor));
  return module_->buffers.size() - 1;
}

size_t Builder::layer(std::string text, std::shared_ptr<nn::Module> module) {
  module->eval();
  module_->layers.push_back(std::move(module));
  module_->layer_texts.push_back(std::move(text));
  return module_->layers.size() - 1;
}

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

void Builder::add_argument(const std::string& name) {
  Argument argument{.name = name};
  if (random.chance(12)) {
    argument.is_number = true;
    const Root* const root = random.chance(60) ? &random.choose(roots_) : nullptr;
    const int64_t number = random.between(2, 5);
    const bool varies = root != nullptr && root->kind != trace::DimKind::kNamed;
    numbers_.push_back({varies ? root : nullptr, varies ? root->sizes : SizeOf{number, number, number}});
    module_->arguments.push_back(argument);
    return;
  }
  if (random.chance(25)) {
    argument.container = static_cast<Container>(random.between(1, 3));
    argument.count = static_cast<size_t>(random.between(1, 3));
  }
  for (size_t leaf = 0; leaf < argument.count; ++leaf) {
    std::vector<InputDim> dims;
    // Often of the same shape as another one, so that there is something to add it to.
    if (!input_dims_.empty() && random.chance(35)) {
      dims = random.choose(input_dims_);
    } else {
      for (int64_t rank = random.between(input_dims_.empty() ? 2 : 1, 4); rank > 0; --rank)
        dims.push_back(make_dim());
    }
    const DType dtype = input_dims_.empty() || random.chance(70) ? DType::kFloat32
                        : random.chance(80)                      ? DType::kInt64
                                                                 : DType::kBool;
    for (Environment& environment : environments_) {
      if (&environment - environments_.data() >= static_cast<ptrdiff_t>(kSizeCount)) continue;
      environment.inputs.push_back(make_input(dtype, dims, environment.at));
    }
    for (size_t i = 0; i < kSizeCount; ++i) {
      Tensor other = copy_of(environments_[i].inputs.back());
      if (is_float_type(dtype)) nn::add_(other, nn::mul(nn::randn_like(other), kNoise));
      environments_[kSizeCount + i].inputs.push_back(other);
    }
    input_dims_.push_back(std::move(dims));
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

TensorList Builder::run_step(Environment& environment, const Run& run, const std::vector<size_t>& inputs) {
  for (size_t i = 0; i < module_->buffers.size(); ++i) module_->buffers[i] = environment.buffers[i];
  Frame frame{*module_, {}};
  for (const NumberInput& number : numbers_) frame.numbers.emplace_back(number.values[environment.at]);
  TensorList given;
  for (const size_t input : inputs) given.push_back(environment.values[input]);
  return run(frame, given);
}

// Everything again from the inputs on, as a refused step may have written to anything.
void Builder::replay() {
  for (Environment& environment : environments_) {
    environment.values.clear();
    for (const Tensor& input : environment.inputs) environment.values.push_back(copy_of(input));
    environment.buffers.clear();
    for (const Tensor& initial : initial_buffers_) environment.buffers.push_back(copy_of(initial));
    for (const Step& step : module_->steps) {
      const TensorList results = run_step(environment, step.run, step.inputs);
      environment.values.insert(environment.values.end(), results.begin(), results.end());
    }
  }
}

bool Builder::is_fit(const std::vector<TensorList>& results) const {
  const TensorList& example = results[kExample];
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].size() != example.size()) return false;
    for (size_t k = 0; k < example.size(); ++k) {
      const Tensor& value = results[i][k];
      if (value.dim() != example[k].dim() || value.dtype() != example[k].dtype()) return false;
      if (value.dim() > 5 || value.element_count() > kMostElements) return false;
      for (size_t dim = 0; dim < value.dim(); ++dim) {
        // A size that varies must never be 0 or 1, which programs treat apart.
        const bool varies = results[0][k].sizes()[dim] != value.sizes()[dim] ||
                            results[1][k].sizes()[dim] != value.sizes()[dim];
        if (value.sizes()[dim] < 1) return false;
        if (varies && std::min(value.sizes()[dim], results[0][k].sizes()[dim]) < 2) return false;
      }
      const double largest =
          is_float_type(value.dtype()) || is_half_type(value.dtype()) ? kLargest : kLargestInteger;
      const std::vector<double> numbers = numbers_of(value);
      for (const double number : numbers) {
        if (!(std::abs(number) <= largest)) return false;
      }
      if (i < kSizeCount || is_half_type(value.dtype())) continue;
      const std::vector<double> base = numbers_of(results[i - kSizeCount][k]);
      const double most = is_float_type(value.dtype()) ? kNoise * kMostGrowth : 0;
      for (size_t n = 0; n < numbers.size(); ++n) {
        if (std::abs(numbers[n] - base[n]) > most) return false;
      }
    }
  }
  return true;
}

bool Builder::is_far(const Proposal& proposal) const {
  for (size_t i = 0; proposal.margin && i < kSizeCount; ++i) {
    TensorList given;
    for (const size_t input : proposal.inputs) given.push_back(environments_[i].values[input]);
    for (const double number : numbers_of(proposal.margin(given))) {
      if (std::abs(number) < kLeastMargin) return false;
    }
  }
  return true;
}

bool Builder::is_writable(size_t value) const {
  const bool is_parameter = std::ranges::any_of(module_->parameters, [&](const Tensor& parameter) {
    return parameter.storage() == value_at(value).storage();
  });
  return !is_parameter && std::ranges::none_of(environments_, [&](const Environment& environment) {
    return ops::has_internal_overlap(environment.values[value]);
  });
}

bool Builder::accept(const Proposal& proposal) {
  for (const size_t input : proposal.inputs) {
    if (proposal.writes && !is_writable(input)) return false;
  }
  std::vector<TensorList> results;
  try {
    if (!is_far(proposal)) return false;
    for (Environment& environment : environments_)
      results.push_back(run_step(environment, proposal.run, proposal.inputs));
    if (!is_fit(results)) return false;
    if (proposal.writes) {
      // What was there before may have changed too.
      std::vector<TensorList> all;
      for (const Environment& environment : environments_) all.push_back(environment.values);
      if (!is_fit(all)) return false;
    }
  } catch (const Error&) {
    return false;  // the operators do not take it
  }
  Step step{.text = {}, .inputs = proposal.inputs, .outputs = {}, .run = proposal.run};
  for (size_t i = 0; i < proposal.text.size(); ++i) {
    if (proposal.text[i] != '$') {
      step.text += proposal.text[i];
      continue;
    }
    ++i;
    step.text += fmt::format("v{}", proposal.inputs.at(static_cast<size_t>(proposal.text.at(i) - '0')));
  }
  for (size_t i = 0; i < environments_.size(); ++i)
    environments_[i].values.insert(environments_[i].values.end(), results[i].begin(), results[i].end());
  for (size_t k = 0; k < results[0].size(); ++k) step.outputs.push_back(module_->value_count++);
  module_->steps.push_back(std::move(step));
  return true;
}

bool Builder::propose(Maker maker) {
  const size_t parameters = module_->parameters.size();
  const size_t buffers = module_->buffers.size();
  const size_t layers = module_->layers.size();
  const std::optional<Proposal> proposal = maker(*this);
  if (proposal && accept(*proposal)) return true;
  module_->parameters.resize(parameters);
  module_->buffers.resize(buffers);
  module_->is_persistent.resize(buffers);
  initial_buffers_.resize(buffers);
  module_->layers.resize(layers);
  module_->layer_texts.resize(layers);
  for (Environment& environment : environments_) environment.buffers.resize(buffers);
  if (proposal && proposal->writes) replay();
  return false;
}

void Builder::make_outputs() {
  std::vector<bool> is_used(module_->value_count, false);
  for (const Step& step : module_->steps) {
    for (const size_t input : step.inputs) is_used[input] = true;
  }
  for (size_t value = input_dims_.size(); value < module_->value_count; ++value) {
    if (!is_used[value]) module_->outputs.push_back({.value = value});
  }
  // An argument as it is.
  if (random.chance(8)) module_->outputs.push_back({.value = 0});
  if (random.chance(15)) {
    const size_t value = *pick([&](size_t at) { return rank(at) > 0; });
    module_->outputs.push_back(
        {.value = value, .dim = static_cast<int64_t>(pick_dim(value)), .factor = random.between(1, 3)});
  }
  if (module_->outputs.size() > 1 || random.chance(30))
    module_->output_container = static_cast<Container>(random.between(1, 3));
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
  return {.dynamic_shapes = DynamicShapes::by_name(std::move(specs))};
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

Case Builder::build() {
  make_roots();
  make_arguments();
  const std::span<const Maker> groups[] = {value_makers(), value_makers(), shape_makers(),
                                           shape_makers(), layer_makers(), write_makers()};
  const auto wanted = static_cast<size_t>(random.between(kLeastSteps, kMostSteps));
  for (size_t tries = 0; module_->steps.size() < wanted && tries < 20 * kMostSteps; ++tries)
    propose(random.choose(random.choose(groups)));
  make_outputs();
  for (size_t i = 0; i < initial_buffers_.size(); ++i) module_->buffers[i] = initial_buffers_[i];
  module_->register_all();
  module_->eval();
  Case made{.module = module_,
            .arguments = {},
            .options = options(true),
            .auto_options = options(false),
            .text = inputs_text() + module_->to_string()};
  made.has_hints =
      std::ranges::any_of(roots_, [](const Root& root) { return root.kind != trace::DimKind::kNamed; });
  for (size_t i = 0; i < kSizeCount; ++i) {
    size_t tensor = 0, number = 0;
    for (const Argument& argument : module_->arguments) {
      std::vector<nn::Tree> leaves;
      for (size_t leaf = 0; leaf < argument.count; ++leaf)
        leaves.push_back(argument.is_number ? nn::to_tree(numbers_[number++].values[i])
                                            : nn::to_tree(environments_[i].inputs[tensor++]));
      made.arguments[i].push_back(make_container(argument.container, leaves));
    }
  }
  return made;
}

}  // namespace flambeau::random_modules
