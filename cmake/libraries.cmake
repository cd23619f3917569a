# libwick and libwick_rt, and the archive of all internals that the command and the tests link.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
set(WICK_FORMATS_MODULES "libpng libjpeg libzip jansson")
separate_arguments(formats UNIX_COMMAND ${WICK_FORMATS_MODULES})
pkg_check_modules(WICK_FORMATS REQUIRED IMPORTED_TARGET ${formats})
find_library(WICK_LIBM m)

file(GLOB_RECURSE wick_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.c)
list(FILTER wick_sources EXCLUDE REGEX "_test\\.c$|/main\\.c$|_fuzz\\.c$|/src/codegen/llvm/")
set(wick_rt_sources ${wick_sources})
list(FILTER wick_rt_sources INCLUDE REGEX "/src/(base|runtime)/")

function(wick_link_system target)
  target_link_libraries(${target} ${ARGN} Threads::Threads ${CMAKE_DL_LIBS})
  if(WICK_LIBM)
    target_link_libraries(${target} ${ARGN} ${WICK_LIBM})
  endif()
endfunction()

# Compiled once; hidden symbols are seen by what links the archive, not by users of the libraries.
add_library(wick_internal STATIC ${wick_sources})
target_link_libraries(wick_internal PUBLIC wick_flags)
wick_link_system(wick_internal PUBLIC)
target_link_libraries(wick_internal PUBLIC PkgConfig::WICK_FORMATS)
target_link_options(wick_internal PUBLIC -Wl,--as-needed)

add_library(libwick $<TARGET_OBJECTS:wick_internal>)
target_link_libraries(libwick PRIVATE $<BUILD_INTERFACE:wick_flags>)
wick_link_system(libwick PRIVATE)
target_link_libraries(libwick PRIVATE $<BUILD_INTERFACE:PkgConfig::WICK_FORMATS>)

# Loads and runs artifacts without the compiler: src/base and src/runtime, and nothing else.
add_library(libwick_rt ${wick_rt_sources})
target_link_libraries(libwick_rt PRIVATE $<BUILD_INTERFACE:wick_flags>)
wick_link_system(libwick_rt PRIVATE)

set_target_properties(libwick PROPERTIES OUTPUT_NAME wick EXPORT_NAME wick)
set_target_properties(libwick_rt PROPERTIES OUTPUT_NAME wick_rt EXPORT_NAME rt)
foreach(library libwick libwick_rt)
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  target_link_options(${library} PRIVATE -Wl,--as-needed)
  if(NOT WICK_SANITIZE)
    target_link_options(${library} PRIVATE -Wl,--no-undefined)
  endif()
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
add_library(wick::wick ALIAS libwick)
add_library(wick::rt ALIAS libwick_rt)
