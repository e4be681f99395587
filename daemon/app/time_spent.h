#pragma once

#include <map>
#include <string>

namespace warpwright::app {

// What a limit of minutes went to, for the message of a task that it ended, and what sets it: "the time: 31 s to
// compile kernels, 9 s to run them; ...". `spent` is by the worker's stages, `seconds` all of the task.
std::string WhereTimeWent(const std::map<std::string, double>& spent, double seconds);

}  // namespace warpwright::app
