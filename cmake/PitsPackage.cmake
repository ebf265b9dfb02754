# cpack -G DEB: one Debian package with the program, the libraries and headers, man pages, completion, the systemd units and
# the data. The component `package` has what only a package installs.
set(systemd ${PROJECT_SOURCE_DIR}/packaging/systemd)
install(FILES ${systemd}/pits.service ${systemd}/pits.socket DESTINATION lib/systemd/system COMPONENT package EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/debian/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/pits COMPONENT package
  EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/pits
  COMPONENT package EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "the pits developers <pits@localhost>")
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};pits;ALL;/;${PROJECT_BINARY_DIR};pits;package;/")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # what the program links
set(CPACK_DEBIAN_PACKAGE_DEPENDS tzdata)  # named zones in schemas
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)  # pits data fetch
# What programs that link the libraries are compiled with.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, cmake, libeigen3-dev, libhwy-dev, libtbb-dev, libfmt-dev, libssl-dev, libsqlite3-dev, \
nlohmann-json3-dev, libarchive-dev, libcurl4-openssl-dev, libcsv-dev")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/postinst
  ${PROJECT_SOURCE_DIR}/packaging/debian/prerm ${PROJECT_SOURCE_DIR}/packaging/debian/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
