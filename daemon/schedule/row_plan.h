// What row programs have in common: statistics of rows (sums, maxima, positions), then elements or values that need
// them. Rows are what the statistics are indexed by; a row's columns are what they run over.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "schedule/dimensions.h"

namespace warpwright::schedule {

// A stage whose variables are numbered alike in the whole group: first the rows', then the columns'.
struct RowMember {
  core::Stage stage;
  std::vector<core::Size> columns;     // extents; empty: a value for each row
  std::optional<core::Reduce> reduce;  // of a statistic

  bool statistic() const { return reduce.has_value(); }
  core::NodeId value() const {  // what is summed or stored
    return statistic() ? reduce->body : static_cast<core::NodeId>(stage.nodes.size() - 1);
  }
};
// Members that one loop over the columns handles.
struct RowPass {
  std::vector<size_t> members;
  std::vector<Dimension> columns;
  std::vector<Access> accesses;
};
struct RowPlan {
  std::vector<core::Size> rows;  // extents
  std::vector<RowMember> members;
  std::vector<RowPass> passes;  // statistics in order of dependence, then the outputs that have columns
  std::vector<size_t> values;   // outputs with one value for each row
  std::vector<Dimension> row_dimensions;
  std::set<std::string> read_elsewhere;  // tensors of which results are made that do not stand in their places

  core::VariableSet ColumnVariables() const;
};
using RowPlanOutcome = std::variant<core::RewriteRefusal, RowPlan>;

RowPlanOutcome PlanRows(const Problem& problem, const Group& group);

// Whether neighbours in a row are neighbours in memory, as far as most elements say; or those of neighbouring rows.
enum class RowLayout { kAlong, kAcross, kNeither };
RowLayout LayoutOf(const Problem& problem, const RowPlan& plan);

}  // namespace warpwright::schedule
