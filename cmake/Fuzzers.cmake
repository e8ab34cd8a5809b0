# Each tests/fuzz/<name>_fuzzer.cc is one libFuzzer program in bin/.

file(GLOB WEIR_FUZZER_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*_fuzzer.cc)
target_compile_options(weir_objects PRIVATE -fsanitize=fuzzer-no-link)
foreach(source IN LISTS WEIR_FUZZER_SOURCES)
  cmake_path(GET source STEM name)
  add_executable(${name} ${source})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name} PRIVATE weir_static weir_internal)
endforeach()
# Messages come by the transport of the tests.
target_sources(service_fuzzer PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/loopback.cc)
target_include_directories(service_fuzzer PRIVATE ${PROJECT_SOURCE_DIR})
