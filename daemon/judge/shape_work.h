// What the original would take at a shape that nobody has run yet. Private to judge/.
#pragma once

#include <cstdint>
#include <optional>

#include "core/computation.h"
#include "core/kernel_spec.h"

namespace warpwright::judge {

class ShapeWork {
 public:
  // `form`: what the original computes, if that is known. It and `spec` must outlive this.
  ShapeWork(const core::KernelSpec& spec, const core::Computation* form) : spec_(spec), form_(form) {}

  // A run of the original on the whole case.
  void AddMeasured(const core::Case& c, uint64_t instructions);
  // Thread instructions, from the largest measured run: in the ratio of the form's steps, which are known exactly at
  // every shape; without a form in that of the product of all sizes, or of the bytes where these grow faster. Nothing
  // if no run was counted.
  std::optional<double> InstructionsAt(const core::Case& c) const;

 private:
  // How much work a shape is, in a unit of its own.
  std::optional<double> StepsAt(const core::Case& c) const;
  double SizesAt(const core::Case& c) const;

  const core::KernelSpec& spec_;
  const core::Computation* form_;
  std::optional<core::Case> measured_;
  uint64_t instructions_ = 0;
};

}  // namespace warpwright::judge
