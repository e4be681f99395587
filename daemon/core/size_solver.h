// Numbers that follow the shape, as expressions of the entry's integer scalars: extents, strides, offsets, and literals
// that are sizes in disguise. The simplest expression that holds at every shape is taken; what the shapes at hand
// cannot tell apart, a further shape must (lifting checks every form numerically at one).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/computation.h"
#include "core/kernel_spec.h"

namespace warpwright::core {

using Sizes = std::map<std::string, int64_t>;

class SizeSolver {
 public:
  // `hints`: extents of arguments, which are likely.
  SizeSolver(std::vector<Sizes> shapes, const std::vector<Size>& hints);
  // One value for each shape.
  std::optional<Size> Solve(const std::vector<int64_t>& values) const;
  size_t shapes() const { return shapes_.size(); }
  // Scalars and hints, for literals that depend on one of them.
  struct Atom {
    Size size;
    std::vector<int64_t> values;
    bool simple = true;  // a name
  };
  const std::vector<Atom>& atoms() const { return atoms_; }

 private:
  std::optional<Size> SolveAsItIs(const std::vector<int64_t>& values) const;
  std::optional<Size> SolveProduct(const std::vector<int64_t>& values) const;

  std::vector<Sizes> shapes_;
  std::vector<Atom> atoms_;
};

}  // namespace warpwright::core
