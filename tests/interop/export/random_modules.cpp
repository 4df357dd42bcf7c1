// Random modules, for test_random_modules.py:
//
//   random_modules show SEED
//   random_modules export FIRST COUNT FOLDER
//
// "export" makes the module of each seed, runs it at three sizes, exports it, and runs the program from
// memory and from the file; all must agree. It writes SEED.pt2, and SEED.pt with "N.in.I", "N.out.I",
// "N.after.I" (an argument that was written to) and "N.state.NAME" (a buffer) for each size N. A number is a
// tensor without dimensions whose key ends in ".number". What fails is said in SEED.error.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/export.h"
#include "flambeau/program.h"
#include "flambeau/runtime.h"
#include "flambeau/tensor.h"
#include "random/builder.h"

namespace flambeau::random_modules {
namespace {

// What came of one call.
struct Outcome {
  std::vector<Value> outputs;
  std::vector<Value> arguments;  // afterwards
  std::vector<std::pair<std::string, Tensor>> buffers;
};

std::vector<Value> copies_of(const std::vector<Value>& values) {
  std::vector<Value> copies;
  for (const Value& value : values)
    copies.push_back(value.is_tensor() ? Value(copy_of(value.tensor())) : value);
  return copies;
}

std::vector<Value> leaves_of(const std::vector<nn::Tree>& trees) {
  std::vector<Value> leaves;
  for (const nn::Tree& tree : trees) leaves.insert(leaves.end(), tree.leaves.begin(), tree.leaves.end());
  return leaves;
}

std::vector<nn::Tree> copies_of(const std::vector<nn::Tree>& trees) {
  std::vector<nn::Tree> copies = trees;
  for (nn::Tree& tree : copies) tree.leaves = copies_of(tree.leaves);
  return copies;
}

struct Tolerance {
  double relative, absolute;
};
// Those of torch.testing.assert_close; wide floats were computed from narrow ones.
Tolerance tolerance(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return {1e-3, 1e-5};
    case DType::kBFloat16:
      return {1.6e-2, 1e-5};
    case DType::kFloat32:
    case DType::kFloat64:
      return {1.3e-6, 1e-5};
    default:
      return {0, 0};
  }
}

void check_close(const std::string& what, const Tensor& actual, const Tensor& expected) {
  const auto fail = [&](const std::string& text) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", what, text));
  };
  if (actual.dtype() != expected.dtype() || !std::ranges::equal(actual.sizes(), expected.sizes()))
    fail(fmt::format("{} where {} is expected", actual.summary(), expected.summary()));
  const Tensor a = convert(actual.to_contiguous(), DType::kFloat64);
  const Tensor b = convert(expected.to_contiguous(), DType::kFloat64);
  const Tolerance most = tolerance(actual.dtype());
  for (int64_t i = 0; i < a.element_count(); ++i) {
    const double x = a.data<double>()[i], y = b.data<double>()[i];
    if (!(std::abs(x - y) <= most.absolute + most.relative * std::abs(y)))
      fail(fmt::format("{} where {} is expected, at {} of {}", x, y, i, actual.summary()));
  }
}

void check_values(const std::string& what, const std::vector<Value>& actual,
                  const std::vector<Value>& expected) {
  if (actual.size() != expected.size())
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: {} values where {} are expected", what, actual.size(), expected.size()));
  for (size_t i = 0; i < actual.size(); ++i) {
    const std::string place = fmt::format("{} {}", what, i);
    if (expected[i].is_tensor()) {
      check_close(place, actual[i].tensor(), expected[i].tensor());
    } else if (actual[i].summary() != expected[i].summary()) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: {} where {} is expected", place,
                                                           actual[i].summary(), expected[i].summary()));
    }
  }
}

void check_outcome(const std::string& what, const Outcome& actual, const Outcome& expected) {
  check_values(what + ", output", actual.outputs, expected.outputs);
  check_values(what + ", argument afterwards", actual.arguments, expected.arguments);
  for (size_t i = 0; i < expected.buffers.size(); ++i)
    check_close(what + ", buffer " + expected.buffers[i].first, actual.buffers[i].second,
                expected.buffers[i].second);
}

// Calls the module with copies of everything that it could write to, and leaves it as it was.
Outcome run_eager(PlanModule& module, const std::vector<nn::Tree>& arguments) {
  const std::vector<nn::Tree> given = copies_of(arguments);
  std::vector<std::pair<Tensor*, Tensor>> before;
  for (const nn::NamedSlot& slot : module.named_buffers())
    before.emplace_back(slot.tensor, copy_of(*slot.tensor));
  Outcome outcome;
  outcome.outputs = copies_of(module.call(given).leaves);
  outcome.arguments = leaves_of(given);
  for (const nn::NamedSlot& slot : module.named_buffers())
    outcome.buffers.emplace_back(slot.name, copy_of(*slot.tensor));
  for (const auto& [slot, copy] : before) nn::copy_(*slot, copy);
  return outcome;
}

Outcome run_program(Program& program, const std::vector<nn::Tree>& arguments, const Outcome& expected) {
  const std::vector<Value> given = copies_of(leaves_of(arguments));
  Outcome outcome;
  outcome.outputs = copies_of(program.run(given));
  outcome.arguments = given;
  for (const auto& [name, tensor] : expected.buffers)
    outcome.buffers.emplace_back(name, copy_of(program.state(name)));
  return outcome;
}

