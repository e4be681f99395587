// What users can do where their kernel, as it is in the repository, cannot be judged.
#pragma once

#include <string>

#include "core/verdict.h"

namespace warpwright::core {

// Of a verdict on the original; empty for one that passed.
std::string RemedyForOriginal(const Verdict& verdict);

}  // namespace warpwright::core
