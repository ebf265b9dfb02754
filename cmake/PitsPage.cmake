# The page of web/ is built with npm and taken into the binary. A page that is already built (by another preset, or by
# a package) can be given with -DPITS_PAGE=FILE.
set(PITS_PAGE "" CACHE FILEPATH "A built page template; empty builds it from web/ with npm")
if(NOT PITS_PAGE)
  find_program(NPM npm)
  find_program(NODE NAMES node nodejs)
  if(NOT NPM OR NOT NODE)
    message(FATAL_ERROR "The report page needs node and npm (Debian: nodejs npm), or -DPITS_PAGE=FILE of a built page")
  endif()
  set(page ${PROJECT_BINARY_DIR}/web/page.html)
  file(GLOB web_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/*.json ${PROJECT_SOURCE_DIR}/web/*.mjs)
  file(GLOB_RECURSE web_folders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/* ${PROJECT_SOURCE_DIR}/web/test/*
    ${PROJECT_SOURCE_DIR}/web/examples/*)
  list(APPEND web_sources ${web_folders})
  set(web_copy ${PROJECT_BINARY_DIR}/web/package)
  add_custom_command(OUTPUT ${web_copy}/node_modules/.package-lock.json
    COMMAND ${CMAKE_COMMAND} -E make_directory ${web_copy}
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/web/package.json ${PROJECT_SOURCE_DIR}/web/package-lock.json
      ${web_copy}
    COMMAND ${CMAKE_COMMAND} -E chdir ${web_copy} ${NPM} ci --no-audit --no-fund --loglevel=error
    DEPENDS ${PROJECT_SOURCE_DIR}/web/package.json ${PROJECT_SOURCE_DIR}/web/package-lock.json
    COMMENT "Fetching the plotting library (npm)")
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/src ${web_copy}/src
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/test ${web_copy}/test
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/examples ${web_copy}/examples
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/web/licences.mjs
      ${web_copy}
    COMMAND ${NODE} ${web_copy}/build.mjs ${page}
    DEPENDS ${web_sources} ${web_copy}/node_modules/.package-lock.json
    COMMENT "Bundling the report page")
  add_custom_target(pits_page DEPENDS ${page})
  set(PITS_WEB_COPY ${web_copy} PARENT_SCOPE)
  set(PITS_BUILT_PAGE ${page} PARENT_SCOPE)
else()
  set(page ${PITS_PAGE})
endif()
configure_file(${PROJECT_SOURCE_DIR}/src/pits/report/page_template.cpp.in
  ${PROJECT_BINARY_DIR}/generated/page_template.cpp @ONLY)
set_source_files_properties(${PROJECT_BINARY_DIR}/generated/page_template.cpp
  TARGET_DIRECTORY pits_report PROPERTIES OBJECT_DEPENDS ${page})
target_sources(pits_report PRIVATE ${PROJECT_BINARY_DIR}/generated/page_template.cpp)
