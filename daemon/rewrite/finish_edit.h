// What an edit leaves behind, by a language model or of a schedule, is taken out before it is spliced and judged, so
// that what is proposed is finished work:
//   - new functions, aliases and macros that the entry does not use (of macros those that no header can read)
//   - variables that a changed or new function declares and nothing uses, unless their values come from calls
//   - what the original's comments say of single threads, where the edit maps threads to elements in another way
// The original's own unused code stays: it is not the edit's.
#pragma once

#include <string>

#include "base/result.h"
#include "core/source_requests.h"

namespace warpwright::rewrite {

// The edited text of `request`, finished; as it is where it cannot be read.
std::string FinishEdit(const core::SpliceRequest& request);

}  // namespace warpwright::rewrite
