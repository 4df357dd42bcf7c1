// torchvision's nms: of boxes that overlap, the one with the best score.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "flambeau/base/stoppable.h"
#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"

namespace flambeau::ops {
namespace {

template <typename N>
void check_boxes(const Info<N>& dets, const Info<N>& scores) {
  if (dets.dim() != 2) fail_argument(fmt::format("boxes should be a 2d tensor, got {}D", dets.dim()));
  require(dets.sizes[1] == N(4), "boxes should have 4 elements in dimension 1");
  if (scores.dim() != 1) fail_argument(fmt::format("scores should be a 1d tensor, got {}D", scores.dim()));
  require(dets.sizes[0] == scores.sizes[0],
          "boxes and scores should have same number of elements in dimension 0");
  require(dets.dtype == scores.dtype, "dets should have the same type as scores");
  if (dets.dtype != DType::kFloat32 && dets.dtype != DType::kFloat64) fail_dtype("nms_kernel", dets.dtype);
}

// Boxes in the order of their scores, one array for each coordinate.
template <typename T>
struct Boxes {
  ScratchVector<T> left, top, right, bottom, area;
  explicit Boxes(size_t count) : left(count), top(count), right(count), bottom(count), area(count) {}
};

// How far the box overlaps each of those behind it, as a share of what both cover together.
template <typename T>
void suppress(const Boxes<T>& boxes, size_t at, size_t count, T threshold, uint8_t* is_suppressed) {
  const T left = boxes.left[at], top = boxes.top[at], right = boxes.right[at], bottom = boxes.bottom[at];
  const T area = boxes.area[at];
  const T* const lefts = boxes.left.data();
  const T* const tops = boxes.top.data();
  const T* const rights = boxes.right.data();
  const T* const bottoms = boxes.bottom.data();
  const T* const areas = boxes.area.data();
#pragma GCC ivdep
  for (size_t j = at + 1; j < count; ++j) {
    const T width = std::max(T(0), std::min(right, rights[j]) - std::max(left, lefts[j]));
    const T height = std::max(T(0), std::min(bottom, bottoms[j]) - std::max(top, tops[j]));
    const T both = width * height;
    is_suppressed[j] = static_cast<uint8_t>(is_suppressed[j] | (both / (area + areas[j] - both) > threshold));
  }
}

template <typename T>
std::vector<int64_t> kept_boxes(const T* boxes, const T* scores, size_t count, double iou_threshold) {
  ScratchVector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  WorkPoller poll;
  // NaN is the best score, as it is the greatest number to sort().
  const auto is_better = [&](size_t a, size_t b) {
    return scores[a] > scores[b] || (std::isnan(scores[a]) && !std::isnan(scores[b]));
  };
  std::stable_sort(order.begin(), order.end(), stoppable(poll, is_better));
  Boxes<T> sorted(count);
  for (size_t i = 0; i < count; ++i) {
    const T* const box = boxes + order[i] * 4;
    sorted.left[i] = box[0];
    sorted.top[i] = box[1];
    sorted.right[i] = box[2];
    sorted.bottom[i] = box[3];
    sorted.area[i] = (box[2] - box[0]) * (box[3] - box[1]);
  }
  // The greatest number of the type that is not above: nothing of the type lies between.
  T threshold = static_cast<T>(iou_threshold);
  if (static_cast<double>(threshold) > iou_threshold)
    threshold = std::nextafter(threshold, -std::numeric_limits<T>::infinity());
  ScratchVector<uint8_t> is_suppressed(count, 0);
  std::vector<int64_t> kept;
  for (size_t i = 0; i < count; ++i) {
    poll(1);
    if (is_suppressed[i] != 0) continue;
    kept.push_back(static_cast<int64_t>(order[i]));
    poll(count - i);
    suppress(sorted, i, count, threshold, is_suppressed.data());
  }
  return kept;
}

Tensor nms(Context& context, const Tensor& dets, const Tensor& scores, double iou_threshold) {
  check_boxes(info_of(dets), info_of(scores));
  const Tensor boxes = dets.to_contiguous();
  const Tensor values = scores.to_contiguous();
  const auto count = static_cast<size_t>(scores.element_count());
  std::vector<int64_t> kept;
  if (count > 0) {
    kept = dets.dtype() == DType::kFloat64
               ? kept_boxes(boxes.data<double>(), values.data<double>(), count, iou_threshold)
               : kept_boxes(boxes.data<float>(), values.data<float>(), count, iou_threshold);
  }
  Tensor out = context.allocate(DType::kInt64, Dims{static_cast<int64_t>(kept.size())});
  if (!kept.empty()) std::memcpy(out.mutable_data(), kept.data(), kept.size() * sizeof(int64_t));
  return out;
}

std::optional<Info<SymInt>> nms_data_shape(DataNumbers& data, const Info<SymInt>& dets,
                                           const Info<SymInt>& scores) {
  check_boxes(dets, scores);
  return contiguous<SymInt>(DType::kInt64, {data.size(dets.sizes[0])}, dets.device);
}

}  // namespace

void define_nms(Library& library) {
  library.define("torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
      .function<nms>()
      .data_shape<nms_data_shape>();
}

}  // namespace flambeau::ops
