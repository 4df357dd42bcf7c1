// Which level of the processor's instruction set the hot loops use. Sources named x_isa.cpp are compiled once
// for each level, into a namespace of its own; FLAMBEAU_PICK chooses among the results.
#pragma once

#include <cstdint>

namespace flambeau {

enum class Isa : uint8_t { kBase, kAvx2, kAvx512 };

// The best level this processor has; the environment variable FLAMBEAU_ISA (base, avx2, avx512) can lower it.
// Asks the processor once.
Isa current_isa();

}  // namespace flambeau

// FLAMBEAU_PICK(function): the address of isa_LEVEL::function for this processor. The header that declares
// the function must do so in every namespace: see FLAMBEAU_FOR_EACH_ISA.
#if defined(__x86_64__)
#define FLAMBEAU_FOR_EACH_ISA(declare) declare(isa_base) declare(isa_avx2) declare(isa_avx512)
#define FLAMBEAU_PICK(function)                                                  \
  (::flambeau::current_isa() == ::flambeau::Isa::kAvx512 ? &isa_avx512::function \
   : ::flambeau::current_isa() == ::flambeau::Isa::kAvx2 ? &isa_avx2::function   \
                                                         : &isa_base::function)
#else
#define FLAMBEAU_FOR_EACH_ISA(declare) declare(isa_base)
#define FLAMBEAU_PICK(function) (&isa_base::function)
#endif
