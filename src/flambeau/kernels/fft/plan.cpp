#include "flambeau/kernels/fft/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <mutex>
#include <numbers>

#include "flambeau/base/size.h"
#include "flambeau/base/work.h"
#include "flambeau/kernels/fft/line.h"

namespace flambeau::kernels::fft {
namespace {

// exp(-2 pi i e / n), e < n, by the angle within an eighth of a turn, so that it is as exact as the type.
std::complex<double> root(size_t e, size_t n) {
  const auto eighth = static_cast<unsigned>((static_cast<unsigned __int128>(e) * 8) / n);
  const bool is_far = (eighth & 1) != 0;  // measured from the other end
  // 8 e - eighth n, over 8 n, of a turn.
  const unsigned __int128 whole = static_cast<unsigned __int128>(e) * 8;
  const unsigned __int128 begin = static_cast<unsigned __int128>(n) * (eighth + (is_far ? 1 : 0));
  const auto rest = static_cast<double>(is_far ? begin - whole : whole - begin);
  const double angle = rest / (8 * static_cast<double>(n)) * 2 * std::numbers::pi;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  switch (eighth) {
    case 0:
      return {cosine, -sine};
    case 1:
      return {sine, -cosine};
    case 2:
      return {-sine, -cosine};
    case 3:
      return {-cosine, -sine};
    case 4:
      return {-cosine, sine};
    case 5:
      return {-sine, cosine};
    case 6:
      return {sine, cosine};
    default:
      return {cosine, sine};
  }
}

template <typename T>
std::complex<T> root_as(size_t e, size_t n) {
  const std::complex<double> exact = root(e, n);
  return {static_cast<T>(exact.real()), static_cast<T>(exact.imag())};
}

// The prime factors up to kMostRadix, smallest first; what is left of the length stays in it.
std::vector<size_t> small_factors(size_t& length) {
  std::vector<size_t> factors;
  for (size_t prime = 2; prime <= kMostRadix; ++prime) {
    for (; length % prime == 0; length /= prime) factors.push_back(prime);
  }
  return factors;
}

// Eights are the fastest, and pairs of fours faster than an eight and a two.
std::vector<size_t> radices(size_t length) {
  std::vector<size_t> odd = small_factors(length);
  const auto twos = static_cast<size_t>(std::count(odd.begin(), odd.end(), 2));
  odd.erase(odd.begin(), odd.begin() + static_cast<int64_t>(twos));
  std::vector<size_t> result;
  const size_t fours = twos % 3 == 2 ? 1 : (twos % 3 == 1 && twos >= 4 ? 2 : 0);
  const size_t eights = (twos - 2 * fours) / 3;
  result.insert(result.end(), eights, 8);
  result.insert(result.end(), fours, 4);
  if (twos == 1) result.push_back(2);
  result.insert(result.end(), odd.begin(), odd.end());
  return result;
}

template <typename T>
LanePlan<T> make_lane_plan(size_t length) {
  LanePlan<T> plan;
  plan.length = length;
  size_t rest = length;
  size_t stride = 1;
  WorkPoller poll;
  const auto add = [&](std::complex<T> number) {
    poll(16);
    plan.numbers.push_back(number.real());
    plan.numbers.push_back(number.imag());
  };
  for (const size_t radix : radices(length)) {
    typename LanePlan<T>::Pass pass = {
        .radix = radix, .count = rest / radix, .stride = stride, .turns = 0, .radicals = 0};
    pass.radicals = plan.numbers.size();
    for (size_t e = 0; e < radix; ++e) add(root_as<T>(e, radix));
    pass.turns = plan.numbers.size();
    for (size_t p = 0; pass.count > 1 && p < pass.count; ++p) {
      for (size_t j = 1; j < radix; ++j) add(root_as<T>(p * j, rest));
    }
    plan.passes.push_back(pass);
    rest /= radix;
    stride *= radix;
  }
  return plan;
}

// The height of the matrix: the lanes that are filled in vain and the longer side are to be few and short.
size_t best_height(size_t length, size_t lanes) {
  size_t rest = length;
  std::vector<size_t> divisors = {1};
  for (const size_t prime : small_factors(rest)) {
    const size_t before = divisors.size();
    for (size_t i = 0; i < before; ++i) divisors.push_back(divisors[i] * prime);
    std::sort(divisors.begin(), divisors.end());
    divisors.erase(std::unique(divisors.begin(), divisors.end()), divisors.end());
  }
  const auto rounded = [&](size_t size) {
    const size_t whole = (size + lanes - 1) / lanes * lanes;
    return static_cast<double>(whole);
  };
  size_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (const size_t height : divisors) {
    const size_t width = length / height;
    const double work =
        rounded(width) * static_cast<double>(height) + rounded(height) * static_cast<double>(width);
    const double side = static_cast<double>(std::max(width, height)) / std::sqrt(static_cast<double>(length));
    const double cost = work * (1 + side / 8);
    if (cost < least) {
      least = cost;
      best = height;
    }
  }
  return best;
}

template <typename T>
std::unique_ptr<SplitPlan<T>> make_split_plan(size_t length, size_t lanes) {
  auto plan = std::make_unique<SplitPlan<T>>();
  const size_t height = best_height(length, lanes);
  plan->columns = make_lane_plan<T>(height);
  plan->rows = make_lane_plan<T>(length / height);
  WorkPoller poll;
  plan->lane_turns.resize(height * 2 * lanes);
  for (size_t k = 0; k < height; ++k) {
    for (size_t lane = 0; lane < lanes; ++lane) {
      poll(16);
      const std::complex<T> turn = root_as<T>(lane * k % length, length);
      plan->lane_turns[k * 2 * lanes + lane] = turn.real();
      plan->lane_turns[(k * 2 + 1) * lanes + lane] = turn.imag();
    }
  }
  while ((length >> plan->shift) > (size_t{1} << plan->shift)) ++plan->shift;
  const size_t fine = size_t{1} << plan->shift;
  for (size_t e = 0; e < fine; ++e) plan->fine.push_back(root(e % length, length));
  for (size_t e = 0; e < length; e += fine) {
    poll(16);
    plan->coarse.push_back(root(e, length));
  }
  return plan;
}

// At least that length, and made of few small primes.
size_t good_length(size_t least) {
  size_t best = 0;
  for (const size_t odd : {1, 3, 5, 9, 15}) {
    Size length = odd;
    while (length < Size(least)) length *= 2;
    if (best == 0 || length < Size(best)) best = static_cast<size_t>(length);
  }
  return best;
}

template <typename T>
std::unique_ptr<ChirpPlan<T>> make_chirp_plan(size_t length, size_t lanes) {
  auto plan = std::make_unique<ChirpPlan<T>>();
  const size_t inner = good_length(static_cast<size_t>(Size(length) * 2 - 1));
  require_memory(static_cast<uint64_t>((Size(inner) * 3 + length).value()) * sizeof(std::complex<T>));
  plan->inner = line_plan<T>(inner, lanes);
  plan->chirp.resize(length);
  WorkPoller poll;
  size_t square = 0;  // of j, modulo 2 length
  for (size_t j = 0; j < length; ++j) {
    poll(16);
    plan->chirp[j] = root_as<T>(square, 2 * length);
    square = (square + 2 * j + 1) % (2 * length);
  }
  std::vector<std::complex<T>> wave(inner);
  const T scale = T(1) / static_cast<T>(inner);
  for (size_t j = 0; j < length; ++j) {
    wave[j] = std::conj(plan->chirp[j]) * scale;
    if (j > 0) wave[inner - j] = wave[j];
  }
  plan->spectrum.resize(inner);
  transform_packed<T>(*plan->inner, wave.data(), plan->spectrum.data());
  return plan;
}

template <typename T>
size_t bytes_of(const LanePlan<T>& plan) {
  return sizeof plan + plan.passes.size() * sizeof(plan.passes[0]) + plan.numbers.size() * sizeof(T);
}
template <typename T>
size_t bytes_of(const MirrorPlan<T>& plan) {
  return sizeof plan +
         (2 * plan.coarse.size() + plan.fine_real.size() + plan.fine_imaginary.size()) * sizeof(T);
}
template <typename T>
size_t bytes_of(const LinePlan<T>& plan) {
  size_t bytes = sizeof plan;
  if (plan.lane) bytes += bytes_of(*plan.lane);
  if (plan.split) {
    const SplitPlan<T>& split = *plan.split;
    bytes += bytes_of(split.columns) + bytes_of(split.rows) + split.lane_turns.size() * sizeof(T) +
             (split.coarse.size() + split.fine.size()) * sizeof(split.fine[0]);
  }
  if (plan.chirp) {
    bytes += bytes_of(*plan.chirp->inner) +
             (plan.chirp->chirp.size() + plan.chirp->spectrum.size()) * 2 * sizeof(T);
  }
  return bytes;
}

// The plans used last, in so many bytes. Who has one may keep it longer.
template <typename Plan>
class PlanCache {
 public:
  template <typename Make>
  std::shared_ptr<const Plan> get(size_t length, Make&& make) {
    {
      const std::lock_guard lock(mutex_);
      for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
        if (entry->length != length) continue;
        entries_.splice(entries_.begin(), entries_, entry);
        return entries_.front().plan;
      }
    }
    // Made outside of the lock: it can take long, be stopped, and need other plans.
    std::shared_ptr<const Plan> plan = make();
    const size_t bytes = bytes_of(*plan);
    if (bytes > kMostBytes / 2) return plan;
    const std::lock_guard lock(mutex_);
    entries_.push_front({length, bytes, plan});
    bytes_ += bytes;
    while (bytes_ > kMostBytes || entries_.size() > kMostPlans) {
      bytes_ -= entries_.back().bytes;
      entries_.pop_back();
    }
    return plan;
  }

