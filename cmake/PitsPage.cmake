# The pages of web/ are taken into the binary: page.html, the template of reports, and service.html, the page of the service.
# web/built.tar.xz has both as they were built last, with a digest of their sources, so that a build needs no
# npm. With tests, or where web/ differs from that digest, they are built with npm. Pages that are already built elsewhere can be
# given with -DPITS_PAGE=FOLDER/page.html, with service.html beside it.
set(PITS_PAGE "" CACHE FILEPATH "A built page.html, with service.html beside it; empty: from web/built.tar.xz or, with npm, from web/")

# One SHA-256 of all that the pages are built of.
file(GLOB web_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/*.json ${PROJECT_SOURCE_DIR}/web/*.mjs)
file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
list(APPEND page_sources ${web_sources})
list(SORT page_sources)
set(digests "")
foreach(file IN LISTS page_sources)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(SHA256 ${file} digest)
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
  string(APPEND digests "${digest} ${file}\n")
endforeach()
string(SHA256 page_digest "${digests}")

set(page_folder ${PROJECT_BINARY_DIR}/web)
set(page ${page_folder}/page.html)
set(service_page ${page_folder}/service.html)
set(built_archive ${PROJECT_SOURCE_DIR}/web/built.tar.xz)
set(built_digest "")
if(EXISTS ${built_archive})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${built_archive})
  file(ARCHIVE_EXTRACT INPUT ${built_archive} DESTINATION ${page_folder}/built)
  file(READ ${page_folder}/built/digest built_digest)
endif()

if(PITS_PAGE)
  set(page ${PITS_PAGE})
  cmake_path(REPLACE_FILENAME PITS_PAGE service.html OUTPUT_VARIABLE service_page)
  if(NOT EXISTS ${service_page})
    message(FATAL_ERROR "PITS_PAGE=${PITS_PAGE}: the page of the service, ${service_page}, is not there")
  endif()
elseif(NOT PITS_TESTS AND page_digest STREQUAL built_digest)
  set(page ${page_folder}/built/page.html)
  set(service_page ${page_folder}/built/service.html)
else()
  include(PitsPageBuild)
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
