#include <fmt/format.h>

#include "flambeau/aot/native.h"
#include "flambeau/aot/native/box.h"
#include "flambeau/aot/native/library.h"
#include "flambeau/archive/elf/reader.h"
#include "flambeau/archive/record_archive.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/base/parallel.h"
#include "flambeau/formats/compiled.h"
#include "flambeau/kernels/random/generator.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/mechanism/library.h"

namespace flambeau::aot {
namespace {

using native::Box;
using native::Handle;

using Container = void;  // the library's, never looked into
using Create = int32_t(Container**, size_t, const char*, const char*);
using Delete = int32_t(Container*);
using Run = int32_t(Container*, Handle*, size_t, Handle*, size_t, void*, void*);
using Count = int32_t(Container*, size_t*);
using NameOf = int32_t(Container*, size_t, const char**);
using NumberOf = int32_t(Container*, size_t, int32_t*);
using Spec = int32_t(Container*, const char**, const char**);

const std::string kPrefix = "AOTInductorModelContainer";

// The bytes of the library, which stay where they are.
struct Found {
  std::shared_ptr<Mapping> file;
  std::vector<uint8_t> inflated;
  ByteSpan bytes;
};

Found find_library(const std::string& path, const std::string& wanted) {
  Found found{Mapping::open(path), {}, {}};
  if (elf::looks_like_elf(found.file->bytes())) {
    found.bytes = found.file->bytes();
    return found;
  }
  const RecordArchive archive = RecordArchive::open(found.file);
  const std::vector<CompiledModel> models = read_compiled_models(archive);
  for (const CompiledModel& model : models) {
    if (wanted.empty() ? models.size() != 1 : model.name != wanted) continue;
    if (!model.device.empty() && model.device != "cpu") {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("the compiled model is for the device '{}'", printable(model.device)),
                  "compile it for the CPU");
    }
    for (const auto& [name, text] : model.metadata) {
      const bool needs_wide = name == "AOTI_CPU_ISA" && text.find("AVX512") != std::string::npos;
#if defined(__x86_64__)
      if (needs_wide && !__builtin_cpu_supports("avx512f")) {
        throw Error(
            ErrorCode::kUnsupported,
            fmt::format("the library is compiled for {}, which this processor has not", printable(text)),
            "compile the model on this machine");
      }
#else
      static_cast<void>(needs_wide);
#endif
    }
    if (model.libraries.size() != 1) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("the compiled model '{}' has {} libraries, one is expected",
                              printable(model.name), model.libraries.size()),
                  "packages of sources alone are compiled by PyTorch when it loads them; here they are not");
    }
    found.inflated = archive.read(model.libraries[0].record);
    found.bytes = found.inflated;
    return found;
  }
  std::string names;
  for (const CompiledModel& model : models) names += (names.empty() ? "" : ", ") + printable(model.name);
  throw Error(ErrorCode::kNotFound, models.empty() ? "there is no compiled model in the file"
                                                   : "the compiled models of the package are: " + names);
}

}  // namespace

struct NativeModel::State {
  State(ByteSpan file, int threads)
      : pool(threads),
        library(file),
        run(library.find<Run>(kPrefix + "Run")),
        free(library.find<Delete>(kPrefix + "Delete")) {
    ops::Context context(operators, pool);
    context.generator = &generator;
    const native::Scope scope(context);
    require(library.find<Create>(kPrefix + "CreateWithDevice")(&container, 1, "cpu", nullptr), "start");
    const char* in = nullptr;
    const char* out = nullptr;
    require(library.find<Spec>(kPrefix + "GetCallSpec")(container, &in, &out), "say how it is called");
    in_spec = parse_treespec(in == nullptr ? "" : in);
    out_spec = parse_treespec(out == nullptr ? "" : out);
    inputs = names("GetNumInputs", "GetInputName");
    outputs = names("GetNumOutputs", "GetOutputName");
  }
  ~State() {
    if (container != nullptr) free(container);
  }

