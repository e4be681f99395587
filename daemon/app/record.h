// record: reference outputs of the trusted revision, below .warpwright/references of the working tree.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/judging.h"

namespace warpwright::app {

struct RecordedKernel {
  std::string kernel;
  std::vector<judge::CaseRecord> cases;
  std::optional<Error> error = {};  // warpwright failed at it
};
struct RecordResult {
  std::string base;  // commit
  std::vector<RecordedKernel> kernels;
  bool complete = true;  // every kernel has at least one recorded case
};

// An error at one kernel does not end it. `each` is called with every kernel as soon as it is done.
Result<RecordResult> RecordReferences(const Workspace& workspace, const std::string& base,
                                      const JudgingServices& services,
                                      const std::function<void(const RecordedKernel&)>& each = {});

}  // namespace warpwright::app
