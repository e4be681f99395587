// The two diagrams of a pull request, as fenced Mermaid that GitHub draws. Colours are set explicitly and readable on
// white and on black; labels are quoted and contain only letters, digits and a few signs, so that no name can break a
// diagram or change its meaning.
#pragma once

#include <string>
#include <string_view>

#include "report/explanation.h"

namespace warpwright::report {

// Best verified time by round, or the gain over the original if it is so large that times would lie on the axis. Empty
// if nothing was verified in any round.
std::string ProgressChart(const Explanation& explanation);

// The path from the original to the result: a node for each accepted method, and next to it one for everything that was
// tried on it and not taken (red if something was wrong). Two nodes side by side, so that it is readable on a phone. At
// most `max_rounds` methods are drawn; if there are more, those that were merely no faster are dropped first.
std::string AttemptFlowchart(const Explanation& explanation, size_t max_rounds = 14);

// Only characters that are allowed in a quoted label.
std::string MermaidLabel(std::string_view text, size_t max_characters = 60);

}  // namespace warpwright::report
