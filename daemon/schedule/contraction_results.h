// What becomes of the sums that a thread of a contraction's kernel holds: the formulas of the outputs, and their
// stores.
#pragma once

#include <optional>
#include <string>

#include "schedule/contraction_loads.h"

namespace warpwright::schedule {

class ResultStores {
 public:
  ResultStores(const Problem& problem, const ContractionGroup& group, const FlatAxis& rows, const FlatAxis& columns,
               const FlatAxis& batch, const VariableTexts& variables, Names& names);

  // Of `sums[][]`, by squares of 4 x 4 as TileShape has them.
  void Write(Lines& body, const TileShape& shape, const std::string& first_row, const std::string& first_column);
  std::optional<core::DType> quads() const;  // the type of quads that are stored; none: single elements are
  const std::optional<core::RewriteRefusal>& refusal() const { return refusal_; }

 private:
  void ChooseAccess();
  void CheckInPlace();
  VariableTexts VariablesOf(const ContractionGroup::Output& output) const;
  std::string ValueOf(const ContractionGroup::Output& output, const std::string& sum, Lines& lines);
  std::string OffsetOf(const ContractionGroup::Output& output) const;
  void WriteElement(Lines& body, const std::string& sum);
  void WriteQuad(Lines& body);
  void DeclareResult(Lines& body);

  const Problem& problem_;
  const ContractionGroup& group_;
  const core::Stage& stage_;
  const FlatAxis &rows_, &columns_, &batch_;
  VariableTexts variables_;
  Names& names_;
  std::optional<std::string> quad_condition_;
  std::string function_;  // the lambda that both kinds of stores call; empty: the sum itself is stored
  std::optional<core::RewriteRefusal> refusal_;
};

// Device functions for quads of a type, as text that is followed by an empty line.
std::string LoadQuadText(core::DType dtype);
std::string StoreQuadText(core::DType dtype);

}  // namespace warpwright::schedule
