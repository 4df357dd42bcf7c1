// Operators that changed their meaning or their arguments: from which version of archives on they are as they
// are, what they were before, and how that is said today.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace flambeau {
struct OperatorName;
}

namespace flambeau::script {

// The versions of archives that can be read, and the least one that is written.
constexpr int64_t kLeastArchiveVersion = 1;
constexpr int64_t kMostArchiveVersion = 10;
constexpr int64_t kLeastWrittenArchiveVersion = 3;

struct Upgrader {
  std::string_view name;           // "div_Tensor_0_3", also of the function in `text`
  std::string_view operator_name;  // "aten::div"
  std::string_view overload;       // "Tensor"
  int64_t changed_in;              // archives below this version mean the old operator
  std::string_view old_schema;
  std::string_view text;  // TorchScript
};

std::span<const Upgrader> upgraders();
// That applies to the overload in an archive of that version; null when the overload is as it was.
const Upgrader* find_upgrader(const OperatorName& name, int64_t archive_version);
// The least version of an archive that may hold a node of that overload as it is now; 0 when any may.
int64_t least_archive_version(const OperatorName& name);
// Whether it is also for bytecode, where PyTorch never had one for aten::full.
bool applies_to_bytecode(const Upgrader& upgrader);

}  // namespace flambeau::script
