# One test program for each folder that holds *_test.cc: src/ops/nn -> test_ops_nn, tests/session -> test_tests_session.
# Helpers that several folders use are the .cc files of tests/support.

find_package(GTest REQUIRED)

file(GLOB WEIR_TEST_SUPPORT CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.cc)
if(WEIR_TEST_SUPPORT)
  add_library(weir_test_support STATIC ${WEIR_TEST_SUPPORT})
  set(scope PUBLIC)
else()
  add_library(weir_test_support INTERFACE)
  set(scope INTERFACE)
endif()
target_link_libraries(weir_test_support ${scope} weir_static weir_internal GTest::gtest_main)
target_include_directories(weir_test_support ${scope} ${PROJECT_SOURCE_DIR})
target_compile_definitions(weir_test_support ${scope} WEIR_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
# Tests check the library, which is optimised; they themselves are compiled as quickly as possible.
target_compile_options(weir_test_support ${scope} -O0)
target_precompile_headers(weir_test_support PRIVATE
  <gtest/gtest.h> <memory> <string> <vector> include/weir/weir.h src/ops/kernel.h)

file(GLOB_RECURSE WEIR_TEST_SOURCES CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/*_test.cc ${PROJECT_SOURCE_DIR}/tests/*_test.cc
  ${PROJECT_SOURCE_DIR}/examples/cpp/*_test.cc)
set(folders)
foreach(source IN LISTS WEIR_TEST_SOURCES)
  cmake_path(GET source PARENT_PATH folder)
  list(APPEND folders ${folder})
  list(APPEND sources_of_${folder} ${source})
endforeach()
list(REMOVE_DUPLICATES folders)

# Where tests write: another place in each build, so that two checkouts can be tested at once.
set(WEIR_TEST_FILES ${PROJECT_BINARY_DIR}/Testing/files)
file(MAKE_DIRECTORY ${WEIR_TEST_FILES})

foreach(folder IN LISTS folders)
  cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
  string(REGEX REPLACE "^src/" "" name ${name})
  string(REPLACE "/" "_" name test_${name})
  add_executable(${name} ${sources_of_${folder}})
  target_link_libraries(${name} PRIVATE weir_models weir_test_support)
  target_precompile_headers(${name} REUSE_FROM weir_test_support)
  add_test(NAME ${name} COMMAND ${name})
  # Against hangs only: sanitizers on a busy machine need most of it.
  set_tests_properties(${name} PROPERTIES TIMEOUT 1800 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    ENVIRONMENT TEST_TMPDIR=${WEIR_TEST_FILES})
endforeach()

if(WEIR_SANITIZE)  # the sanitizer's own allocator cannot be counted
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/tests/steady_state/allocations_test.cc
    APPEND PROPERTY COMPILE_DEFINITIONS WEIR_OWN_ALLOCATOR)
endif()

# Which folder may include which.
find_program(WEIR_PYTHON3 python3)
if(WEIR_PYTHON3)
  add_test(NAME test_include_order COMMAND ${WEIR_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/include_order.py)
endif()

# Small programs that end by themselves and need no data.
if(WEIR_PROGRAMS)
  add_test(NAME example_devices COMMAND devices)
  add_test(NAME example_matpow COMMAND matpow --size 100 --runs 2 --virtual-gpus 2 --devices /gpu:0,/gpu:1)
  add_test(NAME example_sequence_autoencoder COMMAND sequence_autoencoder)
  add_test(NAME example_char_rnn COMMAND char_rnn ${PROJECT_SOURCE_DIR}/LICENSE 60)
  add_test(NAME example_language_model COMMAND language_model 1)
  add_test(NAME example_translation COMMAND translation 300)
  add_test(NAME example_word2vec COMMAND word2vec)
  set_tests_properties(example_sequence_autoencoder PROPERTIES PASS_REGULAR_EXPRESSION "(9|10) of 10 sequences are right")
  set_tests_properties(example_char_rnn PROPERTIES PASS_REGULAR_EXPRESSION "step 60  loss [12]\\.")
  set_tests_properties(example_language_model PROPERTIES PASS_REGULAR_EXPRESSION "validation perplexity [34]\\.")
  set_tests_properties(example_translation PROPERTIES PASS_REGULAR_EXPRESSION "1[0-9][0-9] of 200|200 of 200")
  set_tests_properties(example_word2vec PROPERTIES PASS_REGULAR_EXPRESSION "1[2-5] of 15 words")
  set_tests_properties(example_devices PROPERTIES PASS_REGULAR_EXPRESSION "somewhere else g = 1")
  set_tests_properties(example_matpow PROPERTIES PASS_REGULAR_EXPRESSION "the sums agree: True")
endif()

# Against an installed copy. The user's program is no sanitizer build, so the library must not be one either.
if(NOT WEIR_SANITIZE)
  add_test(NAME test_install
    COMMAND ${PROJECT_SOURCE_DIR}/tests/install/check_install.sh ${PROJECT_BINARY_DIR} ${CMAKE_CXX_COMPILER})
  set_tests_properties(test_install PROPERTIES TIMEOUT 600)
endif()
