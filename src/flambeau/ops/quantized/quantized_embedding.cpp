// Rows of tables whose numbers are integers of 8, 4 or 2 bits, each row with a scale and a least number of
// its own: looked up, or added up in bags.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/quantized/packed.h"
#include "flambeau/ops/view/rules.h"
#include "flambeau/tensor/elements/convert.h"

namespace flambeau::ops {
namespace {

struct PackedEmbedding {
  Tensor weight;  // quint8 or quint4x2, per row with zero points that are real
};

// A row is bytes full of integers, from the low bits on; the number is integer * scale + least.
struct RowTable {
  const uint8_t* bytes = nullptr;
  int64_t rows = 0, columns = 0, step = 0;
  int bits = 8;
  std::vector<float> scales, least;

  float at(int64_t row, int64_t column) const {
    const int64_t per_byte = 8 / bits;
    const uint8_t byte = bytes[row * step + column / per_byte];
    const int integer = (byte >> (column % per_byte * bits)) & ((1 << bits) - 1);
    return static_cast<float>(integer) * scales[static_cast<size_t>(row)] + least[static_cast<size_t>(row)];
  }
};

Tensor floats(std::span<const float> numbers) {
  Tensor tensor = Tensor::zeros(DType::kFloat32, Dims{static_cast<int64_t>(numbers.size())});
  std::ranges::copy(numbers, tensor.mutable_data<float>());
  return tensor;
}
// As half precision keeps them.
void round_to_half(std::vector<float>& numbers) {
  if (!numbers.empty()) numbers = numbers_of<float>(convert(floats(numbers), DType::kFloat16));
}

RowTable table_of(const Tensor& weight, const Tensor& packed) {
  const Quantizer& quantizer = quantizer_of(weight);
  RowTable table;
  table.bytes = packed.data();
  table.rows = weight.sizes()[0];
  table.columns = weight.sizes()[1];
  table.bits = weight.dtype() == DType::kQUInt8 ? 8 : 4;
  if (table.columns * table.bits % 8 != 0) fail_view("rows of 4-bit integers have an even number of them");
  table.step = table.columns * table.bits / 8;
  table.scales = numbers_of<float>(quantizer.scales);
  table.least = numbers_of<float>(quantizer.zero_points);
  for (size_t r = 0; r < table.least.size(); ++r) table.least[r] *= -table.scales[r];
  if (table.bits == 4) {
    round_to_half(table.scales);
    round_to_half(table.least);
  }
  return table;
}

// Behind the integers of each row: two numbers, of single precision for bytes, else of half.
template <int kBits>
RowTable table_of_rows(const Tensor& packed) {
  constexpr int64_t kBehind = kBits == 8 ? 8 : 4;
  if (packed.dtype() != DType::kUInt8 || packed.dim() != 2 || packed.sizes()[1] <= kBehind)
    fail_view(fmt::format("packed rows of bytes are expected, not {}", packed.summary()));
  RowTable table;
  table.bytes = packed.data();
  table.bits = kBits;
  table.rows = packed.sizes()[0];
  table.step = packed.sizes()[1];
  table.columns = (table.step - kBehind) * (8 / kBits);
  const DType dtype = kBits == 8 ? DType::kFloat32 : DType::kFloat16;
  Tensor pairs = Tensor::zeros(dtype, Dims{table.rows, 2});
  for (int64_t r = 0; r < table.rows; ++r)
    std::memcpy(pairs.mutable_data() + r * kBehind, table.bytes + (r + 1) * table.step - kBehind, kBehind);
  const std::vector<float> numbers = numbers_of<float>(pairs);
  for (size_t r = 0; r < static_cast<size_t>(table.rows); ++r) {
    table.scales.push_back(numbers[2 * r]);
    table.least.push_back(numbers[2 * r + 1]);
  }
  return table;
}

void check_row(int64_t row, int64_t rows) {
  if (row < 0 || row >= rows) fail_view(fmt::format("the index {} is none of {} rows", row, rows));
}

Tensor look_up(Context& context, const RowTable& table, const Tensor& indices) {
  Dims sizes = indices.sizes();
  sizes.push_back(table.columns);
  const Tensor out = context.allocate(DType::kFloat32, sizes);
  auto* to = out.mutable_data<float>();
  WorkPoller poll;
  for (const int64_t row : numbers_of<int64_t>(indices)) {
    check_row(row, table.rows);
    for (int64_t c = 0; c < table.columns; ++c) *to++ = table.at(row, c);
    poll(static_cast<size_t>(table.columns));
  }
  return out;
}

// PyTorch adds up, whatever the mode says.
Tensor sum_bags(Context& context, const RowTable& table, const Tensor& indices, const Tensor* offsets,
                const Tensor* weights, bool include_last_offset, bool pruned, const Tensor* mapping) {
  if (pruned && mapping != nullptr && mapping->element_count() > 1)
    fail_view("tables without some of their rows are not looked into here");
  const std::vector<int64_t> rows = numbers_of<int64_t>(indices);
  std::vector<int64_t> begins;
  if (indices.dim() == 2) {
    for (int64_t b = 0; b <= indices.sizes()[0]; ++b) begins.push_back(b * indices.sizes()[1]);
  } else {
    if (offsets == nullptr || indices.dim() != 1) fail_view("a list of indices has offsets of bags");
    begins = numbers_of<int64_t>(*offsets);
    if (!include_last_offset) begins.push_back(static_cast<int64_t>(rows.size()));
    if (begins.empty()) begins.push_back(0);
  }
  const std::vector<float> factors = weights == nullptr ? std::vector<float>() : numbers_of<float>(*weights);
  if (weights != nullptr && factors.size() != rows.size())
    fail_view(fmt::format("{} weights for {} indices", factors.size(), rows.size()));
  const auto bags = static_cast<int64_t>(begins.size()) - 1;
  const Tensor out = context.allocate(DType::kFloat32, Dims{bags, table.columns});
  WorkPoller poll;
  for (int64_t b = 0; b < bags; ++b) {
    const int64_t begin = begins[static_cast<size_t>(b)], end = begins[static_cast<size_t>(b) + 1];
    if (begin < 0 || end < begin || end > static_cast<int64_t>(rows.size()))
      fail_view(fmt::format("a bag from {} to {} of {} indices", begin, end, rows.size()));
    float* const to = out.mutable_data<float>() + b * table.columns;
    std::fill_n(to, table.columns, 0.0F);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = rows[static_cast<size_t>(i)];
      check_row(row, table.rows);
      const float factor = factors.empty() ? 1.0F : factors[static_cast<size_t>(i)];
      for (int64_t c = 0; c < table.columns; ++c) to[c] += factor * table.at(row, c);
      poll(static_cast<size_t>(table.columns));
    }
  }
  return out;
}

// ---- packed objects

const Tensor& embedding_weight(const Value& packed, DType dtype) {
  const Tensor& weight = packed_object<PackedEmbedding>(packed, kEmbeddingClass).weight;
  if (weight.dtype() != dtype)
    fail_view(fmt::format("a table of {} is expected, not {}", dtype_name(dtype), weight.summary()));
  return weight;
}
Object prepack_object(const Tensor& weight) {
  const Quantizer& quantizer = quantizer_of(weight);
  if ((weight.dtype() != DType::kQUInt8 && weight.dtype() != DType::kQUInt4x2) || weight.dim() != 2 ||
      quantizer.scheme != Quantizer::Scheme::kPerChannelAffineFloatQParams || quantizer.axis != 0)
    fail_view(fmt::format("a matrix quantized by rows, with real zero points, is expected, not {}",
                          weight.summary()));
  return make_object<PackedEmbedding>(kEmbeddingClass, PackedEmbedding{weight.to_contiguous()});
}
Tensor unpack_object(const Value& packed) {
  return packed_object<PackedEmbedding>(packed, kEmbeddingClass).weight;
}
template <DType kType>
Tensor embedding(Context& context, const Value& packed, const Tensor& indices, bool) {
  const Tensor& weight = embedding_weight(packed, kType);
  return look_up(context, table_of(weight, weight), indices);
}
template <DType kType>
Tensor embedding_bag(Context& context, const Value& packed, const Tensor& indices, const Tensor* offsets,
                     bool, Size, bool pruned, const Tensor* weights, const Tensor* mapping,
                     bool include_last_offset) {
  const Tensor& weight = embedding_weight(packed, kType);
  return sum_bags(context, table_of(weight, weight), indices, offsets, weights, include_last_offset, pruned,
                  mapping);
}
Object embedding_from_state(const Value& state) {
  const auto* const parts = state.get_if<ValueList>();
  if (parts == nullptr || parts->size() != 4) fail_state(kEmbeddingClass, state);
  if (const auto* const tensors = (*parts)[1].get_if<TensorList>();
      tensors != nullptr && tensors->size() == 1)
    return prepack_object((*tensors)[0]);
  const auto* const items = (*parts)[1].get_if<ValueList>();
  if (items == nullptr || items->size() != 1 || !items->front().is_tensor())
    fail_state(kEmbeddingClass, state);
  return prepack_object(items->front().tensor());
}
Value embedding_state(const Object& object) {
  const Value boxed(object);
  const Tensor& weight = packed_object<PackedEmbedding>(boxed, kEmbeddingClass).weight;
  const int64_t bits = weight.dtype() == DType::kQUInt8 ? 8 : 4;
  return ValueList{1, TensorList{weight}, std::vector<double>(), Dims{bits}};
}

// ---- packed rows

template <int kBits>
Tensor embedding_bag_rows(Context& context, const Tensor& given, const Tensor& indices, const Tensor* offsets,
                          bool, Size, bool pruned, const Tensor* weights, const Tensor* mapping,
                          bool include_last_offset) {
  const Tensor packed = call(context, "aten::contiguous", given);
  return sum_bags(context, table_of_rows<kBits>(packed), indices, offsets, weights, include_last_offset,
                  pruned, mapping);
}

template <int kBits>
Tensor unpack_rows(Context& context, const Tensor& given) {
  const Tensor packed = call(context, "aten::contiguous", given);
  const RowTable table = table_of_rows<kBits>(packed);
  const Tensor out = context.allocate(DType::kFloat32, Dims{table.rows, table.columns});
  auto* to = out.mutable_data<float>();
  WorkPoller poll;
  for (int64_t r = 0; r < table.rows; ++r) {
    for (int64_t c = 0; c < table.columns; ++c) *to++ = table.at(r, c);
    poll(static_cast<size_t>(table.columns));
  }
  return out;
}

template <int kBits>
Tensor prepack_rows(Context& context, const Tensor& given) {
  const Tensor weight = parts::packed(context, parts::to_dtype(context, given, DType::kFloat32));
  if (weight.dim() != 2 || weight.sizes()[1] == 0)
    fail_view(fmt::format("a matrix is expected, not {}", given.summary()));
  const int64_t rows = weight.sizes()[0], columns = weight.sizes()[1];
  constexpr int64_t kPerByte = 8 / kBits;
  if (columns % kPerByte != 0) fail_view(fmt::format("rows of {} numbers do not fill bytes", columns));
  constexpr float kMost = (1 << kBits) - 1;
  constexpr int64_t kBehind = kBits == 8 ? 8 : 4;
  const int64_t step = columns / kPerByte + kBehind;
  const Tensor out = context.allocate(DType::kUInt8, Dims{rows, step});
  const auto* const x = weight.data<float>();
  std::vector<float> least, scales;
  for (int64_t r = 0; r < rows; ++r) {
    const auto [low, high] = std::minmax_element(x + r * columns, x + (r + 1) * columns);
    least.push_back(*low);
    scales.push_back(*high);
  }
  if (kBits < 8) round_to_half(least);
  for (size_t r = 0; r < scales.size(); ++r) scales[r] = (scales[r] - least[r]) / kMost;
  if (kBits < 8) {
    round_to_half(scales);
    for (float& scale : scales) scale = scale == 0 || std::isinf(1.0F / scale) ? 1.0F : scale;
  }
  Tensor pairs = Tensor::zeros(DType::kFloat32, Dims{rows, 2});
  WorkPoller poll;
  for (int64_t r = 0; r < rows; ++r) {
    const auto i = static_cast<size_t>(r);
    pairs.mutable_data<float>()[2 * r] = scales[i];
    pairs.mutable_data<float>()[2 * r + 1] = least[i];
    constexpr float kTiny = 1e-8F;
    const float inverse = kBits == 8 ? kMost / (scales[i] * kMost + kTiny) : 1.0F / scales[i];
    uint8_t* const to = out.mutable_data() + r * step;
    std::memset(to, 0, static_cast<size_t>(step));
    for (int64_t c = 0; c < columns; ++c) {
      const float value = std::nearbyint((x[r * columns + c] - least[i]) * inverse);
      const auto integer = static_cast<int>(value > 0 ? std::min(value, kMost) : 0.0F);
      to[c / kPerByte] = static_cast<uint8_t>(to[c / kPerByte] | (integer << (c % kPerByte * kBits)));
    }
    poll(static_cast<size_t>(columns));
  }
  const Tensor behind = kBits == 8 ? pairs : convert(pairs, DType::kFloat16);
  for (int64_t r = 0; r < rows; ++r)
    std::memcpy(out.mutable_data() + (r + 1) * step - kBehind, behind.data() + r * kBehind, kBehind);
  return out;
}

template <int kBits>
Tensor prepack_narrow(Context& context, const Tensor& weight, bool is_searched, Size, double) {
  if (is_searched) {
    throw Error(ErrorCode::kUnsupported, "the scales of packed rows are not searched for here",
                "leave optimized_qparams out");
  }
  return prepack_rows<kBits>(context, weight);
}

// A version, the weight in a list, no numbers, how many bits a number has.
Value embedding_part(const Object& object, size_t index) {
  return embedding_state(object).get<ValueList>().at(index);
}
Value embedding_version(const Object& object, std::span<const Value> /*arguments*/) {
  return embedding_part(object, 0);
}
Value embedding_whole(const Object& object, std::span<const Value> /*arguments*/) {
  return embedding_part(object, 1).get<TensorList>().at(0);
}
Value embedding_bits(const Object& object, std::span<const Value> /*arguments*/) {
  return embedding_part(object, 3).get<Dims>()[0];
}
ObjectClass embedding_class() {
  return {.name = std::string(kEmbeddingClass),
          .state_type = "Tuple[int, List[Tensor], List[float], List[int]]",
          .from_state = embedding_from_state,
          .state = embedding_state,
          .methods = {{.name = "bit_rate", .result = "int", .function = embedding_bits},
                      {.name = "unpack", .result = "Tensor", .function = embedding_whole},
                      {.name = "version", .result = "int", .function = embedding_version}}};
}

}  // namespace