  static void require(int32_t status, std::string_view what) {
    if (status == 0) return;
    std::string reason = std::exchange(native::last_failure(), {});
    throw Error(ErrorCode::kUnsupported, fmt::format("the library could not {}{}{}", what,
                                                     reason.empty() ? "" : ": ", printable(reason, 1000)));
  }

  std::vector<std::string> names(const std::string& count_name, const std::string& name_name) const {
    size_t count = 0;
    require(library.find<Count>(kPrefix + count_name)(container, &count), "count what it takes and gives");
    constexpr size_t kMost = 1 << 20;
    if (count > kMost) throw Error(ErrorCode::kCorrupt, fmt::format("the library says {} inputs", count));
    std::vector<std::string> all;
    for (size_t i = 0; i < count; ++i) {
      const char* name = nullptr;
      require(library.find<NameOf>(kPrefix + name_name)(container, i, &name), "name what it takes and gives");
      all.emplace_back(name == nullptr ? "" : name);
    }
    return all;
  }

  ops::Library operators;
  ThreadPool pool;
  kernels::Generator generator;
  native::Library library;
  Run* run;
  Delete* free;
  Container* container = nullptr;
  TreeSpec in_spec;
  TreeSpec out_spec;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

NativeModel::NativeModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
NativeModel::~NativeModel() = default;
NativeModel::NativeModel(NativeModel&&) noexcept = default;
NativeModel& NativeModel::operator=(NativeModel&&) noexcept = default;

const TreeSpec& NativeModel::in_spec() const { return state_->in_spec; }
const TreeSpec& NativeModel::out_spec() const { return state_->out_spec; }
const std::vector<std::string>& NativeModel::input_names() const { return state_->inputs; }
const std::vector<std::string>& NativeModel::output_names() const { return state_->outputs; }

std::vector<std::pair<std::string, DType>> NativeModel::constants() const {
  std::vector<std::pair<std::string, DType>> all;
  const std::vector<std::string> names = state_->names("GetNumConstants", "GetConstantOriginalFQN");
  for (size_t i = 0; i < names.size(); ++i) {
    int32_t number = 0;
    State::require(
        state_->library.find<NumberOf>(kPrefix + "GetConstantDtype")(state_->container, i, &number),
        "say the type of a constant");
    const std::optional<DType> dtype = dtype_from_number(number);
    if (!dtype) throw Error(ErrorCode::kUnsupported, fmt::format("there is no element type {}", number));
    all.emplace_back(names[i], *dtype);
  }
  return all;
}

std::vector<Tensor> NativeModel::run(std::span<const Tensor> inputs) {
  State& state = *state_;
  if (inputs.size() != state.inputs.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the model takes {} tensors, {} are given", state.inputs.size(), inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_plain = inputs[i].defined() && !inputs[i].is_traced() &&
                          inputs[i].layout() == Layout::kStrided && inputs[i].quantizer() == nullptr &&
                          !inputs[i].is_meta();
    if (!is_plain) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("input {} is no plain tensor of the CPU", state.inputs[i]));
    }
  }
  ops::Context context(state.operators, state.pool);
  context.generator = &state.generator;
  const native::Scope scope(context);
  native::last_failure().clear();
  // The library takes them, and deletes each.
  std::vector<Handle> given;
  for (const Tensor& input : inputs) given.push_back(new Box{input});
  std::vector<Handle> made(state.outputs.size(), nullptr);
  const int32_t status =
      state.run(state.container, given.data(), given.size(), made.data(), made.size(), nullptr, nullptr);
  std::vector<Tensor> outputs;
  for (const Handle handle : made) {
    const std::unique_ptr<Box> box(status == 0 ? handle : nullptr);
    outputs.push_back(box == nullptr ? Tensor() : box->tensor);
  }
  State::require(status, "finish the run");
  return outputs;
}

NativeModel load_native_package(const std::string& path, const NativeOptions& options) {
  return with_location("file", path, [&] {
    const Found found = find_library(path, options.model);
    return NativeModel(std::make_unique<NativeModel::State>(found.bytes, options.threads));
  });
}

}  // namespace flambeau::aot
