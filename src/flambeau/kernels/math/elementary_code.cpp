#include "flambeau/kernels/math/elementary_code.h"

namespace flambeau::kernels {
namespace {

// clang-format off: the first is what the second is made of
constexpr char kText[] =
#define FLAMBEAU_CODE(...) #__VA_ARGS__ "\n"
#include "flambeau/kernels/math/elementary.def"
#include "flambeau/kernels/math/composed.def"
#undef FLAMBEAU_CODE
    ;
// clang-format on

}  // namespace

std::string_view elementary_code() { return kText; }

}  // namespace flambeau::kernels
