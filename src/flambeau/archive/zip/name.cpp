#include "flambeau/archive/zip/name.h"

#include <cctype>

namespace flambeau::zip {

std::string name_problem(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.find('\0') != std::string_view::npos) return "contains a NUL byte";
  if (name.find('\\') != std::string_view::npos) return "contains a backslash";
  if (name.front() == '/') return "is an absolute path";
  if (name.size() >= 3 && std::isalpha(static_cast<unsigned char>(name[0])) != 0 && name[1] == ':' &&
      name[2] == '/') {
    return "is an absolute path";
  }
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..") return "has a '..' component";
    begin = end + 1;
  }
  return {};
}

}  // namespace flambeau::zip
