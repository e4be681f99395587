// The text of a row program: one loop over a row's columns for each pass, by a team of threads.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schedule/expression_code.h"
#include "schedule/late_stores.h"
#include "schedule/reduction_code.h"
#include "schedule/row_plan.h"

namespace warpwright::schedule {

struct RowShape {
  Team team = Team::kBlock;
  int threads = 256;  // of the team: a warp's 32, a block's, or those of a block that share a column
  int teams = 1;      // rows of a block: of warps; 32 where rows lie across memory
  int vector_bytes = 16;
  // Where rows are split over blocks: the array that takes their partial results, and what `parts` of a row there are.
  std::string partials, parts;
  bool partials_are_argument = false;  // of the entry, not of the module
};

class RowWriter {
 public:
  RowWriter(const Problem& problem, const Group& group, RowPlan plan, RowShape shape);
  CodeOutcome Write();
  // After Write: the statements of the launcher, and the accumulators of the statistics, in order.
  std::vector<std::pair<std::string, Accumulator>> Results() const;

 private:
  void PlanPacking();
  void WriteRow(Lines& body);
  void WritePass(const RowPass& pass, Lines& body);
  void WriteMember(const RowMember& member, const std::map<core::VariableId, std::string>& variables,
                   ExpressionCode& code, LateStores& late, Lines& inner);
  void WriteValues(Lines& body);
  void WritePartials(Lines& body);
  void WriteStore(const RowMember& member, const std::map<core::VariableId, std::string>& variables,
                  ExpressionCode& code, LateStores& late, Lines& lines);
  std::string WriteLaunch(const KernelArguments& arguments);
  Scope ScopeFor(const std::map<core::VariableId, std::string>& variables);
  std::string OffsetOf(const Access& access, const std::map<core::VariableId, std::string>& variables) const;
  std::optional<std::string> HeldElement(const Access& access) const;
  bool HasOthers(core::ReduceOp op) const;  // more than one statistic of this operation
  std::string First() const;                // "threadIdx.x == 0"

  struct Part {
    std::string stage, sum, name;
  };
  std::vector<Part> PartsOf(const RowPass& pass);
  Group Statistics() const;  // the stages of the group that are none of its outputs
  bool splits() const { return !shape_.partials.empty(); }

  const Problem& problem_;
  const Group& group_;
  RowPlan plan_;
  RowShape shape_;
  Names names_;
  Packing packing_;
  std::string name_, row_, inside_, k_;
  PackedType packed_;
  std::vector<std::string> helpers_;
  std::map<std::string, Accumulator> results_;    // by stage
  std::map<std::string, std::string> constants_;  // hoisted, by text
  std::vector<std::pair<Access, std::string>> held_;
  std::optional<core::RewriteRefusal> refusal_;
};

}  // namespace warpwright::schedule
