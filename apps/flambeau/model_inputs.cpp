#include "model_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/operators.h"
#include "flambeau/tensor.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

[[noreturn]] void fail(std::string message, std::string remedy = {}) {
  throw Error(ErrorCode::kInvalidArgument, std::move(message), std::move(remedy));
}

std::string takes_text(const Program& program) {
  std::vector<std::string> texts;
  for (const Leaf& leaf : program.inputs()) texts.push_back(printable(leaf.to_string(), 200));
  return texts.empty() ? "the program takes no inputs"
                       : fmt::format("the program takes {}", fmt::join(texts, "; "));
}

template <typename Number>
std::optional<Number> parsed(std::string_view text) {
  Number number{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

// "3", "-0.5", "1e-3", "inf", "True".
std::optional<Scalar> parse_number(std::string_view text) {
  if (text == "True" || text == "true") return Scalar(true);
  if (text == "False" || text == "false") return Scalar(false);
  if (text.starts_with('+')) text.remove_prefix(1);
  if (const auto integer = parsed<int64_t>(text)) return Scalar(*integer);
  if (const auto real = parsed<double>(text)) return Scalar(*real);
  return {};
}

// "8x128", or "scalar" for no dimensions.
std::optional<Dims> parse_shape(std::string_view text) {
  if (text == "scalar") return Dims{};
  std::vector<int64_t> sizes;
  while (true) {
    const size_t cross = text.find('x');
    const auto size = parsed<int64_t>(text.substr(0, cross));
    if (!size || *size < 0) return {};
    sizes.push_back(*size);
    if (cross == std::string_view::npos) return Dims(sizes);
    text.remove_prefix(cross + 1);
  }
}

std::optional<std::pair<int64_t, int64_t>> parse_range(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) return {};
  const auto low = parsed<int64_t>(text.substr(0, dots));
  const auto high = parsed<int64_t>(text.substr(dots + 2));
  if (!low || !high || *low > *high) return {};
  return std::pair(*low, *high);
}

// "random:8x128:0..99": what a tensor is made of.
struct Recipe {
  std::string_view kind;  // "random", "zeros", "ones"
  std::optional<Dims> sizes;
  std::optional<std::pair<int64_t, int64_t>> range;  // both included
};

std::optional<Recipe> parse_recipe(std::string_view text) {
  const size_t colon = text.find(':');
  Recipe recipe{text.substr(0, colon), {}, {}};
  if (recipe.kind != "random" && recipe.kind != "zeros" && recipe.kind != "ones") return {};
  while (text.find(':') != std::string_view::npos) {
    text.remove_prefix(text.find(':') + 1);
    const std::string_view part = text.substr(0, text.find(':'));
    if (const auto range = parse_range(part); range && recipe.kind == "random") {
      recipe.range = range;
    } else if (const auto sizes = parse_shape(part)) {
      recipe.sizes = sizes;
    } else {
      fail(fmt::format("'{}' after '{}' is neither sizes nor a range", printable(part), recipe.kind),
           "write random:8x128 for sizes, random:0..99 for integers from 0 to 99, or both");
    }
  }
  return recipe;
}

// Files may lay tensors anywhere; kernels need them aligned.
Tensor aligned(const Tensor& tensor) {
  if (tensor.layout() != Layout::kStrided || tensor.is_meta() || tensor.element_count() == 0) return tensor;
  const auto address = reinterpret_cast<uintptr_t>(tensor.data());
  if (address % dtype_info(tensor.dtype()).word == 0) return tensor;
  Tensor copy = tensor;
  const ByteSpan bytes = tensor.storage()->bytes();
  copy.set_storage(Storage::own({bytes.begin(), bytes.end()}), tensor.offset());
  return copy;
}

Tensor as_taken(const Tensor& tensor, const Leaf& leaf, bool is_cast) {
  if (!leaf.is_tensor() || tensor.dtype() == leaf.dtype) return aligned(tensor);
  if (is_cast && can_convert(tensor.dtype(), leaf.dtype)) return convert(aligned(tensor), leaf.dtype);
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("the input '{}' takes {}, and the file has {}", printable(leaf.name),
                          dtype_name(leaf.dtype), dtype_name(tensor.dtype())),
              can_convert(tensor.dtype(), leaf.dtype) ? "--cast converts it" : "save it with that type");
}

// "-" is standard input.
Tensor tensor_from_file(const std::string& given, const Leaf& leaf, bool is_cast) {
  const std::string path = given == "-" ? "/dev/stdin" : given;
  const auto tensors = tensors_of_file(path);
  const auto chosen = [&]() -> const Tensor* {
    if (tensors.size() == 1) return &tensors[0].second;
    for (const auto& [name, tensor] : tensors) {
      if (name == leaf.name || name == leaf.path) return &tensor;
    }
    return nullptr;
  }();
  if (chosen != nullptr) return with_location("file", path, [&] { return as_taken(*chosen, leaf, is_cast); });
  std::vector<std::string> names, shown;
  for (const auto& [name, tensor] : tensors) {
    names.push_back(name);
    if (shown.size() < 10) shown.push_back(printable(name));
  }
  if (names.size() > shown.size()) shown.emplace_back("...");
  throw Error(ErrorCode::kNotFound,
              names.empty() ? std::string("the file holds no tensor")
                            : fmt::format("none of its {} tensors is called '{}': {}", names.size(),
                                          printable(leaf.name), fmt::join(shown, ", ")),
              did_you_mean(leaf.name, names, "give a file with one tensor, or with one of the input's name"))
      .add_location("file", path);
}

