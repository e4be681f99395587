// The terms and results of a scan at a position, as the kernels of schedule_scan have them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "schedule/contraction_axes.h"
#include "schedule/dimensions.h"
#include "schedule/expression_code.h"
#include "schedule/reduction_code.h"
#include "schedule/scan_plan.h"

namespace warpwright::schedule {

// One kernel of a scan: its names, and the variables of a result.
struct ScanFrame {
  ScanFrame(const Problem& problem, const ScanPlan& plan);

  Names names;
  VariableTexts variables;
  FlatAxis rows, axis;
  std::string sum, length, parts, part, begin, end;
};

class ScanCode {
 public:
  ScanCode(const Problem& problem, ScanPlan plan);

 protected:
  // Neighbours that one access moves, at most `most`: of the terms, and of the results.
  void PlanPacking(int most);
  bool packs() const { return packing_.packs(); }
  // The variable that holds neighbours which are moved by one access.
  static std::string HeldName(const Access& access) { return access.tensor + (access.store ? "_new" : "_pack"); }

  // Where among them the present one stands: from the end they are taken the other way round.
  std::string Neighbour() const { return plan_.prefix.backwards ? "kWidth - 1 - " + k_ : k_; }

  // The body of the sum at the present position; `packed`: of neighbours that are held.
  std::string Term(ScanFrame& frame, Lines& lines, bool packed = false);
  // The outputs at the present position, where the result is called `value`.
  void WriteOutputs(ScanFrame& frame, const std::string& value, Lines& lines, bool packed = false);

  std::string Neutral() const { return NeutralText(problem_, sum_.op, sum_.type); }
  std::string CombinedWith(const std::string& a, const std::string& b) const {
    return CombinedText(problem_, sum_.op, sum_.type, a, b);
  }

  const Problem& problem_;
  const ScanPlan plan_;
  const core::Stage& stage_;
  Accumulator sum_;
  Packing packing_;
  std::string k_;  // which of the neighbours that one access moves
  std::optional<core::RewriteRefusal> refusal_;

 private:
  const Access* HeldStore(const std::string& tensor) const;
};

}  // namespace warpwright::schedule
