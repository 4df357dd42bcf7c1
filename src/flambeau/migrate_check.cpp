// The script and the program made of it, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "flambeau/base/error.h"
#include "flambeau/migrate.h"
#include "flambeau/migrate/script_migration.h"
#include "flambeau/migrate/script_state.h"
#include "flambeau/migrate/trees.h"
#include "flambeau/runtime/input_guards.h"
#include "flambeau/runtime/program.h"
#include "flambeau/tensor/elements/compare.h"

namespace flambeau {
namespace {

// Both draw the same random numbers.
constexpr uint64_t kSeed = 0;

using script::IValue;

// As PyTorch's tests ask of float32 and of shorter types; others must be the same.
bool is_close(const Difference& difference, DType dtype) {
  if (difference.differing == 0) return true;
  const DTypeInfo& type = dtype_info(dtype);
  if (!type.is_floating && !type.is_complex) return false;
  const bool is_short = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  return difference.max_abs <= (is_short ? 1e-2 : 1e-5) || difference.max_rel <= (is_short ? 1.6e-2 : 1e-4);
}

bool is_same_number(const Value& a, const Value& b) {
  if (a.is_none() || b.is_none()) return a.is_none() == b.is_none();
  if (!a.is_number() || !b.is_number()) return a.summary() == b.summary();
  const std::complex<double> left = a.scalar().to_complex();
  const std::complex<double> right = b.scalar().to_complex();
  return left == right || (std::isnan(left.real()) && std::isnan(right.real()));
}

// `step`: by how much results may differ besides.
std::string difference_of(const Value& expected, const Value& found, double step) {
  const Tensor* const a = expected.get_if<Tensor>();
  const Tensor* const b = found.get_if<Tensor>();
  if (a == nullptr || b == nullptr || !a->defined() || !b->defined()) {
    if (a == nullptr && b == nullptr && is_same_number(expected, found)) return {};
    return fmt::format("{} for {}", found.summary(), expected.summary());
  }
  const Difference difference = compare(*a, *b);
  if (!difference.same_dtype || !difference.same_shape)
    return fmt::format("{} for {}", b->summary(), a->summary());
  if (is_close(difference, a->dtype()) || (step > 0 && difference.max_abs <= step * 1.001)) return {};
  return fmt::format("{} of {} elements differ, by up to {:.3g}", difference.differing, a->element_count(),
                     difference.max_abs);
}

// The same elements again and again, or the first of them.
Tensor with_size(const Tensor& tensor, size_t dim, int64_t size) {
  const Tensor from = tensor.to_contiguous();
  Dims sizes = from.sizes();
  const int64_t before = sizes[dim];
  sizes[dim] = size;
  Tensor to = Tensor::zeros(from.dtype(), sizes);
  if (before == 0 || to.element_count() == 0) return to;
  int64_t outer = 1;
  for (size_t d = 0; d < dim; ++d) outer *= sizes[d];
  const size_t row = static_cast<size_t>(from.element_count() / (outer * before)) * from.element_size();
  uint8_t* target = to.mutable_data();
  for (int64_t i = 0; i < outer; ++i) {
    for (int64_t k = 0; k < size; ++k, target += row)
      std::memcpy(target, from.data() + static_cast<size_t>(i * before + k % before) * row, row);
  }
  return to;
}

struct Run {
  std::vector<IValue> arguments;
  script::ScriptModule::Keywords keywords;
};

// Every argument with its tensors changed.
Run changed(const Run& run, const std::function<Tensor(size_t leaf, const Tensor& tensor)>& change,
            const std::vector<Type>& types) {
  size_t leaf = 0;
  const auto change_value = [&](const IValue& value, const Type& type) {
    nn::Tree tree = migration::to_tree(value);
    for (Value& item : tree.leaves) {
      if (const Tensor* const tensor = item.get_if<Tensor>(); tensor != nullptr && tensor->defined())
        item = change(leaf, *tensor);
      ++leaf;
    }
    return migration::from_tree(tree, type);
  };
  Run made;
  for (size_t i = 0; i < run.arguments.size(); ++i)
    made.arguments.push_back(
        change_value(run.arguments[i], i < types.size() ? types[i] : Type(TypeKind::kAny)));
  for (const auto& [name, value] : run.keywords)
    made.keywords.emplace_back(name, change_value(value, TypeKind::kAny));
  return made;
}

std::vector<Value> leaves_of(const Run& run) {
  std::vector<Value> leaves;
  const auto add = [&](const IValue& value) {
    const nn::Tree tree = migration::to_real_tree(value);
    leaves.insert(leaves.end(), tree.leaves.begin(), tree.leaves.end());
  };
  for (const IValue& value : run.arguments) add(value);
  for (const auto& [name, value] : run.keywords) add(value);
  return leaves;
}

// "layer1.count": the attribute `count` of the module `layer1`.
IValue attribute_at(const script::ScriptModule& module, const std::string& path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) return module.attribute(path);
  return module.submodule(path.substr(0, dot)).attribute(path.substr(dot + 1));
}

Tensor copied(size_t, const Tensor& tensor) {
  if (tensor.dim() == 0) {
    Tensor copy = Tensor::zeros(tensor.dtype(), tensor.sizes());
    std::memcpy(copy.mutable_data(), tensor.to_contiguous().data(), tensor.element_size());
    return copy;
  }
  return with_size(tensor, 0, tensor.sizes()[0]);
}

}  // namespace

