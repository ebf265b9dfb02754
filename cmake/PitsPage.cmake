# The pages of web/ are built with npm and taken into the binary: page.html, the template of reports, and service.html,
# the page of the service. Pages that are already built (by another preset, or by a package) can be given with
# -DPITS_PAGE=FOLDER/page.html, with service.html beside it.
set(PITS_PAGE "" CACHE FILEPATH "A built page.html, with service.html beside it; empty builds both from web/ with npm")
if(NOT PITS_PAGE)
  find_program(NPM npm)
  find_program(NODE NAMES node nodejs)
  if(NOT NPM OR NOT NODE)
    message(FATAL_ERROR "The pages need node and npm (Debian: nodejs npm), or -DPITS_PAGE=FILE of a built page.html")
  endif()
  set(page ${PROJECT_BINARY_DIR}/web/page.html)
  set(service_page ${PROJECT_BINARY_DIR}/web/service.html)
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
  add_custom_command(OUTPUT ${page} ${service_page}
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/src ${web_copy}/src
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/test ${web_copy}/test
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/examples ${web_copy}/examples
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/web/licences.mjs
      ${web_copy}
    COMMAND ${NODE} ${web_copy}/build.mjs ${PROJECT_BINARY_DIR}/web
    DEPENDS ${web_sources} ${web_copy}/node_modules/.package-lock.json
    COMMENT "Bundling the pages")
  add_custom_target(pits_page DEPENDS ${page} ${service_page})
  set(PITS_WEB_COPY ${web_copy} PARENT_SCOPE)
  set(PITS_BUILT_PAGE ${page} PARENT_SCOPE)
else()
  set(page ${PITS_PAGE})
  cmake_path(REPLACE_FILENAME PITS_PAGE service.html OUTPUT_VARIABLE service_page)
  if(NOT EXISTS ${service_page})
    message(FATAL_ERROR "PITS_PAGE=${PITS_PAGE}: the page of the service, ${service_page}, is not there")
  endif()
endif()

# Gives `target` the function pits::FUNCTION() of `header`, which returns the bytes of a page.
function(embed_page target page page_header page_function)
  set(source ${PROJECT_BINARY_DIR}/generated/${page_function}.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/EmbeddedPage.cpp.in ${source} @ONLY)
  set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES OBJECT_DEPENDS ${page})
  target_sources(${target} PRIVATE ${source})
endfunction()
embed_page(pits_report ${page} pits/report/page.h page_template)
embed_page(pits_serve ${service_page} pits/serve/page.h service_page)
