// Kernels whose text is mostly fixed have locals of fixed names. Where an argument of the entry has such a name, the
// kernel's parameter gets another one: the launcher passes it under its own.
#pragma once

#include <functional>
#include <span>

#include "schedule/problem.h"

namespace warpwright::schedule {

// `locals`: names that no argument may have in the kernels that `emit` writes, of the problem that it is given.
CodeOutcome WithOwnNames(const Problem& problem, std::span<const char* const> locals,
                         const std::function<CodeOutcome(const Problem&)>& emit);

}  // namespace warpwright::schedule