void define_quantized_embedding(Library& library) {
  library.define_class(kEmbeddingClass, embedding_class);
#define FLAMBEAU_PACKED "__torch__.torch.classes.quantized.EmbeddingPackedParamsBase"
#define FLAMBEAU_BAG                                                                                      \
  " weight, Tensor indices, Tensor? offsets=None, bool scale_grad_by_freq=False, int mode=0, bool "       \
  "pruned_weights=False, Tensor? per_sample_weights=None, Tensor? compressed_indices_mapping=None, bool " \
  "include_last_offset=False) -> Tensor"
  library.define("quantized::embedding_bag_prepack(Tensor weight) -> " FLAMBEAU_PACKED " W_prepack")
      .quantized<prepack_object>();
  library.define("quantized::embedding_bag_unpack(" FLAMBEAU_PACKED " W_prepack) -> Tensor W_origin")
      .function<unpack_object>();
  library
      .define("quantized::embedding_byte(" FLAMBEAU_PACKED
              " weight, Tensor indices, bool pruned_weights=False) -> Tensor")
      .function<embedding<DType::kQUInt8>>();
  library
      .define("quantized::embedding_4bit(" FLAMBEAU_PACKED
              " weight, Tensor indices, bool pruned_weights=False) -> Tensor")
      .function<embedding<DType::kQUInt4x2>>();
  library.define("quantized::embedding_bag_byte(" FLAMBEAU_PACKED FLAMBEAU_BAG)
      .function<embedding_bag<DType::kQUInt8>>();
  library.define("quantized::embedding_bag_4bit(" FLAMBEAU_PACKED FLAMBEAU_BAG)
      .function<embedding_bag<DType::kQUInt4x2>>();
  library.define("quantized::embedding_bag_byte_rowwise_offsets(Tensor" FLAMBEAU_BAG)
      .function<embedding_bag_rows<8>>();
  library.define("quantized::embedding_bag_4bit_rowwise_offsets(Tensor" FLAMBEAU_BAG)
      .function<embedding_bag_rows<4>>();
  library.define("quantized::embedding_bag_2bit_rowwise_offsets(Tensor" FLAMBEAU_BAG)
      .function<embedding_bag_rows<2>>();
#undef FLAMBEAU_BAG
#undef FLAMBEAU_PACKED
  library.define("quantized::embedding_bag_byte_prepack(Tensor weight) -> Tensor")
      .function<prepack_rows<8>>();
  library
      .define(
          "quantized::embedding_bag_4bit_prepack(Tensor weight, bool optimized_qparams=False, int nbins=200, "
          "float ratio=0.16) -> Tensor")
      .function<prepack_narrow<4>>();
  library
      .define(
          "quantized::embedding_bag_2bit_prepack(Tensor weight, bool optimized_qparams=False, int nbins=200, "
          "float ratio=0.16) -> Tensor")
      .function<prepack_narrow<2>>();
  library.define("quantized::embedding_bag_byte_unpack(Tensor weight) -> Tensor").function<unpack_rows<8>>();
  library.define("quantized::embedding_bag_4bit_unpack(Tensor weight) -> Tensor").function<unpack_rows<4>>();
  library.define("quantized::embedding_bag_2bit_unpack(Tensor weight) -> Tensor").function<unpack_rows<2>>();
}

}  // namespace flambeau::ops
