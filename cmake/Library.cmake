# libweir.so and libweir.a, from one set of objects.

file(GLOB_RECURSE WEIR_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cc)
list(FILTER WEIR_SOURCES EXCLUDE REGEX "_test\\.cc$")
list(FILTER WEIR_SOURCES EXCLUDE REGEX "/src/distributed/grpc/")  # libweir_grpc: Grpc.cmake
list(FILTER WEIR_SOURCES EXCLUDE REGEX "/src/collectives/plugins/")  # libraries of their own: Collectives.cmake

# src/io/graph_html.cc includes its page as a string literal.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/io/graph_page.html)
file(READ ${PROJECT_SOURCE_DIR}/src/io/graph_page.html WEIR_GRAPH_PAGE)
file(CONFIGURE OUTPUT ${WEIR_GENERATED_DIR}/io/graph_page.inc CONTENT "R\"page(@WEIR_GRAPH_PAGE@)page\"\n" @ONLY)

# The libraries below are no part of the API: no public header names them and libweir.so exports nothing of them.
set(WEIR_PRIVATE_LIBRARIES protobuf::libprotobuf fmt::fmt ZLIB::ZLIB JPEG::JPEG PNG::PNG GIF::GIF ${WEIR_RE2} ${WEIR_FARMHASH} Threads::Threads ${CMAKE_DL_LIBS})

# What code that uses the internals (the library, its tests) is compiled with.
add_library(weir_internal INTERFACE)
target_include_directories(weir_internal INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_include_directories(weir_internal SYSTEM INTERFACE ${WEIR_PROTO_INCLUDE_DIRS})
target_link_libraries(weir_internal INTERFACE weir_warnings ${WEIR_PRIVATE_LIBRARIES})
add_dependencies(weir_internal weir_proto_headers)

if(WEIR_PREBUILT)
  add_library(weir_static STATIC IMPORTED)
  set_target_properties(weir_static PROPERTIES IMPORTED_LOCATION ${WEIR_PREBUILT}/libweir.a
    INTERFACE_LINK_LIBRARIES "${WEIR_PRIVATE_LIBRARIES}")
  return()
endif()

add_library(weir_objects OBJECT ${WEIR_SOURCES})
set_target_properties(weir_objects PROPERTIES
  POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_link_libraries(weir_objects PRIVATE weir_internal)
add_dependencies(weir_objects weir_proto_headers)
# Nearly every file needs these; parsing them once makes a clean build three times faster. weir/ops.h is not among them:
# it grows with every operation, and three files in four would be compiled again without having changed.
target_precompile_headers(weir_objects PRIVATE
  <algorithm> <map> <memory> <string> <vector>
  src/base/errors.h src/graph/grad_context.h src/graph/infer_context.h src/graph/node.h src/ops/kernel.h
  src/ops/types.h)

# Instruction sets go by file name and are chosen at run time, so one binary serves every processor.
set(WEIR_AVX2_FLAGS -mavx2 -mfma -mf16c)
set(WEIR_AVX512_FLAGS -mavx512f -mavx512bw -mavx512dq -mavx512vl ${WEIR_AVX2_FLAGS})
foreach(source IN LISTS WEIR_SOURCES)
  set(flags)
  if(source MATCHES "/src/devices/cpu/")
    # Other flags, and nothing of the precompiled headers is wanted there.
    set_property(SOURCE ${source} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    # Nothing here reads errno or floating-point exception flags; without these two few loops would vectorise.
    list(APPEND flags $<$<CONFIG:Release>:-O3> -fno-math-errno -fno-trapping-math)
  elseif(source MATCHES "/src/(ops|collectives)/" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # At -O2 g++ leaves loops alone whose length or overlap only the run knows.
    list(APPEND flags $<$<CONFIG:Release>:-fvect-cost-model=dynamic>)
  elseif(source MATCHES "/src/(import|nn|train)/")
    # Runs when a graph is made, not in a step: a quarter of the time of compiling these is not worth having at run time.
    list(APPEND flags $<$<CONFIG:Release>:-O1>)
  endif()
  if(source MATCHES "/src/ops/linalg/dense_")
    # Only these see Eigen, which has a minute's worth of templates.
    list(APPEND flags -isystem${EIGEN3_INCLUDE_DIRS})
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    if(source MATCHES "_avx2\\.cc$")
      list(APPEND flags ${WEIR_AVX2_FLAGS})
    elseif(source MATCHES "_avx512\\.cc$")
      list(APPEND flags ${WEIR_AVX512_FLAGS})
    endif()
  endif()
  set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${flags})
endforeach()

set(WEIR_PUBLIC_INCLUDE_DIRS
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

add_library(weir SHARED $<TARGET_OBJECTS:weir_objects> ${WEIR_PROTO_OBJECTS})
add_library(weir::weir ALIAS weir)
set_target_properties(weir PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map LINKER_LANGUAGE CXX)
target_link_options(weir PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
if(NOT WEIR_SANITIZE)  # clang leaves the sanitizers' symbols of a shared library to the program
  target_link_options(weir PRIVATE -Wl,--no-undefined)
endif()

add_library(weir_static STATIC $<TARGET_OBJECTS:weir_objects> ${WEIR_PROTO_OBJECTS})
add_library(weir::weir_static ALIAS weir_static)
set_target_properties(weir_static PROPERTIES OUTPUT_NAME weir LINKER_LANGUAGE CXX)

foreach(library weir weir_static)
  target_compile_features(${library} PUBLIC cxx_std_20)
  target_include_directories(${library} PUBLIC ${WEIR_PUBLIC_INCLUDE_DIRS})
  target_link_libraries(${library} PRIVATE ${WEIR_PRIVATE_LIBRARIES})
endforeach()
