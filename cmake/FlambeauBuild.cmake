# Flags shared by every target, and the function that declares a room.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# A room's headers are in both: what users need, and what it keeps to itself.
set(FLAMBEAU_INCLUDES ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)

add_library(flambeau_flags INTERFACE)
target_compile_options(flambeau_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                       -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
# So that a program is linked with what it uses alone.
target_compile_options(flambeau_flags INTERFACE $<$<CONFIG:Release>:-ffunction-sections> $<$<CONFIG:Release>:-fdata-sections>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(flambeau_flags INTERFACE -Wno-restrict)  # GCC 12 sees overlaps in std::string that are none
else()
  # #pragma GCC ivdep, which the others do without; std::stable_sort of libstdc++; sum(x, {0}), which means {0}.
  target_compile_options(flambeau_flags INTERFACE -Wno-unknown-pragmas -Wno-deprecated-declarations
                         -Wno-braced-scalar-init)
endif()
if(FLAMBEAU_WERROR)
  target_compile_options(flambeau_flags INTERFACE -Werror)
endif()
if(FLAMBEAU_SANITIZE)
  add_compile_options(-fsanitize=${FLAMBEAU_SANITIZE} -fno-omit-frame-pointer)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)  # spans and optionals too
  add_link_options(-fsanitize=${FLAMBEAU_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 loses track of the standard library's own members once they are instrumented.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
  if(FLAMBEAU_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

# For tests and their tools: what is tested is optimized, they themselves are only to be compiled soon.
add_library(flambeau_cheap INTERFACE)
target_compile_options(flambeau_cheap INTERFACE $<$<CONFIG:Debug>:-O0>)

# flambeau_units(TARGET [ANY_FOLDER] source...): compiles the sources of a folder together, so that what they include
# is read once: as many as fit a unit, in the order of their names. FLAMBEAU_UNITY=OFF compiles each alone, as
# editors and clang-tidy want it.
set(FLAMBEAU_UNIT_BYTES 60000)
function(flambeau_units target)
  if(NOT FLAMBEAU_UNITY)
    return()
  endif()
  cmake_parse_arguments(UNITS "ANY_FOLDER" "" "" ${ARGN})
  set(sources ${UNITS_UNPARSED_ARGUMENTS})
  list(SORT sources)
  set(last "")
  foreach(source ${sources})
    if(UNITS_ANY_FOLDER)
      set(folder ${CMAKE_CURRENT_SOURCE_DIR})
    else()
      get_filename_component(folder ${source} DIRECTORY)
    endif()
    file(SIZE ${source} bytes)
    if(NOT folder STREQUAL last OR unit_bytes GREATER FLAMBEAU_UNIT_BYTES)
      if(NOT folder STREQUAL last)
        set(number 0)
      endif()
      math(EXPR number "${number} + 1")
      set(unit_bytes 0)
      set(last ${folder})
    endif()
    math(EXPR unit_bytes "${unit_bytes} + ${bytes}")
    file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${folder})
    string(REPLACE "/" "_" name "${name}_${number}")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${target}_${name})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A type that only one source sees is no header's, though it is included.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# flambeau_room(NAME [HOT | COLD] [COLD_FOLDERS folder...] [USES room...] [LIBRARIES lib...]): the current folder is a room. Its sources become
# part of libflambeau; every x_test.cpp becomes a case of the room's test program, which is linked with the room and
# those it uses alone. Release builds optimize HOT rooms, and every x_isa.cpp, for speed at any size, COLD rooms and
# folders for size; FLAMBEAU_SMALL takes every room for cold.
function(flambeau_room name)
  cmake_parse_arguments(ROOM "HOT;COLD" "" "COLD_FOLDERS;USES;LIBRARIES" ${ARGN})
  string(REPLACE ";" "," uses "${ROOM_USES}")
  set_property(GLOBAL APPEND PROPERTY FLAMBEAU_ROOMS "${name}:${uses}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  set(isa_sources ${sources})
  list(FILTER isa_sources INCLUDE REGEX "_isa\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_isa\\.cpp$")
  set(objects "")
  if(ROOM_COLD_FOLDERS)
    list(JOIN ROOM_COLD_FOLDERS "|" folders)
    set(cold_sources ${sources})
    list(FILTER cold_sources INCLUDE REGEX "${CMAKE_CURRENT_SOURCE_DIR}/(${folders})/")
    list(REMOVE_ITEM sources ${cold_sources})
    flambeau_room_sources(flambeau_${name}_cold -Os "${ROOM_LIBRARIES}" ${cold_sources})
    list(APPEND objects $<TARGET_OBJECTS:flambeau_${name}_cold>)
  endif()
  set(optimization -O2)
  if(ROOM_COLD OR FLAMBEAU_SMALL)
    set(optimization -Os)
  elseif(ROOM_HOT)
    set(optimization -O3)
  endif()
  flambeau_room_sources(flambeau_${name} ${optimization} "${ROOM_LIBRARIES}" ${sources})
  list(APPEND objects $<TARGET_OBJECTS:flambeau_${name}>)
  if(isa_sources)
    flambeau_isa_sources(${name} ${isa_sources})
  endif()
  target_sources(flambeau PRIVATE ${objects})
  target_link_libraries(flambeau PRIVATE ${ROOM_LIBRARIES})

  # The room by itself, for its tests.
  add_library(flambeau_${name}_alone STATIC EXCLUDE_FROM_ALL ${objects})
  set_target_properties(flambeau_${name}_alone PROPERTIES LINKER_LANGUAGE CXX)
  list(TRANSFORM ROOM_USES REPLACE "(.+)" "flambeau_\\1_alone" OUTPUT_VARIABLE used)
  list(REVERSE used)
  target_link_libraries(flambeau_${name}_alone PUBLIC ${used} ${ROOM_LIBRARIES} Threads::Threads ${CMAKE_DL_LIBS})
  if(FLAMBEAU_TESTS AND tests)
    flambeau_test(${name}_test LIBRARY flambeau_${name}_alone SOURCES ${tests})
  endif()
endfunction()

# flambeau_room_sources(TARGET OPTIMIZATION LIBRARIES source...): objects of a room.
function(flambeau_room_sources target optimization libraries)
  add_library(${target} OBJECT ${ARGN})
  flambeau_units(${target} ${ARGN})
  target_include_directories(${target} PRIVATE ${FLAMBEAU_INCLUDES})
  target_link_libraries(${target} PRIVATE flambeau_flags ${libraries})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${optimization}>)
endfunction()

# flambeau_isa_sources(ROOM source...): hot loops, compiled once for each level of the instruction set. Each
# source puts what it defines into the namespace FLAMBEAU_ISA (isa_base, isa_avx2, isa_avx512); base/isa.h picks
# one at run time. Levels that this compiler's target does not have are left out. The caller's `objects` grow.
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
    target_include_directories(${target} PRIVATE ${FLAMBEAU_INCLUDES})
    target_link_libraries(${target} PRIVATE flambeau_flags)
    target_compile_definitions(${target} PRIVATE FLAMBEAU_ISA=isa_${level})
    target_compile_options(${target} PRIVATE -O3 -fno-math-errno -fno-trapping-math ${flags_${level}})
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  set(objects ${objects} PARENT_SCOPE)
endfunction()

# flambeau_test(NAME [LIBRARY lib] SOURCES source...): a GoogleTest program linked with the whole library, or with
# the part that is named.
function(flambeau_test name)
  cmake_parse_arguments(TEST "" "LIBRARY" "SOURCES" ${ARGN})
  if(NOT TEST_LIBRARY)
    set(TEST_LIBRARY flambeau)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  flambeau_units(${name} ANY_FOLDER ${TEST_SOURCES})
  target_include_directories(${name} PRIVATE ${FLAMBEAU_INCLUDES} ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${TEST_LIBRARY} flambeau_flags fmt::fmt GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    FLAMBEAU_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    FLAMBEAU_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/tests/golden"
    FLAMBEAU_FIXTURE_DIR="${PROJECT_SOURCE_DIR}/../shared/fixtures")
  target_link_libraries(${name} PRIVATE flambeau_cheap)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
