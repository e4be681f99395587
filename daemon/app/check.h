// check: the manifest of the working tree, its kernels, the references, the skills and the toolkit; and what would come
// of each kernel, found out by compiling, recording and running its smallest case.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/judging.h"
#include "app/workspace.h"

namespace warpwright::app {

struct CheckServices {
  core::Evaluator& worker;
  SkillsSource skills;
  ToolchainSource toolchain;
  ProgressCallbacks progress = {};
  bool run = true;  // false: nothing is compiled and run
};

// What `optimize` would do with a case. The smallest case of a kernel is tried; of the others this is foreseen from
// their sizes.
enum class CaseFate {
  kCompared,
  kComparedOnly,
  kTimedOnly,
  kTooLarge,
  kOtherDevice,
  kCannotTell,
  kRefused,
  kNotTried,
  kWrongInManifest,
  kUnanswered
};
std::string_view Name(CaseFate fate);
struct CheckedCase {
  std::string name;
  CaseFate fate = CaseFate::kNotTried;
  bool tried = false;
  std::string why;  // unless it is compared
};
struct CheckedKernel {
  std::string name, entry;
  std::vector<CheckedCase> cases;  // those of the manifest, in its order
};
struct CheckReport {
  size_t kernels = 0;
  std::vector<Error> errors;  // everything that is wrong, with its location
  // Of all kernels; without `run` of those only that cannot be tried. Where one is wrong as a whole, its only case has
  // no name, and the error is among those above.
  std::vector<CheckedKernel> fates;
};

Result<CheckReport> CheckRepository(const Workspace& workspace, const CheckServices& services);

}  // namespace warpwright::app
