# Builds the pages of web/ with npm: a part of PitsPage.cmake.
find_program(NPM npm)
find_program(NODE NAMES node nodejs)
if(NOT NPM OR NOT NODE)
  message(FATAL_ERROR "Tests, and a web/ that differs from web/built.tar.xz, need node and npm (Debian: nodejs npm); or name a built "
    "page.html by -DPITS_PAGE=FILE")
endif()
file(GLOB_RECURSE web_folders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/* ${PROJECT_SOURCE_DIR}/web/test/*
  ${PROJECT_SOURCE_DIR}/web/examples/*)
list(APPEND web_sources ${web_folders})
set(web_copy ${page_folder}/package)
add_custom_command(OUTPUT ${web_copy}/node_modules/.package-lock.json
  COMMAND ${CMAKE_COMMAND} -E make_directory ${web_copy}
  COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/web/package.json ${PROJECT_SOURCE_DIR}/web/package-lock.json
    ${web_copy}
  COMMAND ${CMAKE_COMMAND} -E chdir ${web_copy} ${NPM} ci --no-audit --no-fund --loglevel=error
  DEPENDS ${PROJECT_SOURCE_DIR}/web/package.json ${PROJECT_SOURCE_DIR}/web/package-lock.json
  COMMENT "Fetching the plotting library (npm)")
add_custom_command(OUTPUT ${page} ${service_page}
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/src ${web_copy}/src
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/test ${web_copy}/test
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/examples ${web_copy}/examples
  COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/web/licences.mjs
    ${web_copy}
  COMMAND ${NODE} ${web_copy}/build.mjs ${page_folder}
  DEPENDS ${web_sources} ${web_copy}/node_modules/.package-lock.json
  COMMENT "Bundling the pages")
add_custom_target(pits_page DEPENDS ${page} ${service_page})
set(PITS_WEB_COPY ${web_copy} PARENT_SCOPE)
set(PITS_BUILT_PAGE ${page} PARENT_SCOPE)

# Writes web/built.tar.xz; the test page_archive says when that is due.
file(WRITE ${page_folder}/digest ${page_digest})
add_custom_target(pits_page_archive
  COMMAND ${CMAKE_COMMAND} -E tar cJf ${built_archive} --mtime=2026-01-01 page.html service.html digest
  WORKING_DIRECTORY ${page_folder} DEPENDS ${page} ${service_page} VERBATIM)
