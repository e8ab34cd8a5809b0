# Each .cc file of examples/cpp, bench and tools is one program in bin/.

# Not find_package(dnnl): Debian's configuration stops without the OpenCL headers, which nobody here needs.
find_library(WEIR_DNNL_LIBRARY dnnl)
find_path(WEIR_DNNL_INCLUDE_DIR dnnl.hpp)

function(weir_program source)
  cmake_path(GET source STEM name)
  set(target ${name})
  if(TARGET ${name})
    set(target ${name}_program)  # tools/weir.cc beside the library weir
  endif()
  add_executable(${target} ${source})
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
  else()
    target_link_libraries(${target} PRIVATE weir)
  endif()
endfunction()

file(GLOB WEIR_PROGRAM_SOURCES CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/examples/cpp/*.cc ${PROJECT_SOURCE_DIR}/bench/*.cc ${PROJECT_SOURCE_DIR}/tools/*.cc)
foreach(source IN LISTS WEIR_PROGRAM_SOURCES)
  weir_program(${source})
endforeach()
