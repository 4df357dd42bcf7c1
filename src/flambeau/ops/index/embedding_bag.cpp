// Rows of a table, summed, averaged or maximized in bags.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/norm/row_access.h"
#include "flambeau/ops/reduce/fold_loops.h"

namespace flambeau::ops {
namespace {

enum Mode : uint8_t { kSum = 0, kMean = 1, kMax = 2 };

using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;

Tensor numbers(Context& context, DType dtype, std::span<const int64_t> values,
               std::span<const int64_t> sizes) {
  Tensor made = context.allocate(dtype, sizes);
  if (!values.empty()) {
    store_packed(DType::kInt64, values.data(), values.size(), dtype, made.mutable_data(),
                 static_cast<int64_t>(made.element_size()));
  }
  return made;
}

void check_ranks(size_t weight, size_t indices, size_t offsets) {
  if (weight == 2 && indices == 1 && offsets == 1) return;
  throw Error(ErrorCode::kInvalidArgument, "embedding_bag: expected a 2D weight, and 1D indices and offsets");
}

struct Bags {
  ScratchVector<int64_t> of_index;  // which bag an index is in
  ScratchVector<int64_t> sizes;
};

Bags bags_of(const std::vector<int64_t>& offsets, size_t bags, size_t count) {
  Bags result;
  result.sizes.resize(bags);
  result.of_index.resize(count);
  for (size_t bag = 0; bag < bags; ++bag) {
    const int64_t begin = offsets[bag];
    const int64_t end = bag + 1 < bags ? offsets[bag + 1] : static_cast<int64_t>(count);
    if (begin < 0 || end < begin || end > static_cast<int64_t>(count)) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("offsets must rise from 0 to at most {}, got {} and {}", count, begin, end));
    }
    result.sizes[bag] = end - begin;
    for (int64_t i = begin; i < end; ++i) result.of_index[static_cast<size_t>(i)] = static_cast<int64_t>(bag);
  }
  return result;
}

