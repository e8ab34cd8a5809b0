# The extension weir._weir of the Python package, built into python/weir (where Python finds it without installing) or,
# under scikit-build-core, into the wheel.

if(CMAKE_VERSION VERSION_LESS 3.18)
  set(python_component Development)
else()
  set(python_component Development.Module)
endif()
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter ${python_component})
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)
execute_process(COMMAND ${Python_EXECUTABLE} -c "import numpy; print(numpy.get_include())"
  OUTPUT_VARIABLE WEIR_NUMPY_INCLUDE OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

file(GLOB WEIR_PYTHON_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/src/*.cc)
nanobind_add_module(weir_python NB_STATIC NOMINSIZE ${WEIR_PYTHON_SOURCES})
set_target_properties(weir_python PROPERTIES OUTPUT_NAME _weir
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_SOURCE_DIR}/python/weir)
target_include_directories(weir_python SYSTEM PRIVATE ${WEIR_NUMPY_INCLUDE})
target_link_libraries(weir_python PRIVATE weir_static weir_internal)
target_precompile_headers(weir_python PRIVATE python/src/building.h <nanobind/stl/string.h> <nanobind/stl/vector.h>)
