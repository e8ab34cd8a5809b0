# Compiles proto/*.proto. Sources say #include "proto/graph.pb.h".
#
# Inside protobuf's process-wide registry the files are called weir/proto/*.proto, because a program that uses both
# Weir and a proto/graph.proto of its own would otherwise abort at start-up.

file(GLOB WEIR_PROTOS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/proto/*.proto)
set(WEIR_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${WEIR_GENERATED_DIR}/weir/proto)

set(generated_sources)
set(generated_headers)
foreach(proto IN LISTS WEIR_PROTOS)
  cmake_path(GET proto STEM name)
  set(stem ${WEIR_GENERATED_DIR}/weir/proto/${name}.pb)
  add_custom_command(
    OUTPUT ${stem}.cc ${stem}.h
    COMMAND protobuf::protoc --cpp_out=${WEIR_GENERATED_DIR} --proto_path=weir/proto=${PROJECT_SOURCE_DIR}/proto
            weir/proto/${name}.proto
    DEPENDS ${WEIR_PROTOS}
    VERBATIM)
  list(APPEND generated_sources ${stem}.cc)
  list(APPEND generated_headers ${stem}.h)
endforeach()

add_custom_target(weir_proto_headers DEPENDS ${generated_headers} ${generated_sources})
set(WEIR_PROTO_INCLUDE_DIRS ${WEIR_GENERATED_DIR} ${WEIR_GENERATED_DIR}/weir)

# Each of the generated files reads a megabyte of protobuf's headers; a few that include several take half the time. Two names
# are the same in all of them.
set(WEIR_PROTO_PARTS 4)
set(parts)
foreach(i RANGE 1 ${WEIR_PROTO_PARTS})
  set(text_${i} "")
  list(APPEND parts ${WEIR_GENERATED_DIR}/weir/proto/part_${i}.cc)
endforeach()
set(i 1)
foreach(source IN LISTS generated_sources)
  cmake_path(GET source STEM name)
  string(APPEND text_${i} "#define schemas schemas_${name}\n#define file_default_instances file_default_instances_${name}\n"
    "#include \"weir/proto/${name}.pb.cc\"\n#undef schemas\n#undef file_default_instances\n")
  math(EXPR i "${i} % ${WEIR_PROTO_PARTS} + 1")
endforeach()
foreach(i RANGE 1 ${WEIR_PROTO_PARTS})
  file(CONFIGURE OUTPUT ${WEIR_GENERATED_DIR}/weir/proto/part_${i}.cc CONTENT "${text_${i}}" @ONLY)
endforeach()

add_library(weir_proto OBJECT ${parts})
add_dependencies(weir_proto weir_proto_headers)
set_target_properties(weir_proto PROPERTIES
  POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_include_directories(weir_proto SYSTEM PRIVATE ${WEIR_PROTO_INCLUDE_DIRS})
target_link_libraries(weir_proto PRIVATE protobuf::libprotobuf)
# Messages are read where graphs and files come and go, not in steps.
target_compile_options(weir_proto PRIVATE $<$<CONFIG:Release>:-O1>)
set(WEIR_PROTO_OBJECTS $<TARGET_OBJECTS:weir_proto>)
