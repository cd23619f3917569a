# The Python package: build/python/wick, which is python/wick with its extension module, the command
# and wick-codegen, and which `pip install .` puts into a wheel. Stable ABI: one build serves Python 3.11 and later.
option(WICK_PYTHON "Build the Python package, where Python's headers are there" ON)
set(WICK_HAVE_PYTHON OFF)
if(WICK_PYTHON AND NOT WICK_SANITIZE)
  find_package(Python 3.11 COMPONENTS Interpreter Development.Module)
  set(WICK_HAVE_PYTHON ${Python_Development.Module_FOUND})
endif()
if(WICK_HAVE_PYTHON)
  set(python_package ${PROJECT_BINARY_DIR}/python/wick)
  file(GLOB python_core CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/core/*.c)
  file(GLOB python_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/wick/*.py
    ${PROJECT_SOURCE_DIR}/python/wick/*.pyi ${PROJECT_SOURCE_DIR}/python/wick/py.typed)

  add_library(wick_python MODULE ${python_core})
  target_compile_definitions(wick_python PRIVATE Py_LIMITED_API=0x030B0000)
  target_include_directories(wick_python SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
  target_link_libraries(wick_python PRIVATE wick_internal)
  target_link_options(wick_python PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections)
  set_target_properties(wick_python PROPERTIES PREFIX "" OUTPUT_NAME _core SUFFIX .abi3.so
    LIBRARY_OUTPUT_DIRECTORY ${python_package})

  file(MAKE_DIRECTORY ${python_package})
  foreach(file ${python_files})
    cmake_path(GET file FILENAME name)
    file(CREATE_LINK ${file} ${python_package}/${name} SYMBOLIC)
  endforeach()
  # The command, which the entry point `wick` of the wheel runs (python/wick/command.py).
  file(CREATE_LINK ${PROJECT_BINARY_DIR}/wick ${python_package}/wick SYMBOLIC)
  add_dependencies(wick_python wick)
  install(TARGETS wick RUNTIME DESTINATION wick COMPONENT python EXCLUDE_FROM_ALL)
  if(WICK_HAVE_CODEGEN)
    file(CREATE_LINK ${PROJECT_BINARY_DIR}/wick-codegen ${python_package}/wick-codegen SYMBOLIC)
    add_dependencies(wick_python wick-codegen)
    install(TARGETS wick-codegen RUNTIME DESTINATION wick COMPONENT python EXCLUDE_FROM_ALL)
  endif()
  install(TARGETS wick_python LIBRARY DESTINATION wick COMPONENT python EXCLUDE_FROM_ALL)
  install(FILES ${python_files} DESTINATION wick COMPONENT python EXCLUDE_FROM_ALL)
endif()
