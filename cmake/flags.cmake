# How every C file of Wick is compiled: the interface target wick_flags.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden) # WICK_API says what is exported
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(wick_flags INTERFACE)
target_include_directories(wick_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(wick_flags INTERFACE _GNU_SOURCE=)
# Contraction off: references and folded constants must round as the text of the program says.
target_compile_options(wick_flags INTERFACE -ffp-contract=off
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wmissing-prototypes -Wvla)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
  target_compile_options(wick_flags INTERFACE -Wmissing-variable-declarations)
endif()
if(WICK_WERROR)
  target_compile_options(wick_flags INTERFACE -Werror)
endif()
if(WICK_FUZZ)
  target_compile_options(wick_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(WICK_SANITIZE)
  set(sanitize -fsanitize=${WICK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(wick_flags INTERFACE ${sanitize})
  target_link_options(wick_flags INTERFACE ${sanitize})
endif()
