#include "flambeau/base/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/text.h"

namespace flambeau {
namespace {

constexpr size_t kMostNames = 10'000;
constexpr size_t kMostLength = 200;
constexpr size_t kMostShown = 3;

std::string_view last_part(std::string_view name) { return name.substr(name.find_last_of("/.") + 1); }

// How many letters one has that the other lacks: no distance is less.
size_t other_letters(std::string_view a, std::string_view b) {
  std::array<int, 256> counts = {};
  for (const char c : a) ++counts[static_cast<unsigned char>(lowered(c))];
  for (const char c : b) --counts[static_cast<unsigned char>(lowered(c))];
  size_t of_a = 0, of_b = 0;
  for (const int count : counts) (count > 0 ? of_a : of_b) += static_cast<size_t>(std::abs(count));
  return std::max(of_a, of_b);
}

// The edit distance of two texts of at most kMostLength, if it is not more than `most`; `most` + 1 if it is.
// Only looks where a distance that small can lie: strangers' files name thousands of things that are not
// there.
size_t distance_within(std::string_view a, std::string_view b, size_t most) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most || other_letters(a, b) > most)
    return most + 1;
  std::array<uint16_t, kMostLength + 2> rows[3];
  auto *before_last = &rows[0], *last = &rows[1], *row = &rows[2];
  const auto far = static_cast<uint16_t>(most + 1);
  for (size_t j = 0; j <= b.size(); ++j) (*last)[j] = static_cast<uint16_t>(std::min<size_t>(j, far));
  size_t best_before = 0;
  for (size_t i = 1; i <= a.size(); ++i) {
    const size_t first = i > most ? i - most : 1;
    const size_t end = std::min(b.size(), i + most);
    (*row)[first - 1] = first == 1 ? static_cast<uint16_t>(std::min<size_t>(i, far)) : far;
    size_t best = (*row)[first - 1];
    for (size_t j = first; j <= end; ++j) {
      const bool is_same = lowered(a[i - 1]) == lowered(b[j - 1]);
      size_t least = std::min({(*last)[j] + 1, (*row)[j - 1] + 1, (*last)[j - 1] + (is_same ? 0 : 1)});
      const bool is_swap =
          i > 1 && j > 1 && lowered(a[i - 1]) == lowered(b[j - 2]) && lowered(a[i - 2]) == lowered(b[j - 1]);
      if (is_swap) least = std::min<size_t>(least, (*before_last)[j - 2] + 1);
      (*row)[j] = static_cast<uint16_t>(std::min<size_t>(least, far));
      best = std::min(best, least);
    }
    (*row)[end + 1] = far;
    if (best > most && best_before > most) return far;
    best_before = best;
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return (*last)[b.size()];
}

// Whether somebody may have meant the candidate: a slip, a part of it, or the same thing in another folder. A
// letter or two decide too much in a name that has no more.
bool is_near(std::string_view name, std::string_view candidate) {
  constexpr size_t kTelling = 4;
  const auto is_slip = [](std::string_view one, std::string_view other) {
    return distance_within(one, other, one.size() / 3) <= one.size() / 3;
  };
  if (is_slip(name, candidate)) return true;
  if (name.size() >= kTelling && candidate.find(name) != std::string_view::npos) return true;
  const std::string_view last = last_part(name), other = last_part(candidate);
  const bool is_part = last.size() < name.size() || other.size() < candidate.size();
  return is_part && last.size() >= kTelling && is_slip(last, other);
}

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool is_same = lowered(a[i - 1]) == lowered(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (is_same ? 0 : 1)});
      const bool is_swap =
          i > 1 && j > 1 && lowered(a[i - 1]) == lowered(b[j - 2]) && lowered(a[i - 2]) == lowered(b[j - 1]);
      if (is_swap) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string did_you_mean(std::string_view name, std::span<const std::string> names, std::string_view rest) {
  struct Candidate {
    size_t distance;
    std::string_view name;
  };
  std::vector<Candidate> near;
  if (!name.empty() && name.size() <= kMostLength) {
    for (const std::string& candidate : names.first(std::min(names.size(), kMostNames))) {
      if (candidate.empty() || candidate.size() > kMostLength) continue;
      if (is_near(name, candidate)) near.push_back({edit_distance(name, candidate), candidate});
    }
  }
  std::ranges::stable_sort(near, {}, &Candidate::distance);
  if (near.empty()) return std::string(rest);
  // A single slip has one meaning; the others would only distract from it.
  const size_t best = near.front().distance;
  std::string text = "did you mean ";
  for (size_t i = 0; i < std::min(near.size(), kMostShown); ++i) {
    if (best <= 1 && near[i].distance > best) break;
    text += fmt::format("{}'{}'", i == 0 ? "" : " or ", printable(near[i].name));
  }
  text += "?";
  if (!rest.empty()) text.append(" ").append(rest);
  return text;
}

}  // namespace flambeau