 private:
  static constexpr size_t kMostBytes = size_t{16} << 20;
  static constexpr size_t kMostPlans = 64;
  struct Entry {
    size_t length;
    size_t bytes;
    std::shared_ptr<const Plan> plan;
  };
  std::mutex mutex_;
  std::list<Entry> entries_;
  size_t bytes_ = 0;
};

}  // namespace

bool is_smooth(size_t length) {
  small_factors(length);
  return length == 1;
}

template <typename T>
std::shared_ptr<const LanePlan<T>> lane_plan(size_t length) {
  static PlanCache<LanePlan<T>> cache;
  return cache.get(length, [&] { return std::make_shared<LanePlan<T>>(make_lane_plan<T>(length)); });
}

template <typename T>
std::shared_ptr<const LinePlan<T>> line_plan(size_t length, size_t lanes) {
  static PlanCache<LinePlan<T>> cache;
  return cache.get(length, [&] {
    auto plan = std::make_shared<LinePlan<T>>();
    plan->length = length;
    if (!is_smooth(length)) {
      plan->chirp = make_chirp_plan<T>(length, lanes);
    } else if (length <= kShortLine) {
      plan->lane = std::make_unique<LanePlan<T>>(make_lane_plan<T>(length));
    } else {
      plan->split = make_split_plan<T>(length, lanes);
    }
    return plan;
  });
}

