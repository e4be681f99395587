// check: the manifest of the working tree, its kernels, the references, the skills and the toolkit.
#pragma once

#include <cstddef>
#include <vector>

#include "app/workspace.h"

namespace warpwright::app {

struct CheckServices {
  core::Evaluator& worker;
  SkillsSource skills;
  ToolchainSource toolchain;
};
struct CheckReport {
  size_t kernels = 0;
  std::vector<Error> errors;  // everything that is wrong, with its location
};

Result<CheckReport> CheckRepository(const Workspace& workspace, const CheckServices& services);

}  // namespace warpwright::app
