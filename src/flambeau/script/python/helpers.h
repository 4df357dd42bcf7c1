// Functions that decompiled Python brings along where TorchScript means something that Python has no words
// for. Each is written only where the text needs it.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace flambeau::script {

struct PythonHelper {
  std::string_view name;
  std::string_view imports;  // modules that it needs: "math"
  std::string_view needs;    // other helpers
  std::string_view text;
};
// In the order in which a file has them.
std::span<const PythonHelper> python_helpers();

}  // namespace flambeau::script
