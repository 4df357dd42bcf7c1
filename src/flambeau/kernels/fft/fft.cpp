#include "flambeau/kernels/fft/fft.h"

#include <algorithm>
#include <array>
#include <optional>

#include "flambeau/base/work.h"
#include "flambeau/kernels/fft/line.h"
#include "flambeau/kernels/gemm/scratch.h"

namespace flambeau::kernels {
namespace fft {
namespace {

constexpr size_t kMostLanes = 16;

// The lines in their order: where each begins, from any one on.
class Walk {
 public:
  Walk(const std::vector<FftLines::Axis>& axes, size_t at) : axes_(axes), index_(axes.size()) {
    for (size_t d = axes.size(); d-- > 0;) {
      index_[d] = at % axes[d].size;
      at /= axes[d].size;
      from_ += static_cast<int64_t>(index_[d]) * axes[d].from;
      to_ += static_cast<int64_t>(index_[d]) * axes[d].to;
    }
  }
  int64_t from() const { return from_; }
  int64_t to() const { return to_; }
  void next() {
    for (size_t d = axes_.size(); d-- > 0;) {
      from_ += axes_[d].from;
      to_ += axes_[d].to;
      if (++index_[d] < axes_[d].size) return;
      from_ -= axes_[d].from * static_cast<int64_t>(axes_[d].size);
      to_ -= axes_[d].to * static_cast<int64_t>(axes_[d].size);
      index_[d] = 0;
    }
  }

 private:
  const std::vector<FftLines::Axis>& axes_;
  std::vector<size_t> index_;
  int64_t from_ = 0;
  int64_t to_ = 0;
};

// A job with strides counted in parts of numbers.
template <typename T>
struct Job {
  FftLines::Kind kind;
  bool is_forward;
  size_t length;
  T scale;
  const T* from;
  int64_t from_step;
  T* to;
  int64_t to_step;
  std::vector<FftLines::Axis> axes;
  size_t count = 1;

