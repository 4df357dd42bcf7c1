#include "flambeau/formats/torchscript/json_module.h"

#include <gtest/gtest.h>

#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/formats/torchscript/test_modules.h"

namespace flambeau::script {
namespace {

std::string floats(const std::vector<float>& numbers) {
  std::string bytes(numbers.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

// As protobuf writes it: 64-bit integers as strings.
constexpr const char* kModel = R"({
  "protoVersion": "1", "producerName": "pytorch", "producerVersion": "1.1.0",
  "mainModule": {
    "torchscriptArena": {"key": "code/m.py"}, "name": "M", "optimize": true,
    "parameters": [{"isBuffer": false, "tensorId": "0", "name": "weight"},
                   {"isBuffer": true, "tensorId": "1", "name": "row"}],
    "attributes": [{"type": "int", "name": "count", "id": "0"}],
    "submodules": [{"name": "sub", "parameters": [{"tensorId": "2", "name": "bias"}]}]
  },
  "tensors": [
    {"dims": ["2", "3"], "offset": "0", "strides": ["3", "1"], "requiresGrad": true, "dataType": "FLOAT",
     "data": {"key": "tensors/0"}, "device": "cpu"},
    {"dims": ["3"], "offset": "3", "strides": ["1"], "dataType": "FLOAT", "data": {"key": "tensors/0"}},
    {"dims": ["2"], "strides": ["1"], "data_type": 7, "data": {"key": "tensors/1"}, "isQuantized": true,
     "scale": 0.5, "zeroPoint": "1"}
  ]})";

JsonModule read(std::string model) {
  return read_json_module(testing::make_archive({{"tensors/0", floats({0, 1, 2, 3, 4, 5})},
                                                 {"tensors/1", std::string("\x03\x05", 2)},
                                                 {"model.json", std::move(model)},
                                                 {"version", "1\n"}}));
}

std::string with(const std::string& text, const std::string& replacement) {
  std::string model = kModel;
  const size_t at = model.find(text);
  EXPECT_NE(at, std::string::npos) << text;
  return model.replace(at, text.size(), replacement);
}

std::string error_of(const std::string& model) {
  try {
    read(model);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(JsonModule, ReadsTensorsModuleByModule) {
  const JsonModule module = read(kModel);
  ASSERT_EQ(module.tensors.size(), 3U);
  const CheckpointTensor& weight = module.tensors[0];
  EXPECT_EQ(weight.name, "weight");
  EXPECT_EQ(weight.role, TensorRole::kParameter);
  EXPECT_EQ(weight.tensor.summary(), "float32[2, 3]");
  EXPECT_TRUE(weight.tensor.requires_grad());
  EXPECT_EQ(weight.tensor.data<float>()[5], 5.0F);
  const CheckpointTensor& row = module.tensors[1];
  EXPECT_EQ(row.role, TensorRole::kTensor);
  EXPECT_EQ(row.tensor.storage(), weight.tensor.storage());
  EXPECT_EQ(row.tensor.data<float>()[0], 3.0F);
  const CheckpointTensor& bias = module.tensors[2];
  EXPECT_EQ(bias.name, "sub.bias");
  EXPECT_EQ(bias.tensor.dtype(), DType::kQInt8);
  EXPECT_EQ(bias.tensor.quantizer()->scale, 0.5);
  EXPECT_EQ(bias.tensor.quantizer()->zero_point, 1);
  EXPECT_EQ(module.attributes, std::vector<std::string>{"count"});
}

TEST(JsonModule, SaysWhatIsWrong) {
  EXPECT_EQ(
      error_of("{}"),
      "record 'model.json': model.json describes no main module (the file is incomplete: get it again)");
  EXPECT_NE(error_of("[1]").find("the model in model.json should be an object"), std::string::npos);
  EXPECT_NE(
      error_of(with(R"("tensorId": "1")", R"("tensorId": "7")")).find("tensor 7 is asked for, there are 3"),
      std::string::npos);
  EXPECT_NE(error_of(with(R"("tensorId": "1")", R"("tensorId": "1x")"))
                .find("'tensorId' should be an integer, found '1x'"),
            std::string::npos);
  EXPECT_NE(error_of(with(R"("offset": "3")", R"("offset": "4")")).find("its storage has 24"),
            std::string::npos);
  EXPECT_NE(error_of(with(R"("offset": "3")", R"("offset": "-1")")).find("negative storage offset -1"),
            std::string::npos);
  EXPECT_NE(
      error_of(with(R"("dims": ["3"])", R"("dims": ["9223372036854775807", "9"])")).find("a tensor has"),
      std::string::npos);
  EXPECT_NE(error_of(with("\"FLOAT\"", "\"STRING\"")).find("a tensor of the data type STRING"),
            std::string::npos);
  EXPECT_NE(error_of(with("tensors/1", "tensors/2")).find("tensors/2"), std::string::npos);
  EXPECT_NE(error_of(with(R"("name": "row")", R"("name": "weight")")).find("two tensors are called 'weight'"),
            std::string::npos);
  EXPECT_NE(error_of(with(R"("name": "row")", R"("name": "")")).find("has no name"), std::string::npos);
}

TEST(JsonModule, BoundsWhatItTakes) {
  std::string deep = R"({"name": "s"})";
  for (int i = 0; i < 300; ++i) deep = R"({"name": "s", "submodules": [)" + deep + "]}";
  const std::string error = error_of(R"({"mainModule": )" + deep + "}");
  EXPECT_NE(error.find("deep"), std::string::npos) << error;
  std::string dims = "\"1\"";
  for (int i = 0; i < 64; ++i) dims += ", \"1\"";
  EXPECT_NE(
      error_of(with(R"("dims": ["3"])", "\"dims\": [" + dims + "]")).find("65 dimensions, more than 64"),
      std::string::npos);
}

}  // namespace
}  // namespace flambeau::script
