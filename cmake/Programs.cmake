# Each .cc file of examples/cpp, bench and tools is one program in bin/, and so is each folder of tools.

# Not find_package(dnnl): Debian's configuration stops without the OpenCL headers, which nobody here needs.
find_library(WEIR_DNNL_LIBRARY dnnl)
find_path(WEIR_DNNL_INCLUDE_DIR dnnl.hpp)

function(weir_program source)
  cmake_path(GET source STEM name)
  set(sources ${source})
  if(IS_DIRECTORY ${source})
    file(GLOB sources CONFIGURE_DEPENDS ${source}/*.cc)
  endif()
  set(target ${name})
  if(TARGET ${name})
    set(target ${name}_program)  # tools/weir beside the library weir
  endif()
  add_executable(${target} ${sources})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
  target_link_libraries(${target} PRIVATE weir_warnings fmt::fmt)
  if(source MATCHES "/bench/kernels_")
    # These measure internals, which libweir.so hides, and oneDNN beside them where it is installed.
    target_link_libraries(${target} PRIVATE weir_static weir_internal)
    if(WEIR_DNNL_LIBRARY AND WEIR_DNNL_INCLUDE_DIR)
      target_include_directories(${target} SYSTEM PRIVATE ${WEIR_DNNL_INCLUDE_DIR})
      target_link_libraries(${target} PRIVATE ${WEIR_DNNL_LIBRARY})
      target_compile_definitions(${target} PRIVATE WEIR_HAVE_DNNL)
    endif()
  elseif(IS_DIRECTORY ${source})
    # The command shows operations by their rows, which libweir.so hides.
    target_link_libraries(${target} PRIVATE weir_models weir_static weir_internal)
  else()
    target_link_libraries(${target} PRIVATE weir_models weir)
  endif()
  if(source MATCHES "/bench/bench_collectives")  # beside plain MPI
    target_include_directories(${target} SYSTEM PRIVATE ${WEIR_MPI_INCLUDE_DIR})
    target_link_libraries(${target} PRIVATE ${WEIR_MPI_LIBRARY})
  endif()
endfunction()

file(GLOB WEIR_PROGRAM_SOURCES CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/examples/cpp/*.cc ${PROJECT_SOURCE_DIR}/bench/*.cc ${PROJECT_SOURCE_DIR}/tools/*.cc)
file(GLOB WEIR_TOOL_FOLDERS LIST_DIRECTORIES true CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*)
if(NOT WEIR_MPI_LIBRARY)
  list(FILTER WEIR_PROGRAM_SOURCES EXCLUDE REGEX "/bench_collectives\\.cc$")
endif()
list(FILTER WEIR_TOOL_FOLDERS EXCLUDE REGEX "\\.[a-z]+$")
foreach(source IN LISTS WEIR_PROGRAM_SOURCES WEIR_TOOL_FOLDERS)
  weir_program(${source})
endforeach()

# What users get besides the library.
set_target_properties(weir_program PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS weir_program)
