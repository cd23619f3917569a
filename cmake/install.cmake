# What `cmake --install` puts where: the headers, both libraries, the command, wick-codegen under
# libexec/wick, and the files for find_package(wick) and pkg-config.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/wick)

install(DIRECTORY include/wick DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS libwick libwick_rt EXPORT wick
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS wick RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(WICK_HAVE_CODEGEN)
  install(TARGETS wick-codegen RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/wick)
endif()

install(EXPORT wick NAMESPACE wick:: FILE wickTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/wickConfig.cmake.in ${PROJECT_BINARY_DIR}/wickConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wickConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wickConfig.cmake ${PROJECT_BINARY_DIR}/wickConfigVersion.cmake
  DESTINATION ${package_dir})

cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE WICK_PC_PREFIX)
if(NOT BUILD_SHARED_LIBS) # an archive leaves its dependencies to the user's link
  set(WICK_PC_REQUIRES ${WICK_FORMATS_MODULES})
  set(WICK_PC_LIBS "-lm -lpthread")
endif()
configure_file(cmake/wick.pc.in ${PROJECT_BINARY_DIR}/wick.pc @ONLY)
configure_file(cmake/wick_rt.pc.in ${PROJECT_BINARY_DIR}/wick_rt.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/wick.pc ${PROJECT_BINARY_DIR}/wick_rt.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
