# The extension weir._weir and the message descriptors, built into python/weir, where Python finds the package without
# installing it; under scikit-build-core they go into the wheel.

find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)
execute_process(COMMAND ${Python_EXECUTABLE} -c "import numpy; print(numpy.get_include())"
  OUTPUT_VARIABLE WEIR_NUMPY_INCLUDE OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

set(WEIR_PYTHON_DIR ${PROJECT_SOURCE_DIR}/python/weir)
if(SKBUILD)
  # A copy of the package, which the stubs are read off, without what was built for another Python.
  set(WEIR_PYTHON_DIR ${PROJECT_BINARY_DIR}/python/weir)
  file(COPY ${PROJECT_SOURCE_DIR}/python/weir DESTINATION ${PROJECT_BINARY_DIR}/python
    REGEX "\\.(so|pyi|bin|pyc)$" EXCLUDE)
endif()

file(GLOB WEIR_PYTHON_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/src/*.cc)
# The command `weir` of an installed package has the subcommands of the C++ program.
file(GLOB WEIR_COMMAND_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/weir/*.cc)
list(FILTER WEIR_COMMAND_SOURCES EXCLUDE REGEX "/main\\.cc$")
nanobind_add_module(weir_python NB_STATIC NOMINSIZE ${WEIR_PYTHON_SOURCES} ${WEIR_COMMAND_SOURCES})
set_target_properties(weir_python PROPERTIES OUTPUT_NAME _weir LIBRARY_OUTPUT_DIRECTORY ${WEIR_PYTHON_DIR})
target_include_directories(weir_python SYSTEM PRIVATE ${WEIR_NUMPY_INCLUDE})
target_include_directories(weir_python PRIVATE ${PROJECT_SOURCE_DIR}/tools/weir)
target_link_libraries(weir_python PRIVATE weir_models weir_static weir_internal)
target_precompile_headers(weir_python PRIVATE python/src/building.h
  <nanobind/stl/string.h> <nanobind/stl/string_view.h> <nanobind/stl/vector.h>)

add_custom_command(OUTPUT ${WEIR_PYTHON_DIR}/_descriptors.bin
  COMMAND ${CMAKE_COMMAND} -E make_directory ${WEIR_PYTHON_DIR}
  COMMAND ${CMAKE_COMMAND} -E env PROTOC=$<TARGET_FILE:protobuf::protoc>
    ${PROJECT_SOURCE_DIR}/tools/descriptors.sh ${WEIR_PYTHON_DIR}/_descriptors.bin
  DEPENDS ${WEIR_PROTOS} ${PROJECT_SOURCE_DIR}/tools/descriptors.sh)
add_custom_target(weir_descriptors ALL DEPENDS ${WEIR_PYTHON_DIR}/_descriptors.bin)

# What carries collectives, for the same folder as servers.
foreach(transport IN LISTS WEIR_TRANSPORTS)
  add_custom_command(TARGET ${transport} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E make_directory ${WEIR_PYTHON_DIR}/lib
    COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:${transport}> ${WEIR_PYTHON_DIR}/lib)
  add_dependencies(weir_python ${transport})
endforeach()

# Stubs for editors, of names that exist only when the package runs.
cmake_path(GET WEIR_PYTHON_DIR PARENT_PATH WEIR_PYTHON_PATH)
add_custom_command(TARGET weir_python POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E env --modify PYTHONPATH=path_list_prepend:${WEIR_PYTHON_PATH}
    ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/stubs.py ${WEIR_PYTHON_DIR}
  COMMAND ${CMAKE_COMMAND} -E env --modify PYTHONPATH=path_list_prepend:${WEIR_PYTHON_PATH}
    ${Python_EXECUTABLE} -m nanobind.stubgen -q -m weir._weir -o ${WEIR_PYTHON_DIR}/_weir.pyi)
add_dependencies(weir_python weir_descriptors)

# Servers and clusters: the extension looks for libweir_grpc in the folder lib beside itself (beside itself Python would take it
# for a module). A wheel has it when gRPC was there.
if(TARGET weir_grpc)
  add_custom_command(TARGET weir_grpc POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E make_directory ${WEIR_PYTHON_DIR}/lib
    COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:weir_grpc> ${WEIR_PYTHON_DIR}/lib)
  add_dependencies(weir_python weir_grpc)
endif()

if(SKBUILD)
  install(TARGETS weir_python LIBRARY DESTINATION . COMPONENT python)
  if(TARGET weir_grpc)
    install(TARGETS weir_grpc LIBRARY DESTINATION lib COMPONENT python)
  endif()
  if(WEIR_TRANSPORTS)
    install(TARGETS ${WEIR_TRANSPORTS} LIBRARY DESTINATION lib COMPONENT python)
  endif()
  install(DIRECTORY ${WEIR_PYTHON_DIR}/ DESTINATION . COMPONENT python
    FILES_MATCHING PATTERN "*.pyi" PATTERN "_descriptors.bin")
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/mnist DESTINATION data COMPONENT python)
elseif(WEIR_TESTS)
  add_test(NAME test_python COMMAND ${Python_EXECUTABLE} -m pytest -q WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(test_python PROPERTIES TIMEOUT 1800 ENVIRONMENT PYTHONPATH=${PROJECT_SOURCE_DIR}/python)
endif()