Four run(Context& context, const Tensor& weight, const Tensor& indices, const Tensor& offsets, int64_t mode,
         const Tensor* per_sample, bool include_last, int64_t padding, bool trains) {
  check_ranks(weight.dim(), indices.dim(), offsets.dim());
  if (!is_floating(weight.dtype())) fail_dtype("embedding_bag", weight.dtype());
  if (per_sample != nullptr && per_sample->element_count() != indices.element_count()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("embedding_bag: expected per_sample_weights for each of {} indices, got {}",
                            indices.element_count(), per_sample->element_count()));
  }
  if (per_sample != nullptr && mode != kSum) {
    throw Error(ErrorCode::kInvalidArgument,
                "embedding_bag: per_sample_weights only supported with mode='sum'");
  }
  const std::vector<int64_t> rows = read_indices(indices);
  const std::vector<int64_t> starts = read_indices(offsets);
  if (include_last && starts.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "include_last_offset: number of offset should be at least 1");
  }
  if (!starts.empty() && starts[0] != 0) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
                    "position 0. However, got {}",
                    starts[0]));
  }
  const size_t bags = starts.size() - (include_last ? 1 : 0);
  const Bags in_bags = bags_of(starts, bags, rows.size());
  ScratchVector<int64_t> sizes = in_bags.sizes;
  const auto features = static_cast<size_t>(weight.sizes()[1]);
  const Tensor table = weight.to_contiguous();
  const std::vector<double> scale = read_all<double>(per_sample);
  const auto numbers_in_all = static_cast<size_t>(Size(bags) * features);
  ScratchVector<double> result(numbers_in_all);
  ScratchVector<int64_t> largest(mode == kMax ? numbers_in_all : 0);
  for (size_t i = 0; i < rows.size() && bags > 0; ++i) {
    if (rows[i] >= 0 && rows[i] < weight.sizes()[0]) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {}",
                            rows[i]));
  }
  const auto add_bags = [&](size_t first_bag, size_t last_bag) {
    static const auto sum = FLAMBEAU_PICK(sum_rows);
    const bool is_plain_sum = mode != kMax && scale.empty() && table.dtype() == DType::kFloat32;
    RowReader<double> reader(table);
    WorkPoller poll;
    for (size_t bag = first_bag; bag < last_bag; ++bag) {
      const auto begin = static_cast<size_t>(starts[bag]);
      const size_t end = begin + static_cast<size_t>(in_bags.sizes[bag]);
      double* const to = result.data() + bag * features;
      bool is_empty = true;
      for (size_t i = begin; i < end; ++i) {
        poll(features + 1);
        if (rows[i] == padding) {
          --sizes[bag];
          continue;
        }
        const int64_t at = rows[i] * static_cast<int64_t>(features);
        if (is_plain_sum) {
          sum(to, table.data<float>() + at, 0, 1, features);
          continue;
        }
        const double* const row = reader.read(at, features);
        if (mode != kMax) {
          const double factor = scale.empty() ? 1 : scale[i];
          for (size_t f = 0; f < features; ++f) to[f] += row[f] * factor;
          continue;
        }
        for (size_t f = 0; f < features; ++f) {
          if (!is_empty && !(row[f] > to[f])) continue;
          to[f] = row[f];
          largest[bag * features + f] = rows[i];
        }
        is_empty = false;
      }
    }
  };
  const size_t in_a_bag = bags == 0 ? 0 : rows.size() / bags * features;
  context.pool().for_each_range(bags, std::max<size_t>(static_cast<size_t>(kGrain) / (in_a_bag + 1), 1),
                                add_bags);
  if (mode == kMean) {
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] /= static_cast<double>(std::max<int64_t>(sizes[i / features], 1));
    }
  }
  Tensor out = context.allocate(weight.dtype(), Dims{static_cast<int64_t>(bags), weight.sizes()[1]});
  if (!result.empty()) write_all(result, out);
  const DType index_type = promote(indices.dtype(), offsets.dtype());
  // What is only of use in training is left out as PyTorch leaves it out.
  const bool is_fast = weight.dtype() != DType::kFloat64 && weight.strides()[1] == 1 && padding < 0;
  const bool has_bags = mode != kSum || !is_fast;
  if (mode == kSum) sizes.assign(trains ? bags : starts.size(), 0);
  const Dims size_list{static_cast<int64_t>(sizes.size())};
  return {out,
          numbers(context, index_type, has_bags ? in_bags.of_index : ScratchVector<int64_t>(),
                  Dims{has_bags ? static_cast<int64_t>(rows.size()) : 0}),
          numbers(context, index_type, sizes, size_list),
          mode == kMax ? numbers(context, index_type, largest, out.sizes())
                       : numbers(context, index_type, sizes, size_list)};
}

