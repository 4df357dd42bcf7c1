# Flags shared by every target, and the function that declares a room.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(flambeau_flags INTERFACE)
target_compile_options(flambeau_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                       -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
# So that a program is linked with what it uses alone.
target_compile_options(flambeau_flags INTERFACE $<$<CONFIG:Release>:-ffunction-sections> $<$<CONFIG:Release>:-fdata-sections>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(flambeau_flags INTERFACE -Wno-restrict)  # GCC 12 sees overlaps in std::string that are none
else()
  target_compile_options(flambeau_flags INTERFACE -Wno-unknown-pragmas)  # #pragma GCC ivdep, which the others do without
endif()
if(FLAMBEAU_WERROR)
  target_compile_options(flambeau_flags INTERFACE -Werror)
endif()
if(FLAMBEAU_SANITIZE)
  add_compile_options(-fsanitize=${FLAMBEAU_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${FLAMBEAU_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 loses track of the standard library's own members once they are instrumented.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
  if(FLAMBEAU_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

# flambeau_room(NAME [HOT | COLD] [LIBRARIES lib...]): the current folder is a room. Its sources become part of
# libflambeau; every x_test.cpp becomes a case of the room's test program. Release builds optimize HOT rooms, and
# every x_isa.cpp, for speed at any size, COLD rooms for size.
function(flambeau_room name)
  cmake_parse_arguments(ROOM "HOT;COLD" "" "LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  set(isa_sources ${sources})
  list(FILTER isa_sources INCLUDE REGEX "_isa\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_isa\\.cpp$")
  add_library(flambeau_${name} OBJECT ${sources})
  target_include_directories(flambeau_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(flambeau_${name} PRIVATE flambeau_flags ${ROOM_LIBRARIES})
  if(ROOM_COLD)
    target_compile_options(flambeau_${name} PRIVATE $<$<CONFIG:Release>:-Os>)
  elseif(NOT ROOM_HOT)
    target_compile_options(flambeau_${name} PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
  target_sources(flambeau PRIVATE $<TARGET_OBJECTS:flambeau_${name}>)
  target_link_libraries(flambeau PRIVATE ${ROOM_LIBRARIES})
  if(isa_sources)
    flambeau_isa_sources(${name} ${isa_sources})
  endif()
  if(FLAMBEAU_TESTS AND tests)
    flambeau_test(${name}_test ${tests})
  endif()
endfunction()

# flambeau_isa_sources(ROOM source...): hot loops, compiled once for each level of the instruction set. Each
# source puts what it defines into the namespace FLAMBEAU_ISA (isa_base, isa_avx2, isa_avx512); base/isa.h picks
# one at run time. Levels that this compiler's target does not have are left out.
function(flambeau_isa_sources room)
  set(levels base)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND levels avx2 avx512)
  endif()
  set(flags_base "")
  set(flags_avx2 -mavx2 -mfma -mf16c -mbmi2)
  set(flags_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c -mbmi2 -mprefer-vector-width=512)
  foreach(level ${levels})
    set(target flambeau_${room}_${level})
    add_library(${target} OBJECT ${ARGN})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE flambeau_flags)
    target_compile_definitions(${target} PRIVATE FLAMBEAU_ISA=isa_${level})
    target_compile_options(${target} PRIVATE -O3 -fno-math-errno -fno-trapping-math ${flags_${level}})
    target_sources(flambeau PRIVATE $<TARGET_OBJECTS:${target}>)
  endforeach()
endfunction()

# flambeau_test(NAME source...): a GoogleTest program linked with the whole library.
function(flambeau_test name)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE flambeau flambeau_flags fmt::fmt GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    FLAMBEAU_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    FLAMBEAU_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/tests/golden"
    FLAMBEAU_FIXTURE_DIR="${PROJECT_SOURCE_DIR}/../shared/fixtures")
  add_test(NAME ${name} COMMAND ${name})
endfunction()
