#include "flambeau/script/operators/native_classes.h"

#include <array>
#include <string>

#include "flambeau/script/types/text.h"

namespace flambeau::script {
namespace {

constexpr std::string_view kNativePrefix = "__torch__.torch.classes.";

// Methods take the object alone.
struct NativeMethod {
  std::string_view type;  // without the prefix
  std::string_view name;
  std::string_view result;
};
constexpr auto kNativeMethods = std::to_array<NativeMethod>({
    {"quantized.Conv2dPackedParamsBase", "weight", "Tensor"},
    {"quantized.Conv2dPackedParamsBase", "bias", "Optional[Tensor]"},
    {"quantized.Conv2dPackedParamsBase", "unpack", "Tuple[Tensor, Optional[Tensor]]"},
    {"quantized.Conv2dPackedParamsBase", "stride", "List[int]"},
    {"quantized.Conv2dPackedParamsBase", "padding", "List[int]"},
    {"quantized.Conv2dPackedParamsBase", "output_padding", "List[int]"},
    {"quantized.Conv2dPackedParamsBase", "dilation", "List[int]"},
    {"quantized.Conv2dPackedParamsBase", "groups", "int"},
    {"quantized.Conv2dPackedParamsBase", "transpose", "bool"},
    {"quantized.Conv2dPackedParamsBase", "__getstate__", "Tuple[str, List[Tensor], List[Optional[Tensor]]]"},
    {"quantized.Conv3dPackedParamsBase", "weight", "Tensor"},
    {"quantized.Conv3dPackedParamsBase", "bias", "Optional[Tensor]"},
    {"quantized.Conv3dPackedParamsBase", "unpack", "Tuple[Tensor, Optional[Tensor]]"},
    {"quantized.Conv3dPackedParamsBase", "stride", "List[int]"},
    {"quantized.Conv3dPackedParamsBase", "padding", "List[int]"},
    {"quantized.Conv3dPackedParamsBase", "output_padding", "List[int]"},
    {"quantized.Conv3dPackedParamsBase", "dilation", "List[int]"},
    {"quantized.Conv3dPackedParamsBase", "groups", "int"},
    {"quantized.Conv3dPackedParamsBase", "transpose", "bool"},
    {"quantized.Conv3dPackedParamsBase", "__getstate__", "Tuple[str, List[Tensor], List[Optional[Tensor]]]"},
    {"quantized.LinearPackedParamsBase", "bias", "Optional[Tensor]"},
    {"quantized.LinearPackedParamsBase", "unpack", "Tuple[Tensor, Optional[Tensor]]"},
    {"quantized.LinearPackedParamsBase", "__getstate__", "Tuple[Tensor, Optional[Tensor]]"},
    {"quantized.EmbeddingPackedParamsBase", "bit_rate", "int"},
    {"quantized.EmbeddingPackedParamsBase", "unpack", "Tensor"},
    {"quantized.EmbeddingPackedParamsBase", "version", "int"},
    {"quantized.EmbeddingPackedParamsBase", "__getstate__",
     "Tuple[int, List[Tensor], List[float], List[int]]"},
    {"rnn.CellParamsBase", "__getstate__",
     "Tuple[str, List[Tensor], List[float], List[int], "
     "List[__torch__.torch.classes.quantized.LinearPackedParamsBase]]"},
    {"xnnpack.LinearOpContext", "unpack",
     "Tuple[Tensor, Optional[Tensor], Optional[number], Optional[number]]"},
    {"xnnpack.Conv2dOpContext", "unpack",
     "Tuple[Tensor, Optional[Tensor], List[int], List[int], List[int], int, Optional[number], "
     "Optional[number]]"},
    {"xnnpack.TransposeConv2dOpContext", "unpack",
     "Tuple[Tensor, Optional[Tensor], List[int], List[int], List[int], List[int], int, Optional[number], "
     "Optional[number]]"},
});

// Of those that are known to have no methods at all, not even for pickling.
constexpr std::string_view kWithoutMethods = "profiler._RecordFunction";
constexpr std::string_view kHeldAttribute = "capsule";

}  // namespace

bool is_native_class(std::string_view qualified_name) {
  // A namespace of them is none.
  return qualified_name.starts_with(kNativePrefix) &&
         qualified_name.find('.', kNativePrefix.size()) != std::string_view::npos;
}

std::shared_ptr<Class> make_native_class(std::string_view qualified_name) {
  auto made = std::make_shared<Class>(ClassKind::kPlain, std::string(qualified_name));
  const std::string_view name = qualified_name.substr(kNativePrefix.size());
  for (const NativeMethod& method : kNativeMethods) {
    if (method.type != name) continue;
    Signature signature;
    signature.name = method.name;
    signature.arguments.push_back({"self", made->type(), {}});
    signature.returns = {parse_annotation(method.result)};
    made->methods.push_back(std::make_shared<Function>(
        made->qualified_name() + "." + std::string(method.name), std::move(signature)));
  }
  if (name == kWithoutMethods) made->attributes.push_back({std::string(kHeldAttribute), TypeKind::kCapsule});
  return made;
}

bool is_printed_native_class(const Class& native) { return !native.attributes.empty(); }

}  // namespace flambeau::script