// With the sizes that run() gives its four results.
template <typename N>
using FourInfos = std::tuple<Info<N>, Info<N>, Info<N>, Info<N>>;
template <typename N>
FourInfos<N> bag_infos(const Info<N>& weight, const Info<N>& indices, const Info<N>& offsets, Size mode,
                       const Info<N>* per_sample, bool include_last, int64_t padding, bool trains) {
  if (per_sample != nullptr && !(per_sample->element_count() == indices.element_count())) {
    throw Error(ErrorCode::kInvalidArgument,
                "embedding_bag: expected per_sample_weights for each of the indices");
  }
  check_ranks(weight.dim(), indices.dim(), offsets.dim());
  const N bags = offsets.sizes[0] - N(include_last ? 1 : 0);
  const DType type = promote(indices.dtype, offsets.dtype);
  const bool is_fast = weight.dtype != DType::kFloat64 && weight.strides[1] == N(1) && padding < 0;
  const auto list = [&](const ShortList<N>& sizes) { return contiguous<N>(type, sizes, weight.device); };
  const ShortList<N> out{bags, weight.sizes[1]};
  const N counts = mode == kSum && !trains ? offsets.sizes[0] : bags;
  return {contiguous<N>(weight.dtype, out, weight.device),
          list({mode != kSum || !is_fast ? indices.element_count() : N(0)}), list({counts}),
          mode == kMax ? list(out) : list({counts})};
}
template <typename N>
FourInfos<N> bag_shape(const Info<N>& weight, const Info<N>& indices, const Info<N>& offsets, bool, Size mode,
                       bool, const Info<N>* per_sample, bool include_last, std::optional<Size> padding) {
  return bag_infos(weight, indices, offsets, mode, per_sample, include_last, padding.value_or(Size(-1)),
                   false);
}
template <typename N, bool kTrains>
FourInfos<N> bag_padded_shape(const Info<N>& weight, const Info<N>& indices, const Info<N>& offsets, bool,
                              Size mode, bool, const Info<N>* per_sample, bool include_last, Size padding) {
  return bag_infos(weight, indices, offsets, mode, per_sample, include_last, padding, kTrains);
}
template <typename N>
FourInfos<N> bag_plain_shape(const Info<N>& weight, const Info<N>& indices, const Info<N>& offsets, bool,
                             Size mode, bool, const Info<N>* per_sample, bool include_last) {
  return bag_infos(weight, indices, offsets, mode, per_sample, include_last, -1, false);
}

template <bool kTrains>
Four bag_padded(Context& context, const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool,
                Size mode, bool, const Tensor* per_sample, bool include_last, Size padding) {
  return run(context, weight, indices, offsets, mode, per_sample, include_last, padding, kTrains);
}
Four bag(Context& context, const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool,
         Size mode, bool, const Tensor* per_sample, bool include_last) {
  return run(context, weight, indices, offsets, mode, per_sample, include_last, -1, false);
}
Four bag_optional(Context& context, const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool,
                  Size mode, bool, const Tensor* per_sample, bool include_last, std::optional<Size> padding) {
  const int64_t rows = weight.dim() > 0 ? weight.sizes()[0] : 0;
  if (padding && (*padding < -rows || *padding >= rows)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("padding_idx must be within the number of embeddings, -{} through {}, but got {}",
                            rows, rows - 1, *padding));
  }
  const int64_t wrapped = !padding ? Size(-1) : *padding < 0 ? *padding + rows : *padding;
  return run(context, weight, indices, offsets, mode, per_sample, include_last, wrapped, false);
}

std::vector<Value> bag_parts(Context& c, const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                             bool scale_grad_by_freq, Size mode, bool sparse,
                             const Tensor* per_sample_weights, bool include_last_offset,
                             std::optional<Size> padding_idx) {
  return call<std::vector<Value>>(c, "aten::_embedding_bag", weight, indices, offsets, scale_grad_by_freq,
                                  mode, sparse, per_sample_weights, include_last_offset,
                                  padding_idx.value_or(-1));
}

}  // namespace

void define_embedding_bag(Library& library) {
  library
      .define(
          "aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
          "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool "
          "include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)")
      .shape<bag_padded_shape<Size, true>, bag_padded_shape<SymInt, true>>()
      .function<bag_padded<true>>();
  library
      .define(
          "aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool "
          "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool "
          "include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)")
      .shape<bag_padded_shape<Size, false>, bag_padded_shape<SymInt, false>>()
      .function<bag_padded<false>>();
  library
      .define(
          "aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, "
          "int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) "
          "-> (Tensor, Tensor, Tensor, Tensor)")
      .shape<bag_plain_shape<Size>, bag_plain_shape<SymInt>>()
      .function<bag>();
  library
      .define(
          "aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool "
          "scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, "
          "int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)")
      .shape<bag_shape<Size>, bag_shape<SymInt>>()
      .function<bag_optional>()
      .composite<bag_parts>();
}

}  // namespace flambeau::ops
