// The backends of this build, by name. What one is, backend.h says.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace flambeau::backends {

class Backend;

// The one of that name, the best of this build for none. Throws Error(kInvalidArgument) that lists those
// there are.
std::shared_ptr<const Backend> make_backend(std::string_view name = {});
// Of this build, the best first.
std::vector<std::string_view> backend_names();

}  // namespace flambeau::backends
