# How every target of pits is compiled. Nothing here may change the meaning of floating-point code
# (no -ffast-math, no -march=native): results are promised to the bit for a seed and a SIMD target.
add_library(pits_options INTERFACE)
# -ffp-contract=off: the same bits whether or not the compiler would fuse a multiply-add. -fno-math-errno lets sqrt
# vectorise.
set(cxx_options -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -ffp-contract=off -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND cxx_options -Wno-restrict)  # false alarms in std::string, GCC bug 105651
endif()
if(PITS_WERROR)
  list(APPEND cxx_options -Werror)
endif()
target_compile_options(pits_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${cxx_options}>")
# UBSan's checks of every single access take more than half of the time to compile SIMD kernels and tests. The address
# sanitizer reports the accesses that go wrong, so these sources, and targets with the property FEWER_CHECKS, do without.
set(fewer_checks)
if(PITS_SANITIZE MATCHES address.*undefined)
  set(fewer_checks -fno-sanitize=null,alignment,object-size,pointer-overflow)
endif()
if(PITS_SANITIZE)
  target_compile_options(pits_options INTERFACE -fsanitize=${PITS_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all $<$<BOOL:$<TARGET_PROPERTY:FEWER_CHECKS>>:${fewer_checks}>)
  target_compile_definitions(pits_options INTERFACE PITS_SANITIZED)
  target_link_options(pits_options INTERFACE -fsanitize=${PITS_SANITIZE})
endif()

# Headers that most sources of a target include. A build with warnings as errors goes without: GCC takes precompiled
# headers of the system for ours and warns of them, and every source has to include what it uses.
function(pits_precompile target)
  if(PITS_PCH)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

find_program(CCACHE ccache)  # what was compiled once is not compiled again
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the source: another clone of the same sources finds the same objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  if(PITS_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Without it ccache does not keep what was compiled with a precompiled header.
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>")
  endif()
endif()
