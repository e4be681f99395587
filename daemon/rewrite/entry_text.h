// The part of a file that an entry reaches (core/entry_text.h).
#pragma once

#include "base/result.h"
#include "core/source_requests.h"

namespace warpwright::rewrite {

Result<core::RewriteOutcome> TextOfEntry(const core::RewriteRequest& request);

}  // namespace warpwright::rewrite
