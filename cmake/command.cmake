# The command `wick`: build/wick. It links the internals, so it runs from the build folder as it is.
file(GLOB wick_command_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/wick/*.c)
list(FILTER wick_command_sources EXCLUDE REGEX "/[^/]*_test\\.c$|/main\\.c$")
if(EXISTS ${PROJECT_SOURCE_DIR}/tools/wick/cmd_test.c) # the subcommand `wick test`, not a unit test
  list(APPEND wick_command_sources ${PROJECT_SOURCE_DIR}/tools/wick/cmd_test.c)
endif()
add_library(wick_command STATIC ${wick_command_sources}) # all but main.c, for the unit tests
target_link_libraries(wick_command PUBLIC wick_internal)
add_executable(wick tools/wick/main.c)
target_link_libraries(wick PRIVATE wick_command)
if(WICK_HAVE_CODEGEN)
  add_dependencies(wick wick-codegen)
endif()
