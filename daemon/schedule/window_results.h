// What becomes of a tile of sums that stand at one place of windows (product_window.h), and of the windows at the end:
//
//   float largest[4][8];
//   for (window_position ...) { sums of the tile; for (i, j ...) largest[i][j] = fmaxf(largest[i][j],
//   tanhf(sums[i][j])); } for (i, j ...) y[...] = largest[i][j] + bias[c];
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "schedule/contraction_results.h"
#include "schedule/product_window.h"
#include "schedule/reduction_code.h"

namespace warpwright::schedule {

class WindowResults {
 public:
  // `positions`: the window's; `extents`: of a thread's array of sums, "[4][8]".
  WindowResults(const Problem& problem, const ContractionGroup& group, const FlatAxis& rows, const FlatAxis& columns,
                const FlatAxis& positions, const VariableTexts& variables, ResultLayout layout, Names& names);

  // `product`: writes the statements that compute the sums of a tile at one place.
  void Write(const std::string& extents, Lines& body, const std::function<void(Lines&)>& product);
  std::optional<core::RewriteRefusal> refusal() const { return refusal_ ? refusal_ : sum_.refusal(); }

 private:
  enum class Sums : uint8_t { kHeld, kAgain };
  void Declare(const std::string& extents, Lines& body);
  void WriteCheck(Lines& body);
  void WriteFold(Sums sums, Lines& body);
  void WriteUpdateAt(const std::string& value, Lines& body);
  void OpenHeld(Lines& body) const;
  void WriteStores(Lines& body);
  void ForResults(const char* unroll, Lines& body, const std::function<void(Lines&)>& inside);
  VariableTexts Texts(const VariableMap& of_product) const;

  const Problem& problem_;
  const ContractionGroup& group_;
  const core::Stage& window_;
  const core::Reduce& reduce_;
  const FlatAxis &rows_, &columns_, &positions_;
  const VariableTexts& variables_;
  const ResultLayout layout_;
  Names& names_;
  ContractionSum sum_;
  Accumulator accumulator_;
  std::string again_;
  std::optional<core::RewriteRefusal> refusal_;
};

}  // namespace warpwright::schedule
