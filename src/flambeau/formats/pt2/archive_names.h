// Where things are in an archive.
#pragma once

#include <string>
#include <string_view>

namespace flambeau::pt2 {

inline constexpr std::string_view kModels = "models/";
inline constexpr std::string_view kWeights = "data/weights/";
inline constexpr std::string_view kConstants = "data/constants/";
inline constexpr std::string_view kSampleInputs = "data/sample_inputs/";
inline constexpr std::string_view kExtra = "extra/";
inline constexpr std::string_view kFormat = "archive_format";
inline constexpr std::string_view kArchiveVersion = "archive_version";
inline constexpr std::string_view kFormatVersion = ".data/version";
inline constexpr std::string_view kByteOrder = "byteorder";
inline constexpr std::string_view kSerializationId = ".data/serialization_id";
inline constexpr std::string_view kWeightPrefix = "weight_";
inline constexpr std::string_view kTensorPrefix = "tensor_";
inline constexpr std::string_view kObjectPrefix = "custom_obj_";
inline constexpr std::string_view kOpaquePrefix = "opaque_obj_";

inline std::string model_record(std::string_view name) {
  return std::string(kModels).append(name).append(".json");
}
inline std::string weights_config_record(std::string_view name) {
  return std::string(kWeights).append(name).append("_weights_config.json");
}
inline std::string constants_config_record(std::string_view name) {
  return std::string(kConstants).append(name).append("_constants_config.json");
}
inline std::string sample_inputs_record(std::string_view name) {
  return std::string(kSampleInputs).append(name).append(".pt");
}

// The layout of PyTorch 2.1 to 2.7.
inline constexpr std::string_view kZipProgram = "serialized_exported_program.json";
inline constexpr std::string_view kZipStateDict = "serialized_state_dict.pt";
inline constexpr std::string_view kZipConstants = "serialized_constants.pt";
inline constexpr std::string_view kZipExampleInputs = "serialized_example_inputs.pt";
inline constexpr std::string_view kZipOldStateDict = "serialized_state_dict.json";
inline constexpr std::string_view kZipOldConstants = "serialized_constants.json";
inline constexpr std::string_view kZipVersion = "version";
inline constexpr std::string_view kZipExtra = "extra_files/";

}  // namespace flambeau::pt2
