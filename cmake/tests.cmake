# Every NAME_test.c is a program (label unit), every NAME.test goes through `wick test` (label text),
# every tests/**/test_*.py through pytest and every tests/**/test_*.sh through sh (label whole).
pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
file(GLOB_RECURSE unit_tests CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/src/*_test.c ${PROJECT_SOURCE_DIR}/tools/*_test.c ${PROJECT_SOURCE_DIR}/tests/*_test.c)
list(REMOVE_ITEM unit_tests tools/wick/cmd_test.c) # the subcommand `wick test`
if(unit_tests AND NOT CMOCKA_FOUND)
  message(STATUS "cmocka was not found: the unit tests are left out")
  set(unit_tests)
endif()
add_custom_target(runtime_tests) # what is also run under the thread sanitizer
foreach(source IN LISTS unit_tests)
  string(REGEX REPLACE "^(src|tools)/|\\.c$" "" name ${source})
  string(REPLACE "/" "." name ${name}) # base.arena_test
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE wick_internal PkgConfig::CMOCKA)
  if(source MATCHES "^src/codegen/llvm/")
    target_link_libraries(${name} PRIVATE wick_llvm_shared)
  elseif(source MATCHES "^tools/wick/")
    target_link_libraries(${name} PRIVATE wick_command)
  endif()
  if(source MATCHES "^src/runtime/")
    add_dependencies(runtime_tests ${name})
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 1200)
endforeach()

# Calls of the public interface, by its header.
if(TARGET tests.api.calls_test)
  set(api_calls ${PROJECT_BINARY_DIR}/api/api_calls.h)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/api)
  add_custom_command(OUTPUT ${api_calls}
    COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/api/calls.py ${PROJECT_SOURCE_DIR}/include/wick/wick.h ${api_calls}
    DEPENDS tests/api/calls.py include/wick/wick.h)
  target_sources(tests.api.calls_test PRIVATE ${api_calls})
  target_include_directories(tests.api.calls_test PRIVATE ${PROJECT_BINARY_DIR}/api)
endif()

# tests/fuzz/fuzz_NAME.c is a program that mutates real files for some seconds: two in the suite, with
# a fixed seed. With WICK_FUZZ (clang; `make fuzz`) libFuzzer drives it instead, by coverage.
file(GLOB fuzzers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
add_custom_target(fuzzers)
foreach(source IN LISTS fuzzers)
  string(REGEX REPLACE ".*/|\\.c$" "" name ${source})
  add_executable(${name} ${source})
  add_dependencies(fuzzers ${name})
  target_link_libraries(${name} PRIVATE wick_internal)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  if(WICK_FUZZ)
    target_sources(${name} PRIVATE tests/fuzz/guided.c)
    execute_process(OUTPUT_VARIABLE libfuzzer OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND ${CMAKE_C_COMPILER}
      -print-file-name=libclang_rt.fuzzer_no_main-${CMAKE_SYSTEM_PROCESSOR}.a)
    target_link_libraries(${name} PRIVATE ${libfuzzer} stdc++)
  else()
    target_sources(${name} PRIVATE tests/fuzz/fuzz.c)
    add_test(NAME fuzz.${name} COMMAND ${name} 2 1 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS unit TIMEOUT 1200 SKIP_RETURN_CODE 77)
  endif()
endforeach()

file(GLOB_RECURSE text_tests CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/src/*.test ${PROJECT_SOURCE_DIR}/tests/*.test)
if(EXISTS ${PROJECT_SOURCE_DIR}/tools/wick/cmd_test.c)
  foreach(file IN LISTS text_tests)
    add_test(NAME ${file} COMMAND wick test ${file} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${file} PROPERTIES LABELS text TIMEOUT 1200)
  endforeach()
endif()

# 77 says "skipped": no Python packages, no cross compiler. The tests find what was built by these.
set(WICK_VENV ${PROJECT_BINARY_DIR}/venv CACHE PATH "Virtual environment of the Python tests")
set(environment WICK_BUILD=${PROJECT_BINARY_DIR} WICK_COMMAND=$<TARGET_FILE:wick> WICK_VENV=${WICK_VENV}
  CC=${CMAKE_C_COMPILER})
file(GLOB_RECURSE whole_tests CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/tests/test_*.py ${PROJECT_SOURCE_DIR}/tests/test_*.sh)
foreach(file IN LISTS whole_tests)
  if(file MATCHES "py$")
    add_test(NAME ${file} COMMAND sh scripts/pytest.sh ${file} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  else()
    add_test(NAME ${file} COMMAND sh ${file} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  endif()
  set_tests_properties(${file} PROPERTIES LABELS whole TIMEOUT 1200 SKIP_RETURN_CODE 77
    ENVIRONMENT "${environment}")
endforeach()
