// A computation against the simulator's numbers at one shape.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/execution.h"
#include "core/kernel_spec.h"
#include "lift/trace.h"
#include "lift/unify.h"

namespace warpwright::lift {

// The first difference in words, empty if there is none; nullopt if the computation cannot be evaluated at the shape.
// A number may differ by the error bound of a computation in the formats that the kernel used: f64 where an argument
// is, `narrow` (narrow_format.h) where it rounds to that in between.
Result<std::optional<std::string>> CompareWithTrace(const core::Computation& computation, const FormAtShape& shape,
                                                    const std::vector<core::BufferContent>& buffers,
                                                    const std::vector<TracedBuffer>& traced,
                                                    const core::KernelSpec& spec, std::optional<core::DType> narrow);
// The elements alone that were written: `traced` is of some blocks.
Result<std::optional<std::string>> CompareWithSample(const core::Computation& computation, const FormAtShape& shape,
                                                     const std::vector<core::BufferContent>& buffers,
                                                     const std::vector<TracedBuffer>& traced,
                                                     const core::KernelSpec& spec, std::optional<core::DType> narrow);

}  // namespace warpwright::lift
