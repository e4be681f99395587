// How the sizes of an entry hang together, from the cases of its manifest: what follows from other sizes in every case
// follows from them elsewhere. Launchers take the extents of their outputs as arguments of their own, and read outside
// their inputs where these do not fit to a window's width, stride and padding. Private to judge/.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/computation.h"
#include "core/kernel_spec.h"
#include "core/size_solver.h"

namespace warpwright::judge {

using Scalars = std::map<std::string, core::ScalarValue>;

core::Sizes IntegersOf(const Scalars& scalars);
// A size that is a dimension of some buffer as it stands: not a stride or a flag.
bool IsDimension(const core::KernelSpec& spec, const std::string& name);
// What an integer scalar is in every case: sizes that agree in one case alone are different ones.
std::vector<int64_t> ValuesInCases(const core::KernelSpec& spec, const std::string& name);

class SizeRelations {
 public:
  static SizeRelations Of(const core::KernelSpec& spec);
  // Whether it follows from others; these keep their freedom.
  bool Has(const std::string& name) const { return relations_.contains(name); }
  // Whether it is a window's stride, padding, dilation or number of taps.
  bool HasWindows() const { return !moved_over_.empty() || !of_shapes_.empty(); }
  bool IsOfWindow(const std::string& name) const { return of_windows_.contains(name); }
  // Whether a window's stride and dilation have a factor in common there: then it leaves out some positions of a
  // transposed convolution, or reaches some elements alone, which is another form.
  bool SkipsPositions(const Scalars& scalars) const;
  // Gives what follows from others its value. The extent that a window moves over grows until some windows stay
  // inside, and the last one ends where it does.
  void Follow(Scalars& scalars) const { Follow(scalars, false); }
  // Of outputs' extents that windows leave alone: other sizes may differ here that are equal in every case.
  void FollowWindows(Scalars& scalars) const { Follow(scalars, true); }

 private:
  struct MovedOver {
    std::string extent;  // of the input
    core::Size least;    // at which windows in its middle reach neither end
  };
  void AddWindowsOfShapes(const core::KernelSpec& spec);
  void AddParts(const std::vector<std::string>& parts, const std::string& stride, const std::string& dilation);
  void GrowInput(const MovedOver& over, const core::Size& result, Scalars& scalars) const;
  void Follow(Scalars& scalars, bool windows_alone) const;

  std::vector<std::string> order_;  // of evaluation
  std::map<std::string, core::Size> relations_;
  std::set<std::string> of_windows_;
  std::set<std::pair<std::string, std::string>> steps_;      // strides and dilations of one window
  std::map<std::string, MovedOver> moved_over_;              // by the extent of the output
  std::vector<std::pair<core::Size, MovedOver>> of_shapes_;  // extents that are written out in the shapes
};

}  // namespace warpwright::judge