template <typename T>
std::shared_ptr<const MirrorPlan<T>> mirror_plan(size_t length) {
  static PlanCache<MirrorPlan<T>> cache;
  return cache.get(length, [&] {
    auto plan = std::make_shared<MirrorPlan<T>>();
    constexpr size_t kFine = MirrorPlan<T>::kFine;
    for (size_t k = 0; k < kFine + MirrorPlan<T>::kMostLanes; ++k) {
      const std::complex<T> turn = root_as<T>(k % length, length);
      plan->fine_real.push_back(turn.real());
      plan->fine_imaginary.push_back(turn.imag());
    }
    WorkPoller poll;
    for (size_t k = 0; k <= length / 4; k += kFine) {
      poll(16);
      plan->coarse.push_back(root_as<T>(k, length));
    }
    return plan;
  });
}

template std::shared_ptr<const LanePlan<float>> lane_plan(size_t);
template std::shared_ptr<const LanePlan<double>> lane_plan(size_t);
template std::shared_ptr<const LinePlan<float>> line_plan(size_t, size_t);
template std::shared_ptr<const LinePlan<double>> line_plan(size_t, size_t);
template std::shared_ptr<const MirrorPlan<float>> mirror_plan(size_t);
template std::shared_ptr<const MirrorPlan<double>> mirror_plan(size_t);

}  // namespace flambeau::kernels::fft
