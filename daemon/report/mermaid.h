// The two diagrams of a pull request, as fenced Mermaid that GitHub draws. Their colours are set by us and readable on
// white and on black; labels are quoted and hold letters, digits and a few signs only, so that no name can break a
// diagram or say something else.
#pragma once

#include <string>
#include <string_view>

#include "report/explanation.h"

namespace warpwright::report {

// Best verified time by round; where the gain is so large that times would lie on the axis, the gain over the original.
// Empty where nothing was verified in any round.
std::string ProgressChart(const Explanation& explanation);

// The way from the original to the result: a node for each accepted method, and beside it one for all that was tried on
// it and not taken (red where something was wrong). Two nodes side by side, so that it is readable on a phone. At most
// `max_rounds` methods are drawn; what was merely no faster goes first where there are more.
std::string AttemptFlowchart(const Explanation& explanation, size_t max_rounds = 14);

// What may stand in a quoted label.
std::string MermaidLabel(std::string_view text, size_t max_characters = 60);

}  // namespace warpwright::report
