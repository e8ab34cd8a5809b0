# libweir_grpc: servers and sessions on other machines. The rest of Weir loads it when it is first needed, so that programs
# without a cluster never do; without gRPC nothing of it is built, and whoever asks for a server is told what is missing.

find_path(WEIR_GRPC_INCLUDE grpcpp/generic/generic_stub.h)
find_library(WEIR_GRPCPP grpc++)
find_library(WEIR_GRPC grpc)
find_library(WEIR_GPR gpr)
option(WEIR_WITH_GRPC "Build libweir_grpc (servers and clusters)" ON)
if(NOT WEIR_WITH_GRPC OR NOT WEIR_GRPC_INCLUDE OR NOT WEIR_GRPCPP OR NOT WEIR_GRPC OR NOT WEIR_GPR)
  message(STATUS "gRPC (Debian: libgrpc++-dev) is not here or not wanted: Weir is built without servers and clusters")
  return()
endif()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/distributed/grpc/*.cc)
add_library(weir_grpc MODULE ${sources} ${PROJECT_SOURCE_DIR}/src/base/error.cc)
set_target_properties(weir_grpc PROPERTIES
  PREFIX lib CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
target_compile_features(weir_grpc PRIVATE cxx_std_20)
target_include_directories(weir_grpc PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_include_directories(weir_grpc SYSTEM PRIVATE ${WEIR_GRPC_INCLUDE})
target_link_libraries(weir_grpc PRIVATE weir_warnings ${WEIR_GRPCPP} ${WEIR_GRPC} ${WEIR_GPR} fmt::fmt Threads::Threads)
install(TARGETS weir_grpc LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