  explicit Job(const FftLines& lines)
      : kind(lines.kind),
        is_forward(lines.is_forward),
        length(lines.length),
        scale(static_cast<T>(lines.scale)),
        from(static_cast<const T*>(lines.from)),
        to(static_cast<T*>(lines.to)) {
    const int64_t in = kind == FftLines::Kind::kRealToComplex ? 1 : 2;
    const int64_t out = kind == FftLines::Kind::kComplexToReal ? 1 : 2;
    from_step = lines.from_step * in;
    to_step = lines.to_step * out;
    for (const FftLines::Axis& axis : lines.axes) {
      count *= axis.size;
      if (axis.size != 1) axes.push_back({axis.size, axis.from * in, axis.to * out});
    }
    // Neighbours in memory are neighbours in the order.
    std::stable_sort(axes.begin(), axes.end(), [](const FftLines::Axis& a, const FftLines::Axis& b) {
      return std::min(std::abs(a.from), std::abs(a.to)) > std::min(std::abs(b.from), std::abs(b.to));
    });
  }
};

// Shares the lines, `group` at a time, among threads; `body(begin, end)` takes groups.
template <typename T, typename Body>
void share(ThreadPool& pool, const Job<T>& job, size_t group, Body&& body) {
  const size_t groups = (job.count + group - 1) / group;
  const double operations = 30.0 * static_cast<double>(job.length) * static_cast<double>(group);
  const size_t grain = Cost{.operations = operations}.grain();
  // Few long lines are cut themselves.
  const auto threads = static_cast<size_t>(pool.threads());
  if (groups <= grain || (groups < 2 * threads && job.length >= size_t{1} << 14)) return body(0, groups);
  pool.for_each_range(groups, grain, body);
}

// ---- as many lines at once as there are lanes

// `transform` gets where the lines of a group begin, and room for so many numbers in lanes.
template <typename T, typename Transform>
void each_group(ThreadPool& pool, const Job<T>& job, Size scratch_numbers, Transform&& transform) {
  const size_t lanes = loops<T>().lanes;
  share(pool, job, lanes, [&](size_t begin, size_t end) {
    const Scratch scratch(scratch_numbers * (2 * sizeof(T) * lanes));
    Walk walk(job.axes, begin * lanes);
    WorkPoller poll;
    for (size_t group = begin; group < end; ++group) {
      poll(job.length * lanes);
      const size_t count = std::min(lanes, job.count - group * lanes);
      std::array<int64_t, kMostLanes> from_offsets, to_offsets;
      const int64_t first_from = walk.from(), first_to = walk.to();
      for (size_t lane = 0; lane < lanes; ++lane) {
        from_offsets[lane] = lane < count ? walk.from() - first_from : from_offsets[lane - 1];
        to_offsets[lane] = lane < count ? walk.to() - first_to : 0;
        if (lane < count) walk.next();
      }
      transform(job.from + first_from, from_offsets.data(), job.to + first_to, to_offsets.data(), count,
                scratch.as<T>());
    }
  });
}

template <typename T>
void run_lanes(ThreadPool& pool, const Job<T>& job) {
  const std::shared_ptr<const LanePlan<T>> plan = lane_plan<T>(job.length);
  const bool is_swapped = !job.is_forward;
  each_group(pool, job, Size(3) * job.length,
             [&](const T* from, const int64_t* from_offsets, T* to, const int64_t* to_offsets, size_t count,
                 T* scratch) {
               loops<T>().transform(*plan, {{from, job.from_step, 1, is_swapped}, from_offsets, count},
                                    {{to, job.to_step, 1, is_swapped}, to_offsets, count}, job.scale,
                                    scratch);
             });
}

// Real lines by pairs of numbers where their length is even; the others have no imaginary parts.
template <typename T>
void run_real_lanes(ThreadPool& pool, const Job<T>& job) {
  const bool is_even = job.length % 2 == 0;
  const bool is_forward = job.kind == FftLines::Kind::kRealToComplex;
  const std::shared_ptr<const LanePlan<T>> plan = lane_plan<T>(is_even ? job.length / 2 : job.length);
  const std::shared_ptr<const MirrorPlan<T>> turns = is_even ? mirror_plan<T>(job.length) : nullptr;
  const auto real_line = [&](auto* data, int64_t step) {
    return Line<std::remove_pointer_t<decltype(data)>>{data, is_even ? 2 * step : step, step, !is_forward,
                                                       !is_even};
  };
  each_group(
      pool, job, Size(3) * (plan->length + 1),
      [&](const T* from, const int64_t* from_offsets, T* to, const int64_t* to_offsets, size_t count,
          T* scratch) {
        const Line<const T> source =
            is_forward ? real_line(from, job.from_step) : Line<const T>{from, job.from_step, 1, false};
        const Line<T> target = is_forward ? Line<T>{to, job.to_step, 1, false} : real_line(to, job.to_step);
        loops<T>().transform_real(*plan, turns.get(), job.length, is_forward, {source, from_offsets, count},
                                  {target, to_offsets, count}, job.scale, scratch);
      });
}

// Where the lines lie beside each other in memory, a vector of them touches no more memory than one does.
template <typename T>
bool lanes_pay(const Job<T>& job) {
  if (job.count < loops<T>().lanes / 2 || !is_smooth(job.length)) return false;
  const bool is_real = job.kind != FftLines::Kind::kComplex;
  const size_t numbers = is_real && job.length % 2 == 0 ? job.length / 2 : job.length;
  const auto packed = [&](FftLines::Kind real, int64_t step) { return step == (job.kind == real ? 1 : 2); };
  const bool lies_along = packed(FftLines::Kind::kRealToComplex, job.from_step) &&
                          packed(FftLines::Kind::kComplexToReal, job.to_step);
  return numbers <= (lies_along ? 512 : 8192);
}

// ---- one line after the other
template <typename T, typename Body>
void each_line(ThreadPool& pool, const Job<T>& job, Size scratch_numbers, Body&& body) {
  share(pool, job, 1, [&](size_t begin, size_t end) {
    std::optional<Scratch> scratch;
    if (scratch_numbers > 0) scratch.emplace(scratch_numbers * (2 * sizeof(T)));
    Walk walk(job.axes, begin);
    WorkPoller poll;
    for (size_t i = begin; i < end; ++i) {
      poll(job.length);
      body(job.from + walk.from(), job.to + walk.to(), scratch ? scratch->template as<T>() : nullptr);
      walk.next();
    }
  });
}

template <typename T>
void run_complex(ThreadPool& pool, const Job<T>& job) {
  if (lanes_pay(job)) return run_lanes(pool, job);
  const std::shared_ptr<const LinePlan<T>> plan = line_plan<T>(job.length, loops<T>().lanes);
  const bool is_swapped = !job.is_forward;
  each_line(pool, job, 0, [&](const T* from, T* to, T*) {
    transform_line<T>(pool, *plan, {from, job.from_step, 1, is_swapped}, {to, job.to_step, 1, is_swapped},
                      job.scale);
  });
}

// Results k and half - k for all k but 0, in pieces that ask now and then.
template <typename T>
void mirror_all(const MirrorPlan<T>& plan, size_t half, bool is_forward, T scale, const T* from, T* to) {
  constexpr size_t kPiece = size_t{1} << 16;
  for (size_t k = 1; k <= half / 2; k += kPiece) {
    if (k > 1) poll_work();
    loops<T>().mirror(plan, half, k, std::min(k + kPiece, half / 2 + 1), is_forward, scale, from, to);
  }
}

template <typename T>
void copy_numbers(const T* from, int64_t from_step, T* to, int64_t to_step, size_t count, T scale) {
  WorkPoller poll;
  for (size_t i = 0; i < count; ++i) {
    poll();
    const T real = from[static_cast<int64_t>(i) * from_step];
    const T imaginary = from[static_cast<int64_t>(i) * from_step + 1];
    to[static_cast<int64_t>(i) * to_step] = real * scale;
    to[static_cast<int64_t>(i) * to_step + 1] = imaginary * scale;
  }
}

// Real numbers by pairs are complex ones, half as many.
template <typename T>
void run_real_to_complex(ThreadPool& pool, const Job<T>& job) {
  if (lanes_pay(job)) return run_real_lanes(pool, job);
  const size_t kept = job.length / 2 + 1;
  if (job.length % 2 != 0) {
    const std::shared_ptr<const LinePlan<T>> plan = line_plan<T>(job.length, loops<T>().lanes);
    return each_line(pool, job, job.length, [&](const T* from, T* to, T* whole) {
      transform_line<T>(pool, *plan, {from, job.from_step, 0, false, true}, {whole, 2, 1, false}, job.scale);
      copy_numbers(whole, 2, to, job.to_step, kept, T(1));
    });
  }
  const size_t half = job.length / 2;
  const std::shared_ptr<const LinePlan<T>> plan = line_plan<T>(half, loops<T>().lanes);
  const std::shared_ptr<const MirrorPlan<T>> turns = mirror_plan<T>(job.length);
  const bool is_packed = job.to_step == 2;
  each_line(pool, job, Size(half) + (is_packed ? 0 : kept), [&](const T* from, T* to, T* pairs) {
    transform_line<T>(pool, *plan, {from, 2 * job.from_step, job.from_step, false}, {pairs, 2, 1, false},
                      T(1));
    T* const result = is_packed ? to : pairs + 2 * half;
    mirror_all<T>(*turns, half, true, job.scale / 2, pairs, result);
    result[0] = (pairs[0] + pairs[1]) * job.scale;
    result[1] = 0;
    result[2 * half] = (pairs[0] - pairs[1]) * job.scale;
    result[2 * half + 1] = 0;
    if (!is_packed) copy_numbers(result, 2, to, job.to_step, kept, T(1));
  });
}

template <typename T>
void run_complex_to_real(ThreadPool& pool, const Job<T>& job) {
  if (lanes_pay(job)) return run_real_lanes(pool, job);
  const size_t given = job.length / 2 + 1;
  if (job.length % 2 != 0) {
    const std::shared_ptr<const LinePlan<T>> plan = line_plan<T>(job.length, loops<T>().lanes);
    return each_line(pool, job, job.length, [&](const T* from, T* to, T* whole) {
      copy_numbers(from, job.from_step, whole, 2, given, T(1));
      whole[1] = 0;
      for (size_t k = 1; k < given; ++k) {
        whole[2 * (job.length - k)] = whole[2 * k];
        whole[2 * (job.length - k) + 1] = -whole[2 * k + 1];
      }
      transform_line<T>(pool, *plan, {whole, 2, 1, true}, {to, job.to_step, 0, true, true}, job.scale);
    });
  }
  const size_t half = job.length / 2;
  const std::shared_ptr<const LinePlan<T>> plan = line_plan<T>(half, loops<T>().lanes);
  const std::shared_ptr<const MirrorPlan<T>> turns = mirror_plan<T>(job.length);
  const bool is_packed = job.from_step == 2;
  each_line(pool, job, Size(half) + (is_packed ? 0 : given), [&](const T* from, T* to, T* pairs) {
    const T* numbers = from;
    if (!is_packed) {
      copy_numbers(from, job.from_step, pairs + 2 * half, 2, given, T(1));
      numbers = pairs + 2 * half;
    }
    mirror_all<T>(*turns, half, false, T(1), numbers, pairs);
    pairs[0] = numbers[0] + numbers[2 * half];
    pairs[1] = numbers[0] - numbers[2 * half];
    transform_line<T>(pool, *plan, {pairs, 2, 1, true}, {to, 2 * job.to_step, job.to_step, true}, job.scale);
  });
}

template <typename T>
void run(ThreadPool& pool, const FftLines& lines) {
  const Job<T> job(lines);
  if (job.count == 0) return;
  switch (job.kind) {
    case FftLines::Kind::kComplex:
      return run_complex(pool, job);
    case FftLines::Kind::kRealToComplex:
      return run_real_to_complex(pool, job);
    case FftLines::Kind::kComplexToReal:
      return run_complex_to_real(pool, job);
  }
}

}  // namespace
}  // namespace fft

void run_fft(ThreadPool& pool, const FftLines& lines) {
  if (lines.part == DType::kFloat64) return fft::run<double>(pool, lines);
  fft::run<float>(pool, lines);
}

}  // namespace flambeau::kernels
