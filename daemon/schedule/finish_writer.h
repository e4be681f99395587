// The kernel that combines what blocks have found of the same rows, and makes the outputs of it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/partials.h"
#include "schedule/reduction_code.h"
#include "schedule/row_plan.h"

namespace warpwright::schedule {

// Partial results lie side by side with those of other rows: [statistic][part][row].
class FinishWriter {
 public:
  FinishWriter(const Problem& problem, const RowPlan& plan, const Partials& storage,
               std::vector<std::pair<std::string, Accumulator>> results);

  // The kernel; its launch and helpers go to `code`.
  std::optional<core::RewriteRefusal> Write(const Group& values, const std::string& number_of_parts, Code& code);

 private:
  std::string WriteRow(Lines& body);
  void WriteSums(Team team, const std::string& row, const std::string& parts, Lines& body,
                 std::vector<std::string>& helpers);
  void WriteValues(Lines& body);

  const Problem& problem_;
  const RowPlan& plan_;
  const Partials& storage_;
  std::vector<std::pair<std::string, Accumulator>> results_;
  Names names_;
  std::vector<Dimension> dimensions_;
  std::optional<core::RewriteRefusal> refusal_;
};

}  // namespace warpwright::schedule
