// The three plots of the page, as inline SVG that follows the page's colours (CSS variables). Own code, because
// Debian's plotting tools (gnuplot, cairo) write fixed colours and fonts, or are separate programs.
#pragma once

#include <string>

#include "report/explanation.h"

namespace warpwright::report {

std::string GainPlot(const Explanation& explanation);  // gain over the original by attempt, the base as a stepped line
std::string RooflinePlot(const Explanation& explanation);  // log-log, before and after; empty if a point is missing
std::string AttemptTree(const Explanation& explanation);   // candidates by parent, rejected ones with the reason

}  // namespace warpwright::report
