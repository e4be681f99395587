// How a block brings its part of one factor into shared memory: each thread a few elements a step, which wait in
// registers while the step before is multiplied.
#pragma once

#include <optional>
#include <string>

#include "schedule/contraction_axes.h"
#include "schedule/contraction_tile.h"
#include "schedule/expression_code.h"

namespace warpwright::schedule {

// The elements of one read as quads: four neighbours with one access where they begin at a multiple of four.
struct QuadAccess {
  FlatOffset offset;  // its variable `along` has coefficient 1
  core::VariableId along = 0;
  std::string condition;  // "n % 4 == 0"; empty: always
};
// Of a tensor of this shape. None: neighbours along the axes (flattened) are not neighbours in memory, or nobody can
// say where they begin.
std::optional<QuadAccess> QuadAccessOf(const FlatOffset& offset, const std::vector<Axis>& axes,
                                       const std::vector<core::Size>& shape);
// Of several axes that are one in memory: the last one's variable stands for the flattened index.
std::optional<FlatOffset> Flattened(const FlatOffset& offset, const std::vector<Axis>& axes);

// What both factors' code shares with the rest of the kernel.
struct TileScope {
  const FlatAxis* terms = nullptr;  // the sum's variables within a step
  std::string first_term;           // of the step: a parameter of the loads
  VariableTexts uniform;            // the same for a block's whole step
};

class FactorLoads {
 public:
  FactorLoads(const Problem& problem, const core::Stage& stage, const Factor& factor, const FlatAxis& rows,
              std::string first_row, int tile_rows, const TileScope& scope, const TileShape& shape, Names& names);

  const std::string& name() const { return name_; }  // "A": what names of this factor begin with
  const std::string& tile() const { return tile_; }
  // The type of quads that are read; none: single elements are.
  std::optional<core::DType> quads() const;

  void Declare(Lines& lines) const;  // before the loop: what this thread copies, and its registers
  void Load(Lines& lines);           // from memory into registers
  void Store(Lines& lines) const;    // from registers into the tile's `buffer`
  const std::optional<core::RewriteRefusal>& refusal() const { return refusal_; }

 private:
  void ReadFactor();
  void ChooseAccess();
  bool GuardsMention(const std::vector<Axis>& axes) const;
  bool Decodes(const FlatAxis& axis, bool flat) const { return !axis.single() && !flat; }
  VariableTexts Variables() const;
  std::string Product(ExpressionCode& code) const;
  ExpressionCode CodeInto(Lines& lines, const std::optional<std::string>& loaded);
  void LoadQuads(Lines& lines, const std::string& to);
  void LoadElement(Lines& lines, const std::string& to);
  std::string Conditions(const VariableTexts& variables, ExpressionCode& code) const;

  const Problem& problem_;
  const core::Stage& stage_;
  const Factor& factor_;
  const FlatAxis& rows_;
  const FlatAxis& terms_;
  const TileScope& scope_;
  Names& names_;
  const std::string first_row_;
  const int tile_rows_, tile_terms_, threads_;

  const core::TensorRead* read_ = nullptr;       // if the factor has one
  std::optional<FlatOffset> offset_;             // of it
  bool flat_rows_ = false, flat_terms_ = false;  // axes that are one in memory, and of which nothing else depends
  bool along_terms_ = false;                     // neighbouring threads read neighbouring terms, else rows
  std::optional<std::string> quad_condition_;
  std::string name_, tile_, next_, row_, term_, aligned_;
  std::optional<core::RewriteRefusal> refusal_;

  int width() const { return quad_condition_ ? 4 : 1; }
  int fast() const { return (along_terms_ ? tile_terms_ : tile_rows_) / width(); }  // threads along the fast direction
  int passes() const { return tile_rows_ * tile_terms_ / width() / threads_; }
};

}  // namespace warpwright::schedule
