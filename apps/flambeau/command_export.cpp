// flambeau export: the example models, traced and saved. Models of one's own are exported by a program of
// one's own (flambeau/export.h); this shows what comes out.
#include "flambeau/export.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>

#include "commands.h"
#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/nn.h"
#include "flambeau/program.h"
#include "models/bert.h"
#include "models/gpt2.h"
#include "models/llama.h"
#include "models/lstm_tagger.h"
#include "models/resnet.h"
#include "models/unet.h"
#include "output_stream.h"
#include "reports.h"

namespace flambeau::cli {
namespace {

struct ExportCommandOptions {
  std::string model;
  std::string output;
  std::vector<std::string> dynamic;  // "0=batch"
  std::vector<std::string> sizes;    // "batch=4"
  std::string weights;
  uint64_t seed = 0;
  std::vector<std::string> preserved;  // modules
  bool train = false;
  bool strict = false;
  bool like_pytorch = false;
  bool decompose = false;
  bool print = false;
};

using Sizes = std::map<std::string, int64_t>;

struct ExampleModel {
  std::string_view name;
  std::string_view inputs;  // for --help and errors: "x [batch, 3, image, image]"
  std::shared_ptr<nn::Module> (*make)();
  std::vector<nn::Tree> (*arguments)(const Sizes& sizes);
};

Tensor words(const Sizes& sizes, int64_t vocabulary) {
  return nn::randint(0, vocabulary, {sizes.at("batch"), sizes.at("length")});
}

const std::vector<ExampleModel>& example_models() {
  static const std::vector<ExampleModel> kModels = {
      {"resnet18", "x [batch, 3, image, image]",
       []() -> std::shared_ptr<nn::Module> { return std::make_shared<models::ResNet>(1000); },
       [](const Sizes& sizes) {
         return std::vector<nn::Tree>{
             nn::to_tree(nn::randn({sizes.at("batch"), 3, sizes.at("image"), sizes.at("image")}))};
       }},
      {"unet", "x [batch, 3, image, image]",
       []() -> std::shared_ptr<nn::Module> { return std::make_shared<models::UNet>(3, 2); },
       [](const Sizes& sizes) {
         return std::vector<nn::Tree>{
             nn::to_tree(nn::randn({sizes.at("batch"), 3, sizes.at("image"), sizes.at("image")}))};
       }},
      {"bert", "input_ids [batch, length]",
       []() -> std::shared_ptr<nn::Module> { return std::make_shared<models::Bert>(); },
       [](const Sizes& sizes) { return std::vector<nn::Tree>{nn::to_tree(words(sizes, 100))}; }},
      {"gpt2", "idx [batch, length]",
       []() -> std::shared_ptr<nn::Module> { return std::make_shared<models::Gpt2>(); },
       [](const Sizes& sizes) { return std::vector<nn::Tree>{nn::to_tree(words(sizes, 96))}; }},
      {"llama", "tokens [batch, length]",
       []() -> std::shared_ptr<nn::Module> { return std::make_shared<models::Llama>(); },
       [](const Sizes& sizes) { return std::vector<nn::Tree>{nn::to_tree(words(sizes, 128))}; }},
      {"lstm_tagger", "sentence [batch, length]",
       []() -> std::shared_ptr<nn::Module> { return std::make_shared<models::LstmTagger>(50, 12, 10, 7); },
       [](const Sizes& sizes) { return std::vector<nn::Tree>{nn::to_tree(words(sizes, 50))}; }},
  };
  return kModels;
}

const ExampleModel& find_model(const std::string& name) {
  std::string list;
  std::vector<std::string> names;
  for (const ExampleModel& model : example_models()) {
    if (model.name == name) return model;
    names.emplace_back(model.name);
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", model.name, model.inputs);
  }
  throw Error(ErrorCode::kNotFound, fmt::format("there is no example model '{}'", printable(name)),
              did_you_mean(name, names, fmt::format("there are {}", list)));
}

[[noreturn]] void fail_option(std::string_view option, const std::string& text, std::string_view wanted) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} '{}' is not of the form {}", option, printable(text), wanted));
}

int64_t number(std::string_view option, const std::string& whole, const std::string& text,
               std::string_view wanted) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos)
    fail_option(option, whole, wanted);
  return std::stol(text);
}

Sizes read_sizes(const std::vector<std::string>& given) {
  static constexpr std::string_view kForm = "batch=4, length=16 or image=64";
  Sizes sizes = {{"batch", 2}, {"length", 16}, {"image", 64}};
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    const auto found = equals == std::string::npos ? sizes.end() : sizes.find(text.substr(0, equals));
    if (found == sizes.end()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("--size '{}' is not of the form {}", printable(text), kForm),
                  did_you_mean(text.substr(0, equals), std::vector<std::string>{"batch", "length", "image"}));
    }
    found->second = number("--size", text, text.substr(equals + 1), kForm);
  }
  return sizes;
}

