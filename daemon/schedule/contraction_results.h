// What becomes of the sums that a thread of a contraction's kernel holds: the formulas of the outputs, and their
// stores.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "schedule/contraction_group.h"
#include "schedule/contraction_loads.h"
#include "schedule/contraction_sum.h"

namespace warpwright::schedule {

// Which of the block's results a thread holds, in the indices i and j of loops over its rows, and over its columns by
// groups of neighbours.
struct ResultLayout {
  int rows = 0, columns = 0, width = 4;
  std::string row, column;  // "first_m + thread_m + i * 8"
  std::string sums;         // "sums[i / 2][j / 2][i % 2 * 2{}]": {} is how far behind the group's first, " + 1"
  int lanes = 0;            // neighbours that have the same rows
  // The sum that stands so far behind the group's first, in the array of this name.
  std::string Sum(const std::string& ahead, const std::string& array = "sums") const;
};

// A product whose sums a thread holds.
struct HeldProduct {
  const core::Stage* stage = nullptr;
  const Contraction* contraction = nullptr;
  const VariableTexts* variables = nullptr;
  std::string sums;  // the array
};

class ResultStores {
 public:
  // `products`: the group's, in its order.
  ResultStores(const Problem& problem, const ContractionGroup& group, const FlatAxis& rows, const FlatAxis& columns,
               std::vector<HeldProduct> products, ResultLayout layout, Names& names);

  void Write(Lines& body);
  // Instead of the outputs: the sums, as the `part`th of their results' parts.
  void WritePartials(Lines& body, const std::string& partials, const std::string& part);
  // The type of groups that are stored; none: single elements are.
  std::optional<core::DType> groups() const;
  int width() const { return layout_.width; }
  // Whether no other sizes or addresses are left for single stores.
  bool StoresGroupsAlone() const;
  // What must hold of the output's address for that; none: nothing, or single elements are stored too.
  std::optional<std::string> AddressCondition() const;
  std::optional<core::RewriteRefusal> refusal() const;

  enum class Loops : uint8_t { kUnrolled, kRolled };

 private:
  enum class Sums : uint8_t { kHeld, kArgument, kAgain };  // in sums[][], a function's arguments, added up anew
  void ChooseAccess();
  void CheckInPlace();
  VariableTexts VariablesOf(const StageReader& output) const;
  std::string ValueOf(const StageReader& output, Sums sums, Lines& lines);
  std::string Product(size_t p, Sums sums, Lines& lines);
  std::string Held(size_t p, const std::string& ahead) const { return layout_.Sum(ahead, products_[p].sums); }
  std::string OffsetOf(const StageReader& output) const;
  void WriteElement(Lines& body, Sums sums);
  void WriteCheck(Lines& body);
  void WriteGroup(Lines& body);
  void WriteSingle(Lines& body);
  void ForRows(Lines& body, Loops loops, const std::function<void()>& inside);
  // `group`: of neighbours that are aligned; none: always one by one.
  void ForColumns(Lines& body, Loops loops, const std::function<void()>& group, const std::function<void()>& single);
  void ForResults(Lines& body, Loops loops, const std::function<void()>& group, const std::function<void()>& single);
  void DeclareResult(Lines& body);
  std::string Call(const std::string& ahead, const std::string& further) const;

  const Problem& problem_;
  const ContractionGroup& group_;
  const FlatAxis &rows_, &columns_;
  const std::vector<HeldProduct> products_;
  const ResultLayout layout_;
  Names& names_;
  std::vector<ContractionSum> sums_of_;  // by product
  std::optional<std::string> group_condition_;
  std::vector<std::string> arguments_;  // of that function, by product
  std::string aligned_;                 // whether groups are stored
  std::string function_;                // the lambda that both kinds of stores call; empty: the sum itself is stored
  std::optional<core::RewriteRefusal> refusal_;
};

// Device functions, as text that is followed by an empty line.
std::string LoadQuadText(core::DType dtype);
std::string StoreGroupText(core::DType dtype, int width);

}  // namespace warpwright::schedule
