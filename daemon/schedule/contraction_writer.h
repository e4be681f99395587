// What every kernel of tiles has around its multiplications: names, indices, loads of both factors, stores, the launch.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "schedule/contraction_parts.h"
#include "schedule/contraction_results.h"
#include "schedule/contraction_rows.h"
#include "schedule/row_results.h"

namespace warpwright::schedule {

// What the fixed text of these kernels declares where formulas stand, or around them: nothing else may have such a
// name, or it would be declared twice, or hide what a formula means.
std::span<const char* const> LocalsOfTiles();

class ContractionWriter {
 public:
  // `halves`: tensor cores multiply what is read as it is. `row_tiles`: of rows of results.
  ContractionWriter(const Problem& problem, const Group& group, ContractionGroup contraction, const TileShape& shape,
                    const ResultLayout& layout, bool halves, std::optional<RowTiles> row_tiles = std::nullopt);
  virtual ~ContractionWriter() = default;
  CodeOutcome Write(const std::string& role);

 protected:
  virtual void WriteComment(Lines& kernel) const = 0;
  virtual void WriteTiles(Lines& body) const = 0;   // shared memory
  virtual void WriteThread(Lines& body) const = 0;  // what this thread multiplies
  virtual void WriteSteps(Lines& body) const = 0;   // the loop over the sum's terms, into `sums`
  virtual std::vector<std::string> Helpers() const = 0;
  // Both factors are only loaded as WriteSteps does it: the launcher sees to it that they are aligned.
  virtual bool IsAligned() const { return false; }
  virtual std::string SharedBytes() const { return "0"; }  // that the launch asks for

  const FactorLoads& left() const { return *left_; }
  const FactorLoads& right() const { return *right_; }
  const TileShape& shape() const { return shape_; }
  const Problem& problem() const { return problem_; }
  std::string StepCount() const;  // "(K + kTileK - 1) / kTileK"
  // Every step has other terms, from "first_k" on, and nothing else that is its own.
  bool StepsAreTerms() const { return outer_.empty(); }
  const std::string& first_term() const { return scope_.first_term; }
  std::string FirstTermOfBlock() const { return parts_ ? "first_step * kTileK" : "0"; }

 private:
  std::vector<std::string> Apart() const;
  void WriteIndices(Lines& body) const;
  void WriteRowIndices(Lines& body) const;
  void WriteProduct(Lines& body);
  void WriteParts(Lines& body);
  void WriteLoad(Lines& body, FactorLoads& factor) const;
  void WriteLoads(Lines& body) const;
  std::string WriteLaunch(const std::string& name, const KernelArguments& arguments, const std::string& finish) const;

  const Problem& problem_;
  const Group& group_;
  const ContractionGroup of_;
  const core::Stage& stage_;
  const TileShape& shape_;
  const bool halves_;
  const std::optional<SumParts> parts_;
  const std::string number_of_parts_;  // in the launcher
  Names names_;
  const VariableTexts variables_;
  const FlatAxis batch_, rows_, columns_, terms_, outer_;
  std::string first_row_, first_column_, across_, down_, part_, parts_name_;
  TileScope scope_;
  std::unique_ptr<FactorLoads> left_, right_;
  const std::optional<RowTiles> row_tiles_;
  std::unique_ptr<ResultStores> results_;  // or
  std::unique_ptr<RowResults> row_results_;
};

}  // namespace warpwright::schedule
