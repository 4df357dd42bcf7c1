#include "flambeau/base/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/text.h"

namespace flambeau {
namespace {

constexpr size_t kMostNames = 10'000;
constexpr size_t kMostLength = 200;
constexpr size_t kMostShown = 3;

std::string_view last_part(std::string_view name) { return name.substr(name.find_last_of("/.") + 1); }

// A letter or two decide too much in a name that has no more.
bool is_slip(std::string_view name, size_t distance) { return distance <= name.size() / 3; }

// Whether somebody may have meant the candidate: a slip, a part of it, or the same thing in another folder.
bool is_near(std::string_view name, std::string_view candidate, size_t distance) {
  constexpr size_t kTelling = 4;
  if (is_slip(name, distance)) return true;
  if (name.size() >= kTelling && candidate.find(name) != std::string_view::npos) return true;
  const std::string_view last = last_part(name);
  return last.size() >= kTelling && is_slip(last, edit_distance(last, last_part(candidate)));
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
      const size_t distance = edit_distance(name, candidate);
      if (is_near(name, candidate, distance)) near.push_back({distance, candidate});
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
