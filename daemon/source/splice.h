// Brings an edited file back to the original as a minimal diff.
//
// Both files are cut into declarations. Declarations whose tokens are unchanged keep the original's bytes; changed ones
// take the edited text and must belong to what the entry reaches; new helpers, kernels, includes and macros go before
// the first kernel of the entry. Any other difference is refused by name.
//
// What was verified and measured is the edited file, what is committed is the spliced one, so both must give the same
// launches and the same machine code. That is held here, for every splice, without compiling anything: the slices of
// both files for this entry must be equal token by token, on the device's side (all that NVRTC sees) and on the host's
// (all that the recorder compiles); see slice_compare.h for what may differ and why it does not matter. Compilers and
// the recorder are functions of these tokens, so equal plans and, line tables aside, equal cubins follow; the tests
// confirm it by compiling both without line information and comparing bytes.
#pragma once

#include "base/result.h"
#include "core/evaluator.h"

namespace warpwright::source {

Result<core::SpliceOutcome> Splice(const core::SpliceRequest& request);

}  // namespace warpwright::source
