// How a block brings its part of one factor into shared memory, each thread a few elements a step. For the usual
// multiply-adds they wait in registers, converted, while the step before is multiplied. Tensor cores take halves as
// they are: octets of neighbours are copied without registers, and the tile lies as the factor does, terms or rows side
// by side.
#pragma once

#include <optional>
#include <string>

#include "schedule/contraction_axes.h"
#include "schedule/contraction_tile.h"
#include "schedule/expression_code.h"

namespace warpwright::schedule {

// The elements of one read as groups of `width` neighbours, with one access where they begin at a multiple of it.
struct GroupAccess {
  FlatOffset offset;  // its variable `along` has coefficient 1
  core::VariableId along = 0;
  std::string condition;  // "n % 4 == 0"; empty: always
};
// Of a tensor of this shape. None: neighbours along the axes (flattened) are not neighbours in memory, or nobody can
// say where they begin.
std::optional<GroupAccess> GroupAccessOf(const FlatOffset& offset, const std::vector<Axis>& axes,
                                         const std::vector<core::Size>& shape, int width);
// Whether the condition holds at all sizes at which the launcher takes new kernels: what is left to ask of an argument
// is its address, and the launcher can do that as well.
bool AlwaysHolds(const Problem& problem, const std::string& tensor, const std::string& condition);
// Whether it holds in none of the cases that schedules are chosen for: what it guards would never run.
bool NeverHolds(const Problem& problem, std::string_view condition);
// Of several axes that are one in memory: the last one's variable stands for the flattened index.
std::optional<FlatOffset> Flattened(const FlatOffset& offset, const std::vector<Axis>& axes);

// What both factors' code shares with the rest of the kernel.
struct TileScope {
  const FlatAxis* terms = nullptr;  // the sum's variables within a step
  std::string first_term;           // of the step: a parameter of the loads
  VariableTexts uniform;            // the same for a block's whole step
};

// A factor's tile: elements of `rows` results for `terms` terms, loaded by all threads.
struct TileFormat {
  int rows = 0, terms = 0, threads = 0;
  std::string_view rows_name;  // "kTileM"
  bool halves = false;         // for tensor cores
};

class FactorLoads {
 public:
  FactorLoads(const Problem& problem, const core::Stage& stage, const Factor& factor, const FlatAxis& rows,
              std::string first_row, const TileScope& scope, const TileFormat& format, Names& names);

  const std::string& name() const { return name_; }  // "A": what names of this factor begin with
  const std::string& tile() const { return tile_; }
  const std::string& load_name() const { return load_; }     // of the function that loads a step's part
  const std::string& matrices() const { return matrices_; }  // of the registers that tensor cores multiply
  const std::string& places() const { return places_; }      // where a lane reads them
  // "[kTileK][kTileM + 4]", behind the number of tiles; of halves "[kTileK * kTileM]".
  std::string TileExtents() const;
  // "A_tile[stage][k][m]"; of halves "A_tile[stage][swizzled<kTileK>(m, k)]".
  std::string Element(const std::string& stage, const std::string& row, const std::string& term) const;
  std::string ElementType() const;
  // Terms are neighbours in the tile, else rows.
  bool TermsAreNeighbours() const { return format_.halves && along_terms_; }
  // The type of groups that are read; none: single elements are.
  std::optional<core::DType> groups() const;
  bool copies() const { return format_.halves && group_condition_.has_value(); }  // past registers

  // Before the loop: what this thread copies, and its registers; whether groups are aligned, unless `known`.
  void Declare(Lines& lines, bool known) const;
  void Load(Lines& lines);         // from memory into registers, or into the tile `stage`
  void Store(Lines& lines) const;  // from registers into the tile `stage`
  const std::optional<core::RewriteRefusal>& refusal() const { return refusal_; }

  // Copies whose addresses differ from step to step by a constant, and of which nothing is left out but at the ends: a
  // pointer walks along them where they are aligned.
  bool Walks() const;
  const std::string& aligned() const { return aligned_; }
  // At all sizes, if the address is.
  bool AlwaysAligned() const { return group_condition_ && AlwaysHolds(problem_, read_->tensor, *group_condition_); }
  std::string AddressCondition() const;
  void DeclareWalk(Lines& lines) const;
  void CopyWalking(Lines& lines, const std::string& stage) const;  // and a step on
  // Bytes from the tile's first element, of a place whose row and column are multiples of 8: "(stage * kTileM + i * 16)
  // * kTileK * 2".
  std::string BytesTo(const std::string& stage, const std::string& row, const std::string& term) const;

 private:
  void ReadFactor();
  void ChooseAccess();
  void FitThreads();
  bool GuardsMention(const std::vector<Axis>& axes) const;
  bool Decodes(const FlatAxis& axis, bool flat) const { return !axis.single() && !flat; }
  VariableTexts Variables() const;
  std::string Product(ExpressionCode& code) const;
  ExpressionCode CodeInto(Lines& lines, const std::optional<std::string>& loaded);
  std::string GroupOffset(const VariableTexts& variables) const;
  FlatOffset GroupedOffset() const;
  void LoadQuads(Lines& lines, const std::string& to);
  void CopyOctets(Lines& lines);
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
  const TileFormat format_;

  const core::TensorRead* read_ = nullptr;       // if the factor has one
  std::optional<FlatOffset> offset_;             // of it
  bool flat_rows_ = false, flat_terms_ = false;  // axes that are one in memory, and of which nothing else depends
  bool along_terms_ = false;                     // neighbouring threads read neighbouring terms, else rows
  std::optional<std::string> group_condition_;
  std::string name_, tile_, next_, row_, term_, aligned_, load_, matrices_, places_, from_, to_;
  std::optional<core::RewriteRefusal> refusal_;

  std::string Step() const;
  int group() const { return format_.halves ? 8 : 4; }
  int width() const { return group_condition_ ? group() : 1; }
  // Threads along the fast direction.
  int fast() const { return (along_terms_ ? format_.terms : format_.rows) / width(); }
  int passes() const { return format_.rows * format_.terms / width() / format_.threads; }
};

}  // namespace warpwright::schedule
