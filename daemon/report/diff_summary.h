// What a unified diff of one file changes: how many lines, and where they are in the new file.
#pragma once

#include <string_view>
#include <vector>

#include "report/pull_request.h"

namespace warpwright::report {

struct DiffSummary {
  int added = 0, removed = 0;
  std::vector<LineRange> changed;  // of the new file, in order; a removal alone is the line after it
};
// `diff` as Repository::Diff returns it. Text that is not a diff changes nothing.
DiffSummary SummarizeDiff(std::string_view diff);

// Sets the lines and their numbers of `provenance`.
void AddDiff(std::string_view diff, Provenance& provenance);

}  // namespace warpwright::report
