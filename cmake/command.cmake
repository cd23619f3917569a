# The command `wick`: build/wick. It links the internals, so it runs from the build folder as it is.
file(GLOB wick_command_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/wick/*.c)
list(FILTER wick_command_sources EXCLUDE REGEX "_test\\.c$")
add_executable(wick ${wick_command_sources})
target_link_libraries(wick PRIVATE wick_internal)
if(WICK_HAVE_CODEGEN)
  add_dependencies(wick wick-codegen)
endif()
