// The elementwise loops that models spend their time in, compiled for each level of the instruction set.
#pragma once

#include <cstdint>

#include "flambeau/base/isa.h"
#include "flambeau/ops/engines/row.h"

namespace flambeau::ops {

struct BodyCode;

enum class Hot : uint8_t {
  // a op b
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,
  kAddScaled,  // a + x b
  kEluJoin,    // x b where a is not positive, else y a
  kPrelu,      // a b where a is not positive
  kAnd,
  kOr,
  kXor,
  // a op b, to bytes 0 and 1
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  // of a
  kNeg,
  kAbs,
  kSquare,
  kCube,
  kReciprocalSquare,
  kReciprocal,
  kFloor,
  kCeil,
  kTrunc,
  kRound,
  kSign,
  kRelu,
  kClamp,      // into [x, y]
  kLeakyRelu,  // times x where negative
  kHardSwish,
  kHardSigmoid,
  kThreshold,  // y where not above x
  kSoftShrink,
  kHardShrink,
  // of a, to bytes 0 and 1
  kIsNan,
  kIsInf,
  kIsFinite,
  kNot,
  // of a, b and c
  kAddProduct,   // a + x b c
  kAddQuotient,  // a + x b / c
  kLerp,         // a + c (b - a)
  // of a condition in bytes, b and c
  kWhere,
};

// Types of elements; those of kWhere only by their size. Sums, differences and products also have loops over
// int32 and, with quotients, over bfloat16, each result rounded once.
enum class HotType : uint8_t { kFloat, kDouble, kInt64, kByte, kTwoBytes, kSixteenBytes, kInt32, kBFloat16 };

// What x and y are above: the row's parameters point to one.
struct HotNumbers {
  double x = 0;
  double y = 0;
  int64_t integer_x = 0;
  int64_t integer_y = 0;
};

#define FLAMBEAU_DECLARE(isa)               \
  namespace isa {                           \
  Rows hot_rows(Hot loop, HotType element); \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE)
#undef FLAMBEAU_DECLARE

// What a loop computes: see BodyCode.
BodyCode hot_code(Hot loop);

// The loop at this processor's level; plain is null where there is none for the type.
inline Rows hot_rows(Hot loop, HotType element) { return FLAMBEAU_PICK(hot_rows)(loop, element); }

}  // namespace flambeau::ops
