// The prebuilt library as bytes of this one.
#include "flambeau/aot/compile.h"

asm(R"(
.section .rodata
.balign 64
.global flambeau_aot_library_begin
.hidden flambeau_aot_library_begin
flambeau_aot_library_begin:
.incbin ")" FLAMBEAU_AOT_LIBRARY R"("
.global flambeau_aot_library_end
.hidden flambeau_aot_library_end
flambeau_aot_library_end:
.byte 0
.previous
)");

extern "C" {
extern const uint8_t flambeau_aot_library_begin[];
extern const uint8_t flambeau_aot_library_end[];
}

namespace flambeau::aot {

ByteSpan prebuilt_library() { return {flambeau_aot_library_begin, flambeau_aot_library_end}; }

}  // namespace flambeau::aot
