// Limits of work are in processor time: what is found must not depend on what else the machine does.
#pragma once

#include <ctime>

namespace warpwright::lift {

inline double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace warpwright::lift
