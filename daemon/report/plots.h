// The three plots of the page, as inline SVG that follows the page's colours (CSS variables).
// Own, because what draws in Debian (gnuplot, cairo) writes fixed colours and fonts, or is a program to start.
#pragma once

#include <string>

#include "report/explanation.h"

namespace warpwright::report {

std::string GainPlot(const Explanation& explanation);  // gain over the original by attempt, the base as a stepped line
std::string RooflinePlot(const Explanation& explanation);  // log-log, before and after; empty where a point is missing
std::string AttemptTree(const Explanation& explanation);   // candidates by parent, rejected ones with the reason

}  // namespace warpwright::report
