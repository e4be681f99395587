// verify: the kernels of the working tree against those of the trusted revision.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/judging.h"

namespace warpwright::app {

struct CaseVerdict {
  std::string kernel, name;
  std::string verdict;         // "verified", "measured", "skipped", "not_reached", "error", else VerdictName
  std::string check, message;  // what failed, or why it was not verified
};
struct KernelNote {
  std::string kernel, text;
};
struct VerifyResult {
  std::string base;  // commit
  std::vector<CaseVerdict> cases;
  std::vector<KernelNote>
      notes;  // how the second witness, equivalence, came out, and what the toolkit's own tools found
  bool passed = true;
  std::optional<Error> error;  // the first that kept a kernel from being judged; its case is "error"
};

// An Error that concerns one kernel does not keep the others from being judged.
Result<VerifyResult> VerifyWorkingTree(const Workspace& workspace, const std::string& base,
                                       const JudgingServices& services, const RestartableEvaluator& candidates);

// The rows that a verdict over all cases gives for each case. A failure stops the judge, so later cases are
// "not_reached".
std::vector<CaseVerdict> CaseVerdicts(const std::string& kernel, const judge::Baseline& baseline,
                                      const core::Verdict& verdict);

}  // namespace warpwright::app
