// What becomes of rows of results that a warp's threads hold: passes over the columns, each for the statistics that
// need those of the pass before, then the outputs.
//
//   float smallest[4];                  one for each row of the thread
//   for (i ...) for (columns ...) smallest[i] = fminf(smallest[i], sums[...] + bias[c]);
//   for (i ...) smallest[i] = lanes4_min(smallest[i]);
//   for (i ...) if (inside && lane % 4 == 0) y[...] = tanhf(smallest[i]);
//
// Where a tile has not all columns, every pass computes the product anew, tile by tile.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schedule/contraction_results.h"
#include "schedule/contraction_rows.h"
#include "schedule/late_stores.h"
#include "schedule/reduction_code.h"

namespace warpwright::schedule {

class RowResults {
 public:
  // `first_column`: of the tile, which the layout's columns begin at.
  RowResults(const Problem& problem, const ContractionGroup& group, const RowTiles& tiles, const FlatAxis& rows,
             const FlatAxis& columns, const VariableTexts& variables, ResultLayout layout, std::string first_column,
             Names& names);

  // `product`: writes the statements that compute the sums of a tile.
  void Write(Lines& body, const std::function<void(Lines&)>& product);
  // After Write: what the statistics are called, by stage; the device functions.
  const std::map<std::string, std::string>& names() const { return called_; }
  const std::vector<std::string>& helpers() const { return helpers_; }
  std::optional<core::RewriteRefusal> refusal() const { return refusal_ ? refusal_ : sum_.refusal(); }

 private:
  enum class Sums : uint8_t { kHeld, kAgain };
  void Declare(const RowPass& pass, Lines& body);
  void WriteCheck(Lines& body);
  void WriteFold(const RowPass& pass, Lines& body);
  void WriteColumns(const RowPass& pass, Sums sums, Lines& body);
  void WriteElement(const RowPass& pass, const std::string& result, Lines& body);
  void WriteStatistic(const RowMember& member, ExpressionCode& code, Lines& body);
  void WriteStore(const RowMember& member, ExpressionCode& code, LateStores& late, Lines& body);
  void Combine(const RowPass& pass, Lines& body);
  void WriteValues(Lines& body);
  void OpenRows(Lines& body, bool stores);
  Scope ScopeFor(const std::string& result) const;
  bool HasOthers(core::ReduceOp op) const;

  const ProductRows& of_;
  const Problem& problem_;  // of the rows
  const RowTiles& tiles_;
  const FlatAxis &rows_, &columns_;
  const VariableTexts& variables_;
  const ResultLayout layout_;
  const std::string first_column_;
  Names& names_;
  ContractionSum sum_;
  std::string again_, inside_;
  std::map<std::string, Accumulator> results_;  // by stage
  std::map<std::string, std::string> called_;
  std::vector<std::string> helpers_;
  std::optional<core::RewriteRefusal> refusal_;
};

}  // namespace warpwright::schedule
