// Makes a plan from a seed. A step is proposed, run at once at every size that the module will be tested
// with, and kept when its results are fit to go on with: so every plan is valid for all of its sizes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flambeau/export.h"
#include "plan.h"

namespace flambeau::random_modules {

// Draws that are the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) { state_ = next(); }
  uint64_t next();
  int64_t below(int64_t count) { return static_cast<int64_t>(next() % static_cast<uint64_t>(count)); }
  int64_t between(int64_t least, int64_t most) { return least + below(most - least + 1); }
  bool chance(int64_t percent) { return below(100) < percent; }
  double uniform() { return static_cast<double>(next() >> 11) / 9007199254740992.0; }
  template <typename Range>
  const auto& choose(const Range& items) {
    return *(std::begin(items) + below(static_cast<int64_t>(std::size(items))));
  }

 private:
  uint64_t state_;
};

// The least sizes, those of the example, others.
constexpr size_t kSizeCount = 3;
constexpr size_t kExample = 1;
using SizeOf = std::array<int64_t, kSizeCount>;

// What a dimension of an argument is made of.
struct Root {
  trace::DimKind kind = trace::DimKind::kNamed;
  std::string name;
  std::optional<int64_t> min = {};
  std::optional<int64_t> max = {};
  SizeOf sizes{};
};
// factor * root + offset, or a number.
struct InputDim {
  const Root* root = nullptr;
  int64_t factor = 1;
  int64_t offset = 0;
  int64_t size(size_t at) const { return root == nullptr ? offset : factor * root->sizes[at] + offset; }
};

// Of results that jump where their inputs pass some number: how far the inputs are from there. The step is
// refused where that is nearly nothing.
using Margin = std::function<Tensor(const TensorList&)>;

struct Proposal {
  std::string text;  // "$0" is the first input
  std::vector<size_t> inputs;
  Run run;
  Margin margin = {};
  bool writes = false;  // to its inputs or to a buffer
};
class Builder;
using Maker = std::optional<Proposal> (*)(Builder&);

// A finished module with what it is called with.
struct Case {
  std::shared_ptr<PlanModule> module;
  std::array<std::vector<nn::Tree>, kSizeCount> arguments;
  ExportOptions options;
  ExportOptions auto_options;  // the same with AUTO for every name
  bool has_hints = false;      // AUTO or DYNAMIC somewhere in `options`
  std::string text;
};

class Builder {
 public:
  // How far a twin's inputs are off.
  static constexpr double kNoise = 1e-4;

  explicit Builder(uint64_t seed);
  Case build();

  // What makers ask.
  Random random;
  size_t rank(size_t value) const { return value_at(value).dim(); }
  DType dtype(size_t value) const { return value_at(value).dtype(); }
  SizeOf sizes(size_t value, size_t dim) const;
  bool is_static(size_t value, size_t dim) const;
  // The size of a static one; the least of another.
  int64_t least(size_t value, size_t dim) const { return sizes(value, dim)[0]; }
  bool all_static(size_t value) const;
  bool same_size(size_t a, size_t dim_a, size_t b, size_t dim_b) const {
    return sizes(a, dim_a) == sizes(b, dim_b);
  }
  bool same_shape(size_t a, size_t b) const;
  bool broadcasts(size_t a, size_t b) const;
  bool is_float(size_t value) const;  // one to compute with: of 32 or 64 bits
  bool is_input(size_t value) const { return value < input_dims_.size(); }
  const InputDim& input_dim(size_t value, size_t dim) const { return input_dims_[value][dim]; }
  size_t number_count() const { return numbers_.size(); }

  // A value, later ones more often; nothing where none is as wanted.
  std::optional<size_t> pick(const std::function<bool(size_t)>& wanted);
  std::optional<size_t> pick_float(size_t least_rank = 0, size_t most_rank = 5);
  std::optional<size_t> pick_integer(size_t least_rank = 0);
  std::optional<size_t> pick_bool();
  size_t pick_dim(size_t value) {
    return static_cast<size_t>(random.below(static_cast<int64_t>(rank(value))));
  }

  // Parts of the module; those of a proposal that is refused are taken back.
  size_t parameter(std::initializer_list<int64_t> sizes);
  size_t buffer(std::initializer_list<int64_t> sizes);
  template <typename T, typename... A>
  size_t layer(std::string text, A&&... arguments) {
    return layer(std::move(text), std::make_shared<T>(std::forward<A>(arguments)...));
  }
  size_t layer(std::string text, std::shared_ptr<nn::Module> module);

 private:
  // The values at one size; its twin has inputs that are a little off, which shows where errors grow.
  struct Environment {
    TensorList inputs;  // as they were given
    TensorList values;
    std::vector<Tensor> buffers;
    size_t at = 0;
  };

  const Tensor& value_at(size_t value) const { return environments_[kExample].values[value]; }
  void make_roots();
  void make_arguments();
  void add_argument(const std::string& name);
  void add_number();
  void add_tensor();
  Tensor make_input(DType dtype, const std::vector<InputDim>& dims, size_t at);
  InputDim make_dim();
  void make_outputs();
  bool propose(Maker maker);
  bool accept(const Proposal& proposal);
  TensorList run_step(Environment& environment, const Run& run, const std::vector<size_t>& inputs);
  bool is_fit(const std::vector<TensorList>& results) const;
  bool is_far(const Proposal& proposal) const;
  void replay();
  // PyTorch does not write to parameters, nor to what has an element twice.
  bool is_writable(size_t value) const;
  // Without names, those that have one are AUTO.
  ExportOptions options(bool names) const;
  trace::Dim dim_of(const InputDim& dim, bool names) const;
  std::vector<nn::Tree> arguments_at(size_t at) const;
  std::string inputs_text() const;

  std::shared_ptr<PlanModule> module_ = std::make_shared<PlanModule>();
  std::vector<Root> roots_;
  std::vector<std::vector<InputDim>> input_dims_;  // of each tensor among the arguments
  struct NumberInput {
    const Root* root;  // null: the same number at every size
    SizeOf values;
  };
  std::vector<NumberInput> numbers_;
  std::vector<Environment> environments_;  // kSizeCount, then their twins
  std::vector<Tensor> initial_buffers_;
};

Tensor copy_of(const Tensor& tensor);

// The makers of steps, by what they are about.
std::span<const Maker> value_makers();
std::span<const Maker> shape_makers();
std::span<const Maker> layer_makers();
std::span<const Maker> write_makers();

}  // namespace flambeau::random_modules