// "0=batch", "1=AUTO", "0=batch:2..64", of the first input.
DynamicShapes read_shapes(const std::vector<std::string>& given, const std::string& input) {
  static constexpr std::string_view kForm = "0=batch, 0=batch:2..64, 1=AUTO or 1=DYNAMIC";
  if (given.empty()) return {};
  std::map<int64_t, Dim> dims;
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) fail_option("--dynamic", text, kForm);
    const int64_t dim = number("--dynamic", text, text.substr(0, equals), kForm);
    std::string name = text.substr(equals + 1);
    trace::Bounds bounds;
    if (const size_t colon = name.find(':'); colon != std::string::npos) {
      const std::string range = name.substr(colon + 1);
      const size_t dots = range.find("..");
      if (dots == std::string::npos) fail_option("--dynamic", text, kForm);
      bounds.min = number("--dynamic", text, range.substr(0, dots), kForm);
      bounds.max = number("--dynamic", text, range.substr(dots + 2), kForm);
      name.resize(colon);
    }
    dims.insert_or_assign(dim, name == "AUTO"      ? Dim(Dim::AUTO(bounds))
                               : name == "DYNAMIC" ? Dim(Dim::DYNAMIC(bounds))
                                                   : Dim(name, bounds));
  }
  return DynamicShapes::by_name({{input, ShapeSpec(std::move(dims))}});
}

void write_to_stdout(graph::ExportedProgram program) {
  Package package;
  package.models.push_back({.name = "model", .program = std::move(program)});
  OutputStream out("-");
  write_package(out, package, PackageLayout::kArchive);
  out.commit();
}

int run_export(const ExportCommandOptions& options, const CommonOptions& common) {
  const ExampleModel& model = find_model(options.model);
  nn::Session session({.seed = options.seed});
  const std::shared_ptr<nn::Module> module = model.make();
  if (!options.weights.empty()) module->load_state_dict(load_checkpoint(options.weights).named());
  module->train(options.train);
  const std::vector<nn::Tree> arguments = model.arguments(read_sizes(options.sizes));
  ExportOptions how;
  how.dynamic = read_shapes(options.dynamic, module->argument_names().at(0));
  how.preserved = options.preserved;
  how.is_strict = options.strict;
  how.is_like_pytorch = options.like_pytorch;
  const auto begin = std::chrono::steady_clock::now();
  graph::ExportedProgram program = export_program(*module, arguments, {}, how);
  if (options.decompose) program = run_decompositions(program);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  const size_t nodes = program.graph().node_count();
  const std::string text = options.print ? to_text(program) : std::string();
  if (!common.json && !common.quiet && !is_standard_output(options.output)) fmt::print("{}", text);
  if (is_standard_output(options.output)) {
    write_to_stdout(std::move(program));
    return kExitOk;
  }
  if (!options.output.empty()) save_program(std::move(program), options.output);
  if (common.json) {
    json::Value value;
    value.set("model", model.name);
    value.set("output", options.output.empty() ? json::Value() : json::Value(options.output));
    value.set("nodes", static_cast<uint64_t>(nodes));
    value.set("milliseconds", time.count());
    if (options.print) value.set("text", text);
    print_json(value);
  } else if (!common.quiet) {
    fmt::print("{}: {} nodes, traced in {:.1f} ms{}\n", model.name, nodes, time.count(),
               options.output.empty() ? "" : fmt::format(", saved to {}", options.output));
  }
  return kExitOk;
}

}  // namespace

Command export_command() {
  auto options = std::make_shared<ExportCommandOptions>();
  std::vector<std::string_view> names;
  for (const ExampleModel& model : example_models()) names.push_back(model.name);
  return {
      "export",
      "Trace an example model written in C++ and save it as a .pt2",
      {
          Option("MODEL", "resnet18, unet, bert, gpt2, llama or lstm_tagger (small ones)", &options->model)
              .required()
              .such_as(std::move(names)),
          Option("-o,--output", "The file, - for standard output (default: trace it only)", &options->output)
              .takes(Takes::kOutput),
          Option("--dynamic",
                 "A dimension of the first input that may vary: 0=batch, 0=batch:2..64, 1=AUTO; repeatable",
                 &options->dynamic),
          Option("--size", "Sizes of the example: batch=2, length=16, image=64; repeatable", &options->sizes),
          Option("--weights", "A state dict (default: initial values)", &options->weights)
              .takes(Takes::kInput),
          Option("--seed", "For the initial values and the example inputs", &options->seed),
          Option("--train", "As in training: dropout, statistics of batches", &options->train),
          Option("--preserve", "A module whose calls the program describes, e.g. layer1.0; repeatable",
                 &options->preserved),
          Option("--strict", "Refuse what the trace cannot see", &options->strict),
          Option("--like-pytorch", "Refuse or fix sizes that PyTorch's own export would refuse or fix",
                 &options->like_pytorch),
          Option("--decompose", "Into the functional core operators", &options->decompose),
          Option("--print", "Print the program", &options->print),
      },
      {{"export resnet18 --dynamic 0=batch -o r.pt2", "an example model, traced from its C++ code"},
       {"run r.pt2 --size batch=3", "with another batch than it was traced with"},
       {"export gpt2 --size length=8 --decompose --print", ""}},
      [options](const CommonOptions& common) { return run_export(*options, common); }};
}

}  // namespace flambeau::cli
