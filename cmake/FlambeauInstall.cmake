# Installs the library, its headers, the command, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)

install(TARGETS flambeau EXPORT FlambeauTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS flambeau_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Headers there include no others of ours: tests/house_rules_test.cpp.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/flambeau DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(EXPORT FlambeauTargets NAMESPACE Flambeau::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Flambeau)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/FlambeauConfig.cmake.in
  ${PROJECT_BINARY_DIR}/FlambeauConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Flambeau)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/FlambeauConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/FlambeauConfig.cmake ${PROJECT_BINARY_DIR}/FlambeauConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindLibdeflate.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Flambeau)
# Relative to the .pc file itself, so that an installed tree can be moved.
file(RELATIVE_PATH FLAMBEAU_PREFIX_FROM_PKGCONFIG
     ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" FLAMBEAU_PREFIX_FROM_PKGCONFIG "${FLAMBEAU_PREFIX_FROM_PKGCONFIG}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/flambeau.pc.in ${PROJECT_BINARY_DIR}/flambeau.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/flambeau.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
