// What a form is evaluated on: the arguments of a call as numbers. Private to judge/.
#pragma once

#include <cstdint>
#include <vector>

#include "base/uninitialized.h"
#include "core/computation_evaluate.h"
#include "core/execution.h"

namespace warpwright::judge {

// Movable, not copyable: `values` refers to the vectors' elements.
struct FormArguments {
  FormArguments() = default;
  FormArguments(FormArguments&&) = default;
  FormArguments& operator=(FormArguments&&) = default;

  core::SizeValues sizes;
  core::ArgumentValues values;
  std::vector<base::UninitializedVector<double>> reals;
  std::vector<base::UninitializedVector<int64_t>> integers;
};

// `contents`: every buffer argument, in the order of the signature. Outputs and scratch have no values.
FormArguments FormArgumentsOf(const core::KernelSpec& spec, const core::Case& c,
                              const std::vector<core::BufferContent>& contents);

}  // namespace warpwright::judge
