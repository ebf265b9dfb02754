# cmake -D BUILD=... -D SOURCE=... -D COMPILER=... -P install_test.cmake
# Installs pits to a fresh prefix, then builds and runs two projects against it, by CMake package and by pkg-config:
# examples/shop with pits::bandit, tests/consumer with pits::experiment.
cmake_minimum_required(VERSION 3.25)
set(work ${BUILD}/install-test)
set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${work})

function(must)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGV}\nexit ${status}\n${output}")
  endif()
  message(STATUS "${output}")
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Configures, builds and runs the project in `source`; further arguments go to cmake.
function(build_and_run source name)
  must(${CMAKE_COMMAND} -S ${source} -B ${work}/${name} -G Ninja -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_CXX_COMPILER=${COMPILER} ${ARGN})
  must(${CMAKE_COMMAND} --build ${work}/${name})
  must(${work}/${name}/${name})
endfunction()

function(build_by_pkg_config source package)
  file(GLOB_RECURSE pc ${prefix}/*/${package}.pc)
  cmake_path(GET pc PARENT_PATH pc_dir)
  must(sh -c "flags=$(PKG_CONFIG_PATH=${pc_dir} pkg-config --cflags --libs ${package}) && \
    ${COMPILER} -std=c++20 ${source} -o ${work}/by-pkg-config $flags")
  must(${work}/by-pkg-config)
endfunction()

# A product that wants a bandit links nothing of what experiments need.
function(must_not_need_experiments program)
  must(readelf -d ${program})
  if(NOT output MATCHES "NEEDED.*tbb" OR output MATCHES "NEEDED[^\n]*(curl|archive|csv|mpi)")
    message(FATAL_ERROR "${program} links the wrong libraries:\n${output}")
  endif()
endfunction()

must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
must(${prefix}/bin/pits --version)
build_and_run(${SOURCE}/examples/shop shop -DCMAKE_DISABLE_FIND_PACKAGE_CURL=ON
  -DCMAKE_DISABLE_FIND_PACKAGE_LibArchive=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
must_not_need_experiments(${work}/shop/shop)
build_by_pkg_config(${SOURCE}/examples/shop/shop.cpp pits-bandit)
must_not_need_experiments(${work}/by-pkg-config)
build_and_run(${SOURCE}/tests/consumer consumer)
build_by_pkg_config(${SOURCE}/tests/consumer/consumer.cpp pits-experiment)
