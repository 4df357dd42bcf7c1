#include "builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "flambeau/error.h"
#include "flambeau/ops/engines/overlap.h"
#include "flambeau/tensor.h"

namespace flambeau::random_modules {
namespace {

constexpr size_t kLeastSteps = 6, kMostSteps = 20;
constexpr int64_t kMostElements = 3000;
constexpr double kLargest = 10, kLargestInteger = 1e6;
constexpr double kMostGrowth = 10;  // of the noise
constexpr double kLeastMargin = 1e-3;

std::vector<double> numbers_of(const Tensor& tensor) {
  const Tensor plain = convert(tensor.to_contiguous(), DType::kFloat64);
  const auto* const data = plain.data<double>();
  return {data, data + plain.element_count()};
}

bool is_float_type(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }
bool is_half_type(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

// The text with the names of values.
std::string named(const Proposal& proposal) {
  std::string text;
  for (size_t i = 0; i < proposal.text.size(); ++i) {
    const char c = proposal.text[i];
    text += c != '$'
                ? std::string(1, c)
                : fmt::format("v{}", proposal.inputs.at(static_cast<size_t>(proposal.text.at(++i) - '0')));
  }
  return text;
}

// Of one value at the least sizes and at others. A size that varies must never be 0 or 1, which programs
// treat apart.
bool have_fit_shapes(const Tensor& least, const Tensor& value) {
  if (value.dim() != least.dim() || value.dtype() != least.dtype()) return false;
  if (value.dim() > 5 || value.element_count() > kMostElements) return false;
  for (size_t dim = 0; dim < value.dim(); ++dim) {
    const int64_t size = value.sizes()[dim];
    if (size < 1 || (size != least.sizes()[dim] && std::min(size, least.sizes()[dim]) < 2)) return false;
  }
  return true;
}

bool has_fit_numbers(const Tensor& value) {
  const bool is_whole = !is_float_type(value.dtype()) && !is_half_type(value.dtype());
  const double largest = is_whole ? kLargestInteger : kLargest;
  return std::ranges::all_of(numbers_of(value), [&](double number) { return std::abs(number) <= largest; });
}

// A value and its twin's.
bool are_alike(const Tensor& base, const Tensor& twin) {
  if (is_half_type(base.dtype())) return true;  // nothing is computed of it
  const std::vector<double> a = numbers_of(base), b = numbers_of(twin);
  const double most = is_float_type(base.dtype()) ? Builder::kNoise * kMostGrowth : 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::abs(a[i] - b[i]) > most) return false;
  }
  return true;
}

}  // namespace

Tensor copy_of(const Tensor& tensor) {
  Tensor copy = Tensor::zeros(tensor.dtype(), tensor.sizes());
  if (tensor.element_count() > 0) nn::copy_(copy, tensor);
  return copy;
}

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
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].size() != results[0].size()) return false;
    for (size_t k = 0; k < results[i].size(); ++k) {
      const Tensor& value = results[i][k];
      if (!have_fit_shapes(results[0][k], value) || !has_fit_numbers(value)) return false;
      if (i >= kSizeCount && !are_alike(results[i - kSizeCount][k], value)) return false;
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
  Step step{.text = named(proposal), .inputs = proposal.inputs, .outputs = {}, .run = proposal.run};
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
  Case made{.module = module_,
            .arguments = {},
            .options = options(true),
            .auto_options = options(false),
            .text = inputs_text() + module_->to_string()};
  made.has_hints =
      std::ranges::any_of(roots_, [](const Root& root) { return root.kind != trace::DimKind::kNamed; });
  for (size_t i = 0; i < kSizeCount; ++i) made.arguments[i] = arguments_at(i);
  return made;
}

}  // namespace flambeau::random_modules
