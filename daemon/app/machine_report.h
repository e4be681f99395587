// What a worker printed about its machine: one part a line, and between them whatever libraries print.
#pragma once

#include <string>
#include <string_view>

#include "core/machine.h"

namespace warpwright::app {

struct MachineReport {
  core::Machine machine;
  core::Problem problem;         // of the last part that could not be read
  std::string last = "nothing";  // name of the last part: a worker that ends early has reported the parts before it
};
MachineReport ReadMachineReport(std::string_view output);

}  // namespace warpwright::app