class Gatherer {
 public:
  Gatherer(const Program& program, const ModelOptions& options)
      : program_(program), options_(options), generator_(options.seed), values_(program.inputs().size()) {
    for (const std::string& text : options.sizes) {
      const size_t equals = text.find('=');
      const auto size = equals == std::string::npos ? std::nullopt : parsed<int64_t>(text.substr(equals + 1));
      if (!size) fail(fmt::format("--size {}: NAME=NUMBER is expected", printable(text)));
      symbols_[text.substr(0, equals)] = *size;
    }
  }

  std::vector<Value> gather() {
    read_options();
    learn_from_given();
    const std::vector<Leaf>& leaves = program_.inputs();
    std::vector<size_t> missing;
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (!values_[i].is_none()) continue;  // from a file
      if (specs_[i]) {
        values_[i] = make(leaves[i], *specs_[i]);
      } else if (leaves[i].kind == LeafKind::kNone || !leaves[i].constant.is_none()) {
        values_[i] = leaves[i].constant;
      } else if (rest_) {
        values_[i] = make(leaves[i], *rest_);
      } else if (!options_.sizes.empty() && leaves[i].is_tensor()) {
        values_[i] = make(leaves[i], "random");
      } else {
        missing.push_back(i);
      }
    }
    if (!missing.empty()) take_examples(missing);
    return std::move(values_);
  }

 private:
  void read_options() {
    specs_.resize(program_.inputs().size());
    for (const std::string& text : options_.inputs) {
      if (text.starts_with("*=")) {
        rest_ = text.substr(2);
        continue;
      }
      const std::optional<size_t> index = find(text);
      if (!index) {
        const size_t equals = text.find('=');
        if (equals == std::string::npos) {
          fail(fmt::format("--input {}: NAME=FILE, NAME=random, NAME=zeros or NAME=NUMBER is expected",
                           printable(text)),
               takes_text(program_));
        }
        std::vector<std::string> names;
        for (const Leaf& leaf : program_.inputs()) {
          names.push_back(leaf.name);
          names.push_back(leaf.path);
        }
        const std::string name = text.substr(0, equals);
        fail(fmt::format("there is no input '{}'", printable(name)),
             did_you_mean(name, names, takes_text(program_)));
      }
      const Leaf& leaf = program_.inputs()[*index];
      if (specs_[*index]) fail(fmt::format("the input '{}' is given twice", printable(leaf.name)));
      const bool by_name = !leaf.name.empty() && text.starts_with(leaf.name + "=");
      specs_[*index] = text.substr((by_name ? leaf.name : leaf.path).size() + 1);
    }
  }

  // Inputs that are made follow the sizes of those that are given.
  void learn_from_given() {
    const std::vector<Leaf>& leaves = program_.inputs();
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (!specs_[i] || !leaves[i].is_tensor()) continue;
      if (const std::optional<Recipe> recipe = parse_recipe(*specs_[i])) {
        if (recipe->sizes) learn_sizes(program_, leaves[i], *recipe->sizes, symbols_);
      } else if (!parse_number(*specs_[i])) {
        Tensor tensor = tensor_from_file(*specs_[i], leaves[i], options_.cast);
        learn_sizes(program_, leaves[i], tensor.sizes(), symbols_);
        values_[i] = std::move(tensor);
      }
    }
  }

  // Names may hold a '=': "kwargs['a=b']=random".
  std::optional<size_t> find(const std::string& text) const {
    for (size_t i = 0; i < program_.inputs().size(); ++i) {
      const Leaf& leaf = program_.inputs()[i];
      if (!leaf.name.empty() && text.starts_with(leaf.name + "=")) return i;
      if (text.starts_with(leaf.path + "=")) return i;
    }
    return {};
  }

  // To be asked when all that is given has been looked at.
  Dims sizes_of(const Leaf& leaf) {
    if (!sizes_) sizes_.emplace(program_, symbols_);
    return sizes_->of(leaf);
  }

  Value make(const Leaf& leaf, const std::string& what) {
    if (leaf.kind == LeafKind::kString) return what;
    if (what == "None") return {};
    const std::optional<Scalar> number = parse_number(what);
    if (!leaf.is_tensor()) {
      if (!number) {
        fail(fmt::format("the input '{}' is {}, and '{}' is no number", printable(leaf.label()),
                         graph::leaf_kind_name(leaf.kind), printable(what)));
      }
      return leaf.kind == LeafKind::kFloat ? Value(number->to_double()) : Value(*number);
    }
    if (const std::optional<Recipe> recipe = parse_recipe(what)) {
      const Dims sizes = recipe->sizes ? *recipe->sizes : sizes_of(leaf);
      if (recipe->kind != "random")
        return filled_tensor(leaf.dtype, sizes, Scalar(recipe->kind == "ones" ? 1 : 0));
      std::pair<int64_t, int64_t> range = {0, 2};
      if (recipe->range) range = {recipe->range->first, recipe->range->second + 1};
      return random_tensor(leaf.dtype, sizes, generator_, range);
    }
    if (number) return filled_tensor(leaf.dtype, sizes_of(leaf), *number);
    return tensor_from_file(what, leaf, options_.cast);
  }

  void take_examples(const std::vector<size_t>& missing) {
    const std::vector<Leaf>& leaves = program_.inputs();
    if (!has_example_inputs(program_)) {
      std::vector<std::string> names, texts;
      for (const size_t i : missing) {
        names.push_back(fmt::format("'{}'", printable(leaves[i].label())));
        texts.push_back(fmt::format("--input {}=...", printable(leaves[i].label())));
      }
      fail(fmt::format("the file has no example inputs, and {} not given: {}",
                       missing.size() == 1 ? "an input is" : fmt::format("{} inputs are", missing.size()),
                       fmt::join(names, ", ")),
           fmt::format("{}; give {} with a .npy, .pt or .safetensors file, 'random', 'zeros' or a number",
                       takes_text(program_), fmt::join(texts, " ")));
    }
    std::vector<Value> examples = example_inputs(program_);
    if (examples.size() != leaves.size()) {
      throw Error(ErrorCode::kCorrupt, fmt::format("the file has {} example inputs, the program takes {}",
                                                   examples.size(), leaves.size()));
    }
    for (const size_t i : missing) {
      const bool fits =
          !examples[i].is_tensor() || symbols_.empty() || examples[i].tensor().sizes() == sizes_of(leaves[i]);
      values_[i] = fits ? std::move(examples[i]) : make(leaves[i], "random");
    }
  }

  const Program& program_;
  const ModelOptions& options_;
  Generator generator_;
  SymbolSizes symbols_;
  std::optional<InputSizes> sizes_;  // made when somebody asks
  std::vector<std::optional<std::string>> specs_;
  std::optional<std::string> rest_;  // of the inputs that have none of their own
  std::vector<Value> values_;
};

}  // namespace

