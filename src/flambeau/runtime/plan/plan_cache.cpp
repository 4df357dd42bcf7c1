#include "flambeau/runtime/plan/plan_cache.h"

#include <fmt/format.h>

#include <algorithm>

namespace flambeau::runtime {

std::string PlanCache::key_of(std::span<const Value> inputs) {
  std::string key;
  const auto add = [&](int64_t number) { key.append(reinterpret_cast<const char*>(&number), sizeof number); };
  for (const Value& input : inputs) {
    const Tensor* const tensor = input.get_if<Tensor>();
    if (tensor == nullptr) {
      key += fmt::format("{} {};", input.kind_name(), input.summary());
      continue;
    }
    add(static_cast<int64_t>(tensor->dtype()));
    add(static_cast<int64_t>(tensor->dim()));
    for (const int64_t size : tensor->sizes()) add(size);
    for (const int64_t stride : tensor->strides()) add(stride);
  }
  return key;
}

std::shared_ptr<PlanCache::Entry> PlanCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(entries_, [&](const auto& entry) { return entry->key == key; });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
  } else {
    entries_.push_front(std::make_shared<Entry>());
    entries_.front()->key = key;
    if (entries_.size() > kMostPlans) entries_.pop_back();
  }
  return entries_.front();
}

std::unique_ptr<Workspace> PlanCache::take(Entry& entry) {
  {
    const std::lock_guard lock(entry.mutex);
    if (!entry.free.empty()) {
      std::unique_ptr<Workspace> workspace = std::move(entry.free.back());
      entry.free.pop_back();
      return workspace;
    }
  }
  return std::make_unique<Workspace>(*entry.plan);
}

void PlanCache::give_back(Entry& entry, std::unique_ptr<Workspace> workspace) {
  const std::lock_guard lock(entry.mutex);
  if (entry.free.size() < kMostFree) entry.free.push_back(std::move(workspace));
}

}  // namespace flambeau::runtime
