// The statements of an entry at one shape: prepared, executed, canonicalised and fitted. What one shape teaches about
// the entry's branches on data holds at the next one as well.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lift/canonical.h"
#include "lift/concrete_form.h"
#include "lift/lift.h"
#include "lift/trace.h"
#include "lift/unify.h"

namespace warpwright::lift {

using TracedShape = std::variant<core::NotLifted, Trace>;
using ShapeOutcome = std::variant<core::NotLifted, FormAtShape>;

// The scalars of a shape, without a form.
FormAtShape Named(const std::map<std::string, core::ScalarValue>& scalars);

// The blocker of a shape at which the entry runs and leaves every buffer as it is.
inline constexpr std::string_view kNothingWritten = "nothing written", kFaults = "fault";

class ShapeForms {
 public:
  // How the entry is looked at.
  struct View {
    std::vector<std::vector<core::Expression>> dimensions;  // of the buffer arguments
    std::function<BlockList(const core::Dim3&)> blocks;     // those of a launch that run; null: all
    bool cut_launches = false;                              // every launch is lifted by itself
    bool expand = false;                                    // products of sums are sums of products
    bool keep_signs = false;                                // of squares of differences: FormGraph::KeepSigns
    bool keep_order = false;                                // of loads in products: FormGraph::KeepOrder
    bool order_by_last = false;                             // of elements, in products: FormGraph::OrderByLast
    bool later_reads_count = false;                         // in sums over products, not the one of fewer positions
    bool one_path = false;  // of branches on data that every thread takes alike, and that cannot be followed
  };
  // Both outlive this.
  ShapeForms(const core::LiftRequest& request, const Prepare& prepare);

  View& view() { return view_; }
  const View& view() const { return view_; }
  Result<TracedShape> TraceAt(const core::LiftShape& at);
  // Where branches depend on data, once more with both sides of these; that may show others.
  Result<ShapeOutcome> FormAt(const core::LiftShape& at);
  // What the last FormAt executed left in the buffers, without expressions; empty: it was not executed.
  std::vector<TracedBuffer> TakeExecuted() { return std::exchange(executed_, {}); }
  size_t launches() const { return launches_; }  // of kernels, at any shape so far
  // To which the kernels round in between, as far as the shapes so far show.
  std::optional<core::DType> narrow() const { return narrow_; }
  // "path 1 of 2 seen (clamp.cu:12)": under which forms of one path hold.
  const std::set<std::string>& paths_seen() const { return paths_seen_; }
  void ForgetPaths() { paths_seen_.clear(); }

 private:
  Result<TracedShape> TraceAt(const core::LiftShape& at, const PreparedShape& shape);
  Result<ShapeOutcome> FormOf(const core::LiftShape& at, const Trace& trace, std::vector<const DataBranch*>& open);
  Result<ShapeOutcome> MakeForm(FormAtShape at, const Trace& trace, const CanonicalRoots& canonical, FormGraph& forms);
  FormGraph FormsOf(const core::LiftShape& at, const Trace& trace) const;

  const core::LiftRequest& request_;
  const core::KernelSpec& spec_;
  const Prepare& prepare_;
  View view_;
  std::map<uint16_t, std::string> scalar_names_;         // by position in the signature
  std::map<std::string, sim::DecodeOptions> converted_;  // by the PTX: shapes may have modules of their own
  std::set<std::string, std::less<>> forked_;            // kernels
  std::set<std::string> paths_seen_;
  std::vector<TracedBuffer> executed_;
  size_t launches_ = 0;
  std::optional<core::DType> narrow_;
};

}  // namespace warpwright::lift