std::vector<Option> model_options(ModelOptions& options) {
  return {
      Option("MODEL", "An exported program: .pt2; - is standard input", &options.file)
          .required()
          .takes(Takes::kInput),
      Option("-i,--input", "NAME=FILE, NAME=random, NAME=zeros or NAME=NUMBER; may be repeated",
             &options.inputs)
          .takes(Takes::kInput),
      Option("--cast", "Convert the tensors of files to the types that the program takes", &options.cast),
      Option("--size",
             "NAME=NUMBER: a dynamic size of random inputs, by the author's name (batch) or the symbol "
             "(s77); may be "
             "repeated",
             &options.sizes),
      Option("--seed", "Of random inputs and random operators", &options.seed).shows_default(),
      Option("--model", "Of an archive with several programs: the one to run", &options.model),
      Option("--operators",
             "A shared library with operators that the program needs; its code runs. May be repeated",
             &options.operators)
          .takes(Takes::kInput),
      Option("--ignore-guards", "Run although conditions on the inputs cannot be read, and so not be checked",
             &options.ignore_guards),
      Option("--backend", "Whose layers run: portable, or onednn, the default where it was built in",
             &options.backend),
      Option("--no-plan", "Interpret node by node, without planning ahead", &options.no_plan),
  };
}

Program open_program(const std::string& file, const ModelOptions& options, const CommonOptions& common,
                     const std::shared_ptr<Mapping>& bytes) {
  LoadOptions load_options;
  load_options.model = options.model;
  load_options.program.threads = common.threads;
  load_options.program.plan = !options.no_plan;
  if (!options.backend.empty()) load_options.program.backend = backends::make_backend(options.backend);
  load_options.program.ignore_guards = options.ignore_guards;
  if (!options.operators.empty()) {
    auto library = std::make_shared<ops::Library>();
    for (const std::string& path : options.operators) load_operators(path, *library);
    load_options.program.library = std::move(library);
  }
  Program program = with_model(file, [&] {
    return bytes == nullptr ? load_program(file, std::move(load_options))
                            : load_program(bytes, std::move(load_options));
  });
  if (!common.quiet) {
    for (const std::string& guard : program.unknown_guards())
      print_to_stderr("note: not checked: {}\n", printable(guard, 400));
  }
  return program;
}

std::vector<Value> gather_inputs(const Program& program, const ModelOptions& options) {
  return Gatherer(program, options).gather();
}

std::vector<std::pair<std::string, Tensor>> tensors_of_file(const std::string& path) {
  std::vector<std::pair<std::string, Tensor>> tensors;
  const Checkpoint checkpoint = load_checkpoint(path);
  for (const CheckpointTensor& entry : checkpoint.tensors()) {
    tensors.emplace_back(entry.name, entry.tensor);
    if (!entry.tensor.is_meta()) tensors.back().second.set_device({});
  }
  return tensors;
}

}  // namespace flambeau::cli
