// Brings an edited file back to the original as a minimal diff.
//
// Both files are cut into declarations. Declarations whose tokens are unchanged keep the original's bytes; changed ones
// take the edited text and must belong to what the entry reaches; new helpers, kernels, includes and macros go before
// the first kernel of the entry. Any other difference is refused by name. The result must slice, for this entry, to the
// same tokens as the edited file, so that plan and cubin are the same too.
#pragma once

#include "base/result.h"
#include "core/evaluator.h"

namespace warpwright {

Result<SpliceOutcome> Splice(const SpliceRequest& request);

}  // namespace warpwright
