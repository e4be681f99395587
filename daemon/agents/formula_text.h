// What an entry computes, as text for prompts: its formula, or those of the statements of its launcher that launch.
#pragma once

#include <string>

#include "agents/situation.h"
#include "base/result.h"

namespace warpwright::agents {

// Asks for the segments only where the entry as a whole has no formula.
Result<std::string> FormulaText(const Situation& at);

}  // namespace warpwright::agents
