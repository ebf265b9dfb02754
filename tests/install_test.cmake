# cmake -D BUILD=... -D SOURCE=... -P install_test.cmake
# Installs pits to a fresh prefix, then builds and runs tests/consumer and examples/shop against it, by CMake package,
# and the first by pkg-config too.
cmake_minimum_required(VERSION 3.25)
set(work ${BUILD}/install-test)
file(REMOVE_RECURSE ${work})

function(must)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGV}\nexit ${status}\n${output}")
  endif()
  message(STATUS "${output}")
endfunction()

must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
must(${work}/prefix/bin/pits --version)
must(${CMAKE_COMMAND} -S ${SOURCE}/tests/consumer -B ${work}/consumer -G Ninja -DCMAKE_PREFIX_PATH=${work}/prefix
  -DCMAKE_CXX_COMPILER=${COMPILER})
must(${CMAKE_COMMAND} --build ${work}/consumer)
must(${work}/consumer/consumer)
must(${CMAKE_COMMAND} -S ${SOURCE}/examples/shop -B ${work}/shop -G Ninja -DCMAKE_PREFIX_PATH=${work}/prefix
  -DCMAKE_CXX_COMPILER=${COMPILER})
must(${CMAKE_COMMAND} --build ${work}/shop)
must(${work}/shop/shop)

file(GLOB_RECURSE pc ${work}/prefix/*/pits.pc)
cmake_path(GET pc PARENT_PATH pc_dir)
must(sh -c "PKG_CONFIG_PATH=${pc_dir} && export PKG_CONFIG_PATH && ${COMPILER} -std=c++20 \
  ${SOURCE}/tests/consumer/consumer.cpp -o ${work}/by-pkg-config $(PKG_CONFIG_PATH=${pc_dir} pkg-config --cflags --libs pits)")
must(${work}/by-pkg-config)
