// Applies an edited file to the original as a minimal diff.
//
// Both files are cut into declarations. Declarations with unchanged tokens keep the original's bytes; changed ones take
// the edited text and must be reachable from the entry; new helpers, kernels, includes and macros are inserted before
// the first kernel of the entry. Any other difference is refused by name.
//
// The edited file is verified and measured, but the spliced one is committed, so both must produce the same launches
// and the same machine code. This is enforced here, for every splice, without compiling anything: the slices of both
// files for this entry must be equal token by token, on the device's side (all that NVRTC sees) and on the host's (all
// that the recorder compiles); see slice_compare.h for what may differ and why it does not matter. Compilers and the
// recorder are functions of these tokens, so plans and, apart from line tables, cubins are equal; the tests confirm it
// by compiling both without line information and comparing bytes.
#pragma once

#include "base/result.h"
#include "core/source_requests.h"

namespace warpwright::source {

Result<core::SpliceOutcome> Splice(const core::SpliceRequest& request);

}  // namespace warpwright::source