std::string MigrationCheck::outcome() const {
  if (!refused.empty()) return fmt::format("not taken: {}", refused);
  return difference.empty() ? "equal" : difference;
}

std::vector<MigrationCheck> check_migration(const script::ScriptModule& module, const Migration& made,
                                            const std::vector<IValue>& arguments,
                                            const script::ScriptModule::Keywords& keywords,
                                            const MigrateOptions& options) {
  const std::vector<Type> types = ScriptMigration::argument_types(module, options.method);
  const Run example{arguments, keywords};
  const graph::Interface interface = graph::interface_of(made.program);
  const runtime::InputGuards guards(interface, made.program.guards_code);
  std::vector<MigrationCheck> checks;
  const auto check = [&](const Run& run, bool is_example) {
    // Both may write to what they are given.
    std::vector<Value> expected;
    try {
      const ScriptMigration::Undo undo(module);
      const Run own = changed(run, copied, types);
      module.manual_seed(kSeed);
      const IValue result =
          module.run_method(options.method, own.arguments, own.keywords, {.most_steps = options.most_steps});
      expected = migration::to_real_tree(result).leaves;
      for (const Migration::Kept& kept : made.kept) {
        const std::vector<Value> now = migration::to_real_tree(attribute_at(module, kept.path)).leaves;
        expected.insert(expected.end(), now.begin(), now.end());
      }
    } catch (const Error&) {
      if (is_example) throw;
      return;  // the script does not take such sizes
    }
    MigrationCheck entry;
    runtime::Program program(made.program.clone());
    program.manual_seed(kSeed);
    std::vector<Value> leaves = leaves_of(changed(run, copied, types));
    for (const Migration::Kept& kept : made.kept) {
      const std::vector<Value> before = migration::to_real_tree(kept.value).leaves;
      leaves.insert(leaves.end(), before.begin(), before.end());
    }
    for (size_t i = 0; i < leaves.size() && i < program.inputs().size(); ++i)
      entry.inputs +=
          fmt::format("{}{}: {}", i == 0 ? "" : ", ", program.inputs()[i].label(), leaves[i].summary());
    try {
      guards.check(leaves);
    } catch (const Error& error) {
      entry.refused = error.message();
      checks.push_back(std::move(entry));
      return;
    }
    try {
      const std::vector<Value> found = program.run(leaves);
      if (found.size() != expected.size()) entry.difference = "another number of results";
      for (size_t i = 0; i < found.size() && entry.difference.empty(); ++i)
        entry.difference = difference_of(expected[i], found[i], made.quantization_step);
    } catch (const Error& error) {
      entry.difference = error.message();
    }
    checks.push_back(std::move(entry));
  };
  check(example, true);

  const std::vector<graph::Leaf>& inputs = interface.inputs;
  std::map<std::string, int64_t> symbols;
  const std::vector<Value> leaves = leaves_of(example);
  const auto visit = [&](auto&& see) {
    for (size_t i = 0; i < inputs.size() && i < leaves.size(); ++i) {
      if (!inputs[i].is_tensor() || !leaves[i].is_tensor()) continue;
      for (size_t d = 0; d < inputs[i].sizes().size() && d < leaves[i].tensor().dim(); ++d)
        see(i, d, inputs[i].sizes()[d]);
    }
  };
  visit([&](size_t i, size_t d, const graph::LeafSize& size) {
    if (!size.symbol().empty()) symbols.emplace(size.symbol(), leaves[i].tensor().sizes()[d]);
  });
  // Where what the program takes leaves room for no such size, its ends.
  const auto sizes_of = [&](const std::string& symbol, int64_t before) {
    std::set<int64_t> sizes{before + 1, before * 2 + 1};
    const auto found = std::ranges::find(made.program.range_constraints, symbol,
                                         [](const auto& entry) -> const std::string& { return entry.first; });
    if (found == made.program.range_constraints.end()) return sizes;
    const int64_t least = found->second.min.value_or(0);
    const int64_t most = found->second.max.value_or(INT64_MAX);
    if (std::erase_if(sizes, [&](int64_t size) { return size < least || size > most; }) > 0) {
      sizes.insert(std::max<int64_t>(least, 1));
      if (most <= before * 2 + 1) sizes.insert(most);
    }
    sizes.erase(before);
    return sizes;
  };
  for (const auto& [symbol, before] : symbols) {
    for (const int64_t size : sizes_of(symbol, before)) {
      const Run other = changed(
          example,
          [&](size_t i, const Tensor& tensor) {
            Tensor now = tensor;
            visit([&](size_t leaf, size_t d, const graph::LeafSize& known) {
              if (leaf == i && known.symbol() == symbol) now = with_size(now, d, size);
            });
            return now;
          },
          types);
      check(other, false);
    }
  }
  return checks;
}

}  // namespace flambeau
