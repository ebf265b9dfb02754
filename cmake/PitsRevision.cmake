# cmake -D SOURCE=... -D OUT=... -P PitsRevision.cmake: writes the commit that is being built to a header, at every build,
# but touches the file only when it changes. A run directory is resumed only by the same revision.
execute_process(COMMAND git describe --always --dirty --exclude * WORKING_DIRECTORY ${SOURCE}
  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  set(revision unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
#pragma once

namespace pits {
inline constexpr const char* revision = "@revision@";
}
]])
