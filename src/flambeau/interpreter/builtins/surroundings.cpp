// What scripts ask of the process around them, and may not change unless they were allowed to.
#include <random>

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/kernels/random/generator.h"

namespace flambeau::interpreter {
namespace {

using kernels::Generator;
using script::NativeBox;

constexpr uint32_t need(Capability capability) { return static_cast<uint32_t>(capability); }

constexpr const char* kGeneratorClass = "Generator";

Generator& generator_in(NativeBox& box) {
  if (box.object.class_name != kGeneratorClass || box.object.pointer == nullptr)
    throw Error(ErrorCode::kInvalidArgument, "a Generator is expected");
  return *static_cast<Generator*>(box.object.pointer.get());
}

IValue new_generator(std::optional<Device> device, std::optional<int64_t> seed) {
  if (device && device->type != DeviceType::kCpu) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("there are no generators for {} here", device->to_string()));
  }
  auto made = std::make_shared<Generator>(static_cast<uint64_t>(seed.value_or(Generator::kDefaultSeed)));
  return IValue::native(Object{.class_name = kGeneratorClass, .pointer = std::move(made)});
}

[[noreturn]] void no_gradients(Call&) {
  throw Error(ErrorCode::kUnsupported, "gradients are not computed here",
              "call the part of the model that comes before them");
}
[[noreturn]] void no_network(Call&) {
  throw Error(ErrorCode::kUnsupported, "other machines cannot be reached from here");
}
[[noreturn]] void no_files(Call&) {
  throw Error(ErrorCode::kUnsupported, "scripts cannot write files here",
              "return the value, and save it yourself");
}

void define_seeds(const Definer& define) {
  define("aten::Generator", new_generator);
  define("aten::initial_seed",
         [](NativeBox& generator) { return static_cast<int64_t>(generator_in(generator).initial_seed()); });
  define("aten::manual_seed.generator", [](Call& call, NativeBox& generator, int64_t seed) {
    generator_in(generator).manual_seed(static_cast<uint64_t>(seed));
    return call[0];
  });
  // A seed that nobody can foresee would make a run that nobody can repeat.
  define(
      "aten::seed",
      [](NativeBox& generator) {
        const auto seed = static_cast<uint64_t>(std::random_device()());
        generator_in(generator).manual_seed(seed);
        return static_cast<int64_t>(seed);
      },
      need(Capability::kSeed));
  define(
      "aten::manual_seed",
      [](Call& call, int64_t seed) {
        call.machine().context().require_generator().manual_seed(static_cast<uint64_t>(seed));
      },
      need(Capability::kSeed));
}

// Marks of a profiler that is not there.
void define_profiler(const Definer& define) {
  static constexpr const char* kRecordClass = "__torch__.torch.classes.profiler._RecordFunction";
  constexpr uint32_t kNeeds = need(Capability::kProfiler);
  define(
      "profiler::_record_function_enter_new",
      [](const std::string&, const IValue&) {
        return IValue::native(Object{.class_name = kRecordClass, .pointer = std::make_shared<int>(0)});
      },
      kNeeds);
  define(
      "profiler::_record_function_enter",
      [](const std::string&, const IValue&) { return Tensor::zeros(DType::kFloat32, {}); }, kNeeds);
  for (const char* const name :
       {"profiler::_record_function_exit", "profiler::_record_function_exit._RecordFunction"})
    define(name, [](const IValue&) {}, kNeeds);
  for (const char* const name : {"profiler::_call_end_callbacks_on_jit_fut",
                                 "profiler::_call_end_callbacks_on_jit_fut._RecordFunction"})
    define(name, [](const IValue&, const IValue& future) { return future; }, kNeeds);
}

}  // namespace

void define_surroundings(Builtins& builtins) {
  const Definer define(builtins);
  define_seeds(define);
  define("aten::is_grad_enabled", [](Call& call) { call.give(call.machine().is_grad_enabled()); });
  define("aten::set_grad_enabled", [](Call& call, bool value) { call.machine().set_grad_enabled(value); });
  define({"aten::is_autocast_enabled", "aten::is_autocast_cpu_enabled", "aten::_get_tracing_state",
          "aten::has_torch_function"},
         [](Call& call) { call.give(false); });
  define("aten::is_scripting", [](Call& call) { call.give(true); });
  define("aten::get_autocast_dtype", [](const std::string& device) {
    return static_cast<int64_t>(device == "cuda" ? DType::kFloat16 : DType::kBFloat16);
  });
  define("aten::_get_cpu_capability", [](Call& call) { call.give("DEFAULT"); });
  define("prim::TimePoint", [](Call& call) { call.give(int64_t{0}); });
  define("prim::AddStatValue", [](const std::string&, int64_t) {});
  for (const char* const name : {"aten::backward", "aten::backward.TensorList", "aten::grad"})
    define(name, no_gradients);
  define("aten::dist_backward", no_network, need(Capability::kNetwork));
  for (const char* const name :
       {"prim::rpc_async", "prim::rpc_remote", "prim::rpc_sync", "aten::to_here", "aten::local_value",
        "aten::owner", "aten::owner_name", "aten::is_owner", "aten::confirmed_by_owner"})
    define(name, no_network, need(Capability::kNetwork));
  define("aten::save", no_files, need(Capability::kFiles));
  define_profiler(define);
}

}  // namespace flambeau::interpreter
