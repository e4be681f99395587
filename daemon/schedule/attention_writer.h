// What both kernels of attention have around their products: names, formulas of scores and weights, stores, the launch.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/attention_plan.h"
#include "schedule/contraction_axes.h"
#include "schedule/expression_code.h"
#include "schedule/late_stores.h"

namespace warpwright::schedule {

std::span<const char* const> LocalsOfAttention();  // what the fixed text of both declares

class AttentionWriter {
 public:
  // `tile`: rows of a block.
  AttentionWriter(const Problem& problem, const Group& group, AttentionPlan plan, int tile);
  virtual ~AttentionWriter() = default;
  CodeOutcome Write();

 protected:
  // What earlier stages have come to, by stage.
  using Known = std::map<size_t, std::string>;

  virtual void WriteComment(Lines& kernel) const = 0;
  virtual void WriteBody(Lines& body) = 0;  // behind the constants of sizes
  virtual int threads() const = 0;
  virtual int64_t SharedBytes() const = 0;
  virtual std::vector<std::string> Helpers() const { return {}; }

  const Problem& problem() const { return problem_; }
  const AttentionPlan& plan() const { return plan_; }
  int tile() const { return tile_; }
  int64_t depth() const { return depth_count_; }  // as arrays have it: rounded up
  int64_t cols() const { return col_count_; }
  const std::string& row() const { return row_; }
  const std::string& column() const { return column_; }
  const std::string& depth_name() const { return depth_; }
  const std::string& col() const { return col_; }
  Names& names() { return names_; }
  const core::Size& rows() const { return plan_.product.m[0].extent; }
  const core::Size& columns() const { return plan_.product.n[0].extent; }
  const core::Stage& stage(size_t i) const { return problem_.stage(i); }
  const core::Reduce& SumOf(size_t of) const { return std::get<core::Reduce>(stage(of).nodes.back()); }

  VariableTexts Variables(size_t of) const;
  std::string Value(size_t of, const std::vector<core::NodeId>& nodes, const Known& known, Lines& lines);
  // Which rows are this block's, and of which batch.
  void WriteBlock(Lines& body);
  // A column that a mask leaves out has the weight 0 in the original: of an infinite value that is no number.
  bool HasZerosOutside() const;
  // Where the columns of a block's rows end: "T", or the diagonal.
  std::string WriteLast(Lines& body) const;
  // Where they begin, at a multiple of `step`: "0", or the other edge of a band.
  std::string WriteBegin(Lines& body, const char* step) const;
  // if (inside) { ... }, for the score of row and column: `statement` of the node's value.
  void WriteIfInside(Lines& body, size_t of, core::NodeId node, const Known& known, const std::string& statement);
  // The total is of the weights themselves.
  bool IsSummedAsItIs();
  // The outputs of a row and col, from the texts of its sum, its total and its largest score.
  void WriteOutputs(Lines& body, const std::string& sum, const std::string& total, const std::string& largest);
  // The same where it is known that the element exists.
  void WriteOutputsThere(Lines& body, const std::string& sum, const std::string& total, const std::string& largest);

  // An element of the result term by term, in the body of a loop over elements: of one that came out as no number.
  void WriteAgainComment(Lines& body) const;
  // The largest weight is one, up to what its score is rounded by.
  void WriteAgainIfTotal(Lines& body, const std::string& for_rows, const std::string& row) const;
  void WriteElementAgain(Lines& body, const std::string& last);

 private:
  const core::Guard* Band() const;
  std::string Scaled(const std::string& score, Lines& lines);
  void WriteScoreAgain(Lines& body);
  std::optional<int64_t> Rounded(const core::Size& extent) const;
  void WriteOutput(Lines& body, size_t output, const Known& known, LateStores& stores);
  std::string WriteLaunch(const std::string& name, const KernelArguments& arguments) const;

  const Problem& problem_;
  const Group& group_;
  const AttentionPlan plan_;
  const int tile_;
  int64_t depth_count_ = 0, col_count_ = 0;
  Names names_;
  std::string row_, column_, depth_, col_;
  std::vector<std::string> batch_names_;
  std::optional<FlatAxis> batch_;
  std::optional<core::RewriteRefusal> refusal_;
};

// On tensor cores, where queries, keys and values are read as f16 or bf16 octets. None: they are not.
std::optional<CodeOutcome> TensorAttention(const Problem& problem, const Group& group, const AttentionPlan& plan,
                                           int tile);

}  // namespace warpwright::schedule
