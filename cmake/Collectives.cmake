# libweir_mpi.so and libweir_gloo.so: what carries collectives between processes. Opened at run time by programs that ask for
# it, so that others never load an MPI; a build without Open MPI or gloo has none, and says so when it is asked.

# Not find_package(MPI): it wants the compiler of the language, and adds the C++ bindings, which nobody uses.
find_path(WEIR_MPI_INCLUDE_DIR mpi.h PATH_SUFFIXES mpi openmpi openmpi/include)
find_library(WEIR_MPI_LIBRARY mpi)
find_path(WEIR_GLOO_INCLUDE_DIR gloo/context.h)
find_library(WEIR_GLOO_LIBRARY gloo)

function(weir_transport name)
  add_library(weir_${name} MODULE ${ARGN})
  target_include_directories(weir_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(weir_${name} PRIVATE weir_warnings Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(weir_${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(weir_${name} PRIVATE $<$<CONFIG:Release>:-O3>)  # the loops that add
  if(NOT WEIR_PREBUILT)
    install(TARGETS weir_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
  set(WEIR_TRANSPORTS ${WEIR_TRANSPORTS} weir_${name} PARENT_SCOPE)
endfunction()

set(WEIR_TRANSPORTS)
set(plugins ${PROJECT_SOURCE_DIR}/src/collectives/plugins)
if(WEIR_MPI_INCLUDE_DIR AND WEIR_MPI_LIBRARY)
  weir_transport(mpi ${plugins}/mpi_transport.cc)
  target_include_directories(weir_mpi SYSTEM PRIVATE ${WEIR_MPI_INCLUDE_DIR})
  target_link_libraries(weir_mpi PRIVATE ${WEIR_MPI_LIBRARY})
else()
  message(STATUS "Open MPI is not installed: no collectives over MPI (libweir_mpi.so)")
endif()
if(WEIR_GLOO_INCLUDE_DIR AND WEIR_GLOO_LIBRARY)
  weir_transport(gloo ${plugins}/gloo_transport.cc ${plugins}/meeting_point.cc)
  target_include_directories(weir_gloo SYSTEM PRIVATE ${WEIR_GLOO_INCLUDE_DIR})
  target_link_libraries(weir_gloo PRIVATE ${WEIR_GLOO_LIBRARY})
else()
  message(STATUS "gloo is not installed: no collectives over gloo (libweir_gloo.so)")
endif()
