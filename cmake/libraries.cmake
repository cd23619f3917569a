# libwick and libwick_rt, and the archive of all internals that the command and the tests link.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
set(WICK_FORMATS_MODULES "libpng libjpeg libzip jansson zlib")
separate_arguments(formats UNIX_COMMAND ${WICK_FORMATS_MODULES})
pkg_check_modules(WICK_FORMATS REQUIRED IMPORTED_TARGET ${formats})
find_library(WICK_LIBM m)

# Headers of libraries that the runtime opens when an operator needs them: regular expressions and
# images. Without one, that operator says so when it is met.
set(wick_runtime_headers)
foreach(pair PCRE2=libpcre2-8 PNG=libpng JPEG=libjpeg WEBP=libwebp TIFF=libtiff-4 OPENJP2=libopenjp2)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 module)
  pkg_check_modules(WICK_${name} ${module})
  if(WICK_${name}_FOUND)
    list(APPEND wick_runtime_headers WICK_HAVE_${name})
    set_property(GLOBAL APPEND PROPERTY wick_runtime_includes ${WICK_${name}_INCLUDE_DIRS})
  endif()
endforeach()

file(GLOB_RECURSE wick_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.c)
list(FILTER wick_sources EXCLUDE REGEX "_test\\.c$|/main\\.c$|/src/codegen/llvm/")
set(wick_rt_sources ${wick_sources})
list(FILTER wick_rt_sources INCLUDE REGEX "/src/(base|runtime)/")
list(REMOVE_ITEM wick_sources ${wick_rt_sources})

# The language's own modules are text within the compiler.
set(library_texts ${PROJECT_BINARY_DIR}/library.c)
file(GLOB library_modules CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/library/*.wick
     ${PROJECT_SOURCE_DIR}/library/*.rly)
add_custom_command(OUTPUT ${library_texts} DEPENDS ${library_modules} ${PROJECT_SOURCE_DIR}/cmake/library.cmake
  COMMAND ${CMAKE_COMMAND} -D OUT=${library_texts} -D FOLDER=${PROJECT_SOURCE_DIR}/library
    -P ${PROJECT_SOURCE_DIR}/cmake/library.cmake VERBATIM)
list(APPEND wick_sources ${library_texts})

# Every file is compiled once. wick_system is what all of them need from the machine.
add_library(wick_system INTERFACE)
target_link_libraries(wick_system INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
if(WICK_LIBM)
  target_link_libraries(wick_system INTERFACE ${WICK_LIBM})
endif()
target_link_options(wick_system INTERFACE -Wl,--as-needed)
add_library(wick_rt_objects OBJECT ${wick_rt_sources})
target_link_libraries(wick_rt_objects PRIVATE wick_flags)
target_compile_definitions(wick_rt_objects PRIVATE ${wick_runtime_headers})
get_property(wick_runtime_includes GLOBAL PROPERTY wick_runtime_includes)
target_include_directories(wick_rt_objects SYSTEM PRIVATE ${wick_runtime_includes})
set(wick_objects $<TARGET_OBJECTS:wick_rt_objects>)
if(wick_sources)
  add_library(wick_objects OBJECT ${wick_sources})
  target_link_libraries(wick_objects PRIVATE wick_flags PkgConfig::WICK_FORMATS)
  list(APPEND wick_objects $<TARGET_OBJECTS:wick_objects>)
endif()

# Hidden symbols are seen by what links the archive, not by users of the libraries.
add_library(wick_internal STATIC ${wick_objects})
target_link_libraries(wick_internal PUBLIC wick_flags wick_system PkgConfig::WICK_FORMATS)

add_library(libwick ${wick_objects})
target_link_libraries(libwick PRIVATE $<BUILD_INTERFACE:wick_flags> $<BUILD_INTERFACE:wick_system>
  $<BUILD_INTERFACE:PkgConfig::WICK_FORMATS>)

# Loads and runs artifacts without the compiler: src/base and src/runtime, and nothing else.
add_library(libwick_rt $<TARGET_OBJECTS:wick_rt_objects>)
target_link_libraries(libwick_rt PRIVATE $<BUILD_INTERFACE:wick_flags> $<BUILD_INTERFACE:wick_system>)

set_target_properties(libwick PROPERTIES OUTPUT_NAME wick EXPORT_NAME wick)
set_target_properties(libwick_rt PROPERTIES OUTPUT_NAME wick_rt EXPORT_NAME rt)
foreach(library libwick libwick_rt)
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  if(NOT WICK_SANITIZE)
    target_link_options(${library} PRIVATE -Wl,--no-undefined)
  endif()
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
add_library(wick::wick ALIAS libwick)
add_library(wick::rt ALIAS libwick_rt)
