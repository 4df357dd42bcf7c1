// The plans of a program, by the shapes of its inputs, and the workspaces that are free to run them.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "flambeau/runtime/plan/plan.h"
#include "flambeau/runtime/plan/workspace.h"

namespace flambeau::runtime {

class PlanCache {
 public:
  struct Entry {
    std::string key;
    std::unique_ptr<Plan> plan;  // null: not made yet, or impossible
    bool is_impossible = false;
    std::mutex mutex;
    std::vector<std::unique_ptr<Workspace>> free;
  };

  // What decides whether two runs can share a plan: types, sizes and strides of tensors, and the values of
  // all else.
  static std::string key_of(std::span<const Value> inputs);

  // The entry for a key, a new one if need be; the one not used for longest goes when there are too many.
  std::shared_ptr<Entry> find(const std::string& key);
  // A workspace nobody uses now.
  static std::unique_ptr<Workspace> take(Entry& entry);
  static void give_back(Entry& entry, std::unique_ptr<Workspace> workspace);

 private:
  static constexpr size_t kMostPlans = 8;
  static constexpr size_t kMostFree = 4;  // workspaces of one plan
  std::mutex mutex_;
  std::list<std::shared_ptr<Entry>> entries_;  // last used first
};

}  // namespace flambeau::runtime
