# What `cmake --install` puts where: the headers, both libraries, the command with its manual and its
# completions, wick-codegen under libexec/wick, and the files for find_package(wick) and pkg-config.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/wick)

install(DIRECTORY include/wick DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS libwick libwick_rt EXPORT wick
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS wick RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(WICK_HAVE_CODEGEN)
  install(TARGETS wick-codegen RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/wick)
endif()

# The manual and the completions are what the command itself prints.
if(NOT CMAKE_CROSSCOMPILING)
  set(help_files ${PROJECT_BINARY_DIR}/help)
  add_custom_command(OUTPUT ${help_files}/wick DEPENDS wick ${PROJECT_SOURCE_DIR}/scripts/help_files.sh
    COMMAND sh ${PROJECT_SOURCE_DIR}/scripts/help_files.sh $<TARGET_FILE:wick> ${help_files})
  add_custom_target(help_files ALL DEPENDS ${help_files}/wick)
  install(DIRECTORY ${help_files}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${help_files}/wick DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${help_files}/_wick DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${help_files}/wick.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
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
