// What measured experience says of the methods here, as a text for prompts.
#pragma once

#include <string>

#include "memory/experience.h"

namespace warpwright::agents {

// A table, the methods that helped most often first. `modelled`: of a simulated device; what was measured on a GPU and
// what was modelled are not mixed. Figures are rounded, and kernels and sources are not named: experience may be of
// another repository.
std::string ExperienceText(const memory::ExperienceMatches& experience, bool modelled);

}  // namespace warpwright::agents
