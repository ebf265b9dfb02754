// Plain sentences that say why an estimate should not be trusted.
#pragma once

#include "pits/evaluate/evaluation.h"

namespace pits {

// Empty: nothing speaks against it.
std::vector<std::string> reasons_for_doubt(const LoggedData& data, const JudgedResult& result);

}  // namespace pits
