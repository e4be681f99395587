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
#include "schedule/term_range.h"
#include "schedule/window_results.h"

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
  virtual std::string Sums() const = 0;             // what a thread's array of them is declared as, "[4][4]"
  virtual void WriteSteps(Lines& body) const = 0;   // the loop over the sum's terms, into sums()
  virtual std::vector<std::string> Helpers() const = 0;
  // Both factors are only loaded as WriteSteps does it: the launcher sees to it that they are aligned.
  virtual bool IsAligned() const { return false; }
  virtual std::string SharedBytes() const { return "0"; }  // that the launch asks for

  // Of the product that is written.
  const FactorLoads& left() const { return *product().left; }
  const FactorLoads& right() const { return *product().right; }
  const std::string& sums() const { return product().sums; }
  const TileShape& shape() const { return shape_; }
  const Problem& problem() const { return problem_; }
  std::string StepCount() const;  // "(K + kTileK - 1) / kTileK"
  // Every step has other terms, from "first_k" on, and nothing else that is its own.
  bool StepsAreTerms() const { return product().outer.empty(); }
  const std::string& first_term() const { return product().scope.first_term; }
  std::string FirstTermOfBlock() const { return parts_ || !Range().empty() ? "first_step * kTileK" : "0"; }

 private:
  // What belongs to one of the products.
  struct ProductCode {
    const core::Stage& stage;
    const Contraction& contraction;
    std::string sums;
    VariableTexts variables;
    FlatAxis terms, outer;
    TileScope scope;
    std::unique_ptr<FactorLoads> left, right;
  };
  const ProductCode& product() const { return *products_[current_]; }
  void AddProduct(size_t stage, const Contraction& contraction);
  std::optional<core::RewriteRefusal> refusal() const;
  std::vector<std::string> Apart() const;
  TermRange Range() const;  // of the product that is written
  void WriteIndices(Lines& body) const;
  void WriteRowIndices(Lines& body) const;
  void DeclareSums(Lines& body) const;
  void WriteProducts(Lines& body);
  void WriteProduct(Lines& body);
  void WriteParts(Lines& body);
  void WriteLoad(Lines& body, FactorLoads& factor) const;
  void WriteStepRange(Lines& body) const;
  void WriteLoads(Lines& body) const;
  std::string WriteLaunch(const std::string& name, const KernelArguments& arguments, const std::string& finish) const;

  const Problem& problem_;
  const Group& group_;
  const ContractionGroup of_;
  const TileShape& shape_;
  const bool halves_;
  const std::optional<SumParts> parts_;
  const std::string number_of_parts_;  // in the launcher
  Names names_;
  const VariableTexts variables_;  // of the results, and of the first sum
  const FlatAxis batch_, rows_, columns_, window_positions_;
  std::string first_row_, first_column_, across_, down_, part_, parts_name_;
  std::vector<std::unique_ptr<ProductCode>> products_;
  size_t current_ = 0;
  const std::optional<RowTiles> row_tiles_;
  std::unique_ptr<ResultStores> results_;  // or
  std::unique_ptr<RowResults> row_results_;
  std::unique_ptr<WindowResults> window_results_;
};

}  // namespace warpwright::schedule
