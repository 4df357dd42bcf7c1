# Run by ctest: installs the build in BUILD_DIR under WORK_DIR and builds and runs both consumers.
file(REMOVE_RECURSE ${WORK_DIR})
set(prefix ${WORK_DIR}/prefix)

# must_run(WHAT command...): stops with the output when the command fails. Leaves its output in `output`.
function(must_run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status}):\n${output}\n${errors}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(must_print what expected)
  must_run(${what} ${ARGN})
  if(NOT output STREQUAL "${expected}\n")
    message(FATAL_ERROR "${what} printed '${output}', expected '${expected}'")
  endif()
endfunction()

# Relocated, because packagers build for one prefix and install into another place.
must_run("install" ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
set(expected "float32[2, 3]")

must_run("configuring with find_package" ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE_DIR}/cmake
         -B ${WORK_DIR}/cmake -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX})
must_run("building with find_package" ${CMAKE_COMMAND} --build ${WORK_DIR}/cmake)
must_print("the find_package program" "${expected}" ${WORK_DIR}/cmake/consumer)

find_program(pkg_config pkg-config REQUIRED)
set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
must_run("pkg-config" ${pkg_config} --static --cflags --libs flambeau)
string(STRIP "${output}" flags)
separate_arguments(flags)
must_run("building with pkg-config" ${CXX} ${SOURCE_DIR}/main.cpp -o ${WORK_DIR}/with_pkg_config
         ${flags})
must_print("the pkg-config program" "${expected}" ${WORK_DIR}/with_pkg_config)

must_run("the installed command" ${prefix}/bin/flambeau --version)
