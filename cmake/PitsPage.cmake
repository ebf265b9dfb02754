# The page of web/ is built with npm and taken into the binary. A page that is already built (by another preset, or by
# a package) can be given with -DPITS_PAGE=FILE.
set(PITS_PAGE "" CACHE FILEPATH "A built page template; empty builds it from web/ with npm")
if(NOT PITS_PAGE)
  find_program(NPM npm)
  find_program(NODE NAMES node nodejs)
  if(NOT NPM OR NOT NODE)
    message(FATAL_ERROR "The report page needs node and npm (Debian: nodejs npm), or -DPITS_PAGE=FILE of a built page")
  endif()
  set(PITS_PAGE ${PROJECT_BINARY_DIR}/web/page.html)
  file(GLOB web_files RELATIVE ${PROJECT_SOURCE_DIR}/web CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/web/*.json ${PROJECT_SOURCE_DIR}/web/*.mjs ${PROJECT_SOURCE_DIR}/web/src/*)
  list(TRANSFORM web_files PREPEND ${PROJECT_SOURCE_DIR}/web/ OUTPUT_VARIABLE web_sources)
  set(web_copy ${PROJECT_BINARY_DIR}/web/package)
  add_custom_command(OUTPUT ${web_copy}/node_modules/.package-lock.json
    COMMAND ${CMAKE_COMMAND} -E make_directory ${web_copy}
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/web/package.json ${PROJECT_SOURCE_DIR}/web/package-lock.json
      ${web_copy}
    COMMAND ${CMAKE_COMMAND} -E chdir ${web_copy} ${NPM} ci --no-audit --no-fund --loglevel=error
    DEPENDS ${PROJECT_SOURCE_DIR}/web/package.json ${PROJECT_SOURCE_DIR}/web/package-lock.json
    COMMENT "Fetching the plotting library (npm)")
  add_custom_command(OUTPUT ${PITS_PAGE}
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/src ${web_copy}/src
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/web/licences.mjs
      ${web_copy}
    COMMAND ${NODE} ${web_copy}/build.mjs ${PITS_PAGE}
    DEPENDS ${web_sources} ${web_copy}/node_modules/.package-lock.json
    COMMENT "Bundling the report page")
endif()
configure_file(${PROJECT_SOURCE_DIR}/src/pits/report/page_template.cpp.in
  ${PROJECT_BINARY_DIR}/generated/page_template.cpp @ONLY)
set_source_files_properties(${PROJECT_BINARY_DIR}/generated/page_template.cpp
  TARGET_DIRECTORY pits_report PROPERTIES OBJECT_DEPENDS ${PITS_PAGE})
target_sources(pits_report PRIVATE ${PROJECT_BINARY_DIR}/generated/page_template.cpp)
