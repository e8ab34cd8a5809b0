# The models of the examples and what reads their data, which `weir train` has too. A library without Weir itself, so that programs can take it with
# the shared library and the Python extension with the static one.

file(GLOB WEIR_MODEL_SOURCES CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/examples/cpp/models/*.cc ${PROJECT_SOURCE_DIR}/examples/cpp/data/*.cc)
list(FILTER WEIR_MODEL_SOURCES EXCLUDE REGEX "_test\\.cc$")
add_library(weir_models STATIC ${WEIR_MODEL_SOURCES})
set_target_properties(weir_models PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(weir_models PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/examples/cpp)
target_link_libraries(weir_models PRIVATE weir_warnings fmt::fmt ZLIB::ZLIB Threads::Threads)
