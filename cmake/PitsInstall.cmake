# cmake --install: program, libraries, headers, and what find_package(pits) and pkg-config need.
include(CMakePackageConfigHelpers)

install(TARGETS pits RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/pits DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "bench" EXCLUDE PATTERN "cli" EXCLUDE PATTERN "cuda" EXCLUDE PATTERN "philox.h" EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/generated/pits/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pits)

# Man pages and completion, written by the program from the definitions that --help shows.
set(manual ${PROJECT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}/pits.bash
  COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:pits> -D OUT=${manual} -P ${CMAKE_CURRENT_LIST_DIR}/PitsManual.cmake
  DEPENDS pits ${CMAKE_CURRENT_LIST_DIR}/PitsManual.cmake COMMENT "Writing man pages and completion" VERBATIM)
add_custom_target(pits_manual ALL DEPENDS ${manual}/pits.bash)
install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${manual}/pits.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME pits)
install(FILES ${manual}/_pits DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/data DESTINATION ${CMAKE_INSTALL_DATADIR}/pits)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pits)
foreach(name bandit experiment)
  install(TARGETS pits_${name}_library EXPORT pits_${name} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT pits_${name} NAMESPACE pits:: DESTINATION ${package_dir} FILE pits_${name}.cmake)
endforeach()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pitsConfig.cmake.in ${PROJECT_BINARY_DIR}/pitsConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pitsConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pitsConfig.cmake ${PROJECT_BINARY_DIR}/pitsConfigVersion.cmake
  DESTINATION ${package_dir})

# From the folder of the .pc files to the prefix, so that the installed tree can be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE pits_libdir)
file(RELATIVE_PATH PITS_PREFIX_FROM_PC /${pits_libdir}/pkgconfig /)
if(MPI_C_FOUND)
  set(PITS_PC_MPI " -lmpi")
endif()
foreach(name bandit experiment)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/pits-${name}.pc.in ${PROJECT_BINARY_DIR}/pits-${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pits-${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