// Programs keep what is written to their buffers, so one that writes runs once.
bool writes_to_buffers(const PlanModule& module, const std::vector<Outcome>& outcomes) {
  const auto slots = module.named_buffers();
  for (const Outcome& outcome : outcomes) {
    for (size_t i = 0; i < slots.size(); ++i) {
      if (!bitwise_equal(*slots[i].tensor, outcome.buffers[i].second)) return true;
    }
  }
  return false;
}

bool says(const Error& error, std::string_view text) {
  return std::string_view(error.what()).find(text) != std::string_view::npos;
}

// Gives the sizes that the program's guards keep out.
std::set<size_t> check_program(const std::string& what, const std::function<Program()>& make, bool is_once,
                               const Case& made, const std::vector<Outcome>& expected) {
  std::optional<Program> program;
  std::set<size_t> refused;
  for (size_t i = 0; i < kSizeCount; ++i) {
    if (!program || is_once) program.emplace(make());
    const std::string place = fmt::format("{} at size {}", what, i);
    try {
      const Outcome outcome = run_program(*program, made.arguments[i], expected[i]);
      check_outcome(place, outcome, expected[i]);
    } catch (Error& error) {
      if (i != kExample && says(error, "break the program's guard")) {
        refused.insert(i);
        continue;
      }
      error.add_location("running", place);
      throw;
    }
  }
  return refused;
}

void add_values(NamedTensors& tensors, const std::string& prefix, const std::vector<Value>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_tensor()) {
      tensors.push_back({fmt::format("{}.{}", prefix, i), copy_of(values[i].tensor())});
    } else {
      tensors.push_back(
          {fmt::format("{}.{}.number", prefix, i), nn::full({}, values[i].scalar(), DType::kInt64)});
    }
  }
}

void write_outcomes(const std::string& path, const Case& made, const std::vector<Outcome>& outcomes,
                    const std::set<size_t>& refused) {
  NamedTensors tensors;
  for (const size_t n : refused) tensors.push_back({fmt::format("{}.refused", n), nn::ones({})});
  for (size_t n = 0; n < outcomes.size(); ++n) {
    add_values(tensors, fmt::format("{}.in", n), leaves_of(made.arguments[n]));
    add_values(tensors, fmt::format("{}.out", n), outcomes[n].outputs);
    add_values(tensors, fmt::format("{}.after", n), outcomes[n].arguments);
    for (const auto& [name, tensor] : outcomes[n].buffers)
      tensors.push_back({fmt::format("{}.state.{}", n, name), tensor});
  }
  save_checkpoint(Checkpoint::from_tensors(std::move(tensors)), path, FileKind::kTorchSave);
}

Case make_case(nn::Session& session, uint64_t seed) {
  session.manual_seed(seed);
  return Builder(seed).build();
}

graph::ExportedProgram export_case(const Case& made, bool& has_names) {
  const std::vector<nn::Tree> example = copies_of(made.arguments[kExample]);
  try {
    return export_program(*made.module, example, {}, made.options);
  } catch (const Error& error) {
    if (!says(error, "does not accept all sizes")) throw;
  }
  has_names = false;
  return export_program(*made.module, example, {}, made.auto_options);
}

void export_seed(nn::Session& session, uint64_t seed, const std::filesystem::path& folder) {
  const Case made = make_case(session, seed);
  std::vector<Outcome> outcomes;
  for (const auto& arguments : made.arguments) outcomes.push_back(run_eager(*made.module, arguments));
  const bool is_once = writes_to_buffers(*made.module, outcomes);
  bool has_names = true;
  const graph::ExportedProgram program = export_case(made, has_names);
  const std::string file = (folder / fmt::format("{}.pt2", seed)).string();
  save_program(program.clone(), file);
  ProgramOptions options;
  options.threads = 1;
  const std::set<size_t> refused = check_program(
      "the program", [&] { return Program(program.clone(), options); }, is_once, made, outcomes);
  const std::set<size_t> refused_by_file = check_program(
      "the file", [&] { return load_program(file, {.model = {}, .program = options}); }, is_once, made,
      outcomes);
  if (refused != refused_by_file || (has_names && !refused.empty() && !made.has_hints))
    throw Error(ErrorCode::kInvalidArgument, "a size is refused that the program should take");
  write_outcomes((folder / fmt::format("{}.pt", seed)).string(), made, outcomes, refused);
  if (!has_names) fmt::print("{} cannot have names\n", seed);
}

int export_seeds(uint64_t first, uint64_t count, const std::filesystem::path& folder) {
  nn::Session session;
  int failures = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    try {
      export_seed(session, seed, folder);
    } catch (const std::exception& error) {
      std::ofstream(folder / fmt::format("{}.error", seed)) << error.what();
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}

int main_of(const std::vector<std::string>& arguments) {
  if (arguments.size() == 2 && arguments[0] == "show") {
    nn::Session session;
    fmt::print("{}", make_case(session, std::stoull(arguments[1])).text);
    return 0;
  }
  if (arguments.size() == 4 && arguments[0] == "export")
    return export_seeds(std::stoull(arguments[1]), std::stoull(arguments[2]), arguments[3]);
  fmt::print(stderr, "random_modules show SEED | export FIRST COUNT FOLDER\n");
  return 2;
}

}  // namespace
}  // namespace flambeau::random_modules

int main(int argc, char** argv) {
  try {
    return flambeau::random_modules::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "random_modules: {}\n", error.what());
    return 2;
  }
}
