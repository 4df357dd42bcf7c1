#include "flambeau/formats/gguf/gguf_types.h"

#include "flambeau/formats/gguf/gguf_blocks.h"

namespace flambeau {
namespace {

using namespace gguf;  // NOLINT: the table names each decoder

constexpr GgufType kTypes[] = {
    {0, "F32", 1, 4, DType::kFloat32},
    {1, "F16", 1, 2, DType::kFloat16},
    {2, "Q4_0", 32, 18, {}, decode_q4_0},
    {3, "Q4_1", 32, 20, {}, decode_q4_1},
    {6, "Q5_0", 32, 22, {}, decode_q5_0},
    {7, "Q5_1", 32, 24, {}, decode_q5_1},
    {8, "Q8_0", 32, 34, {}, decode_q8_0},
    {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84, {}, decode_q2_k},
    {11, "Q3_K", 256, 110, {}, decode_q3_k},
    {12, "Q4_K", 256, 144, {}, decode_q4_k},
    {13, "Q5_K", 256, 176, {}, decode_q5_k},
    {14, "Q6_K", 256, 210, {}, decode_q6_k},
    {15, "Q8_K", 256, 292},
    {16, "IQ2_XXS", 256, 66},
    {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98},
    {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18},
    {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},
    {23, "IQ4_XS", 256, 136},
    {24, "I8", 1, 1, DType::kInt8},
    {25, "I16", 1, 2, DType::kInt16},
    {26, "I32", 1, 4, DType::kInt32},
    {27, "I64", 1, 8, DType::kInt64},
    {28, "F64", 1, 8, DType::kFloat64},
    {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2, DType::kBFloat16},
    {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66},
    {39, "MXFP4", 32, 17},
};

}  // namespace

const GgufType* find_gguf_type(uint32_t number) {
  for (const GgufType& type : kTypes) {
    if (type.number == number) return &type;
  }
  return nullptr;
}

}  // namespace flambeau
