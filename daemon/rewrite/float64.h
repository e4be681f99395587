// The source of a kernel's float64 shadow (judge/shadow.h): every floating-point type replaced by double, so that
// running it gives what the original would give without rounding.
//
// The rewriting is by token, not by AST: types (float becomes double, half and bfloat16 structs around a double), math
// functions (expf and __expf become exp), literals (0.5f becomes ((double)0.5f): constants stay as the original rounds
// them). In-repository headers are inlined first, so that helpers are rewritten too. Code that inspects a float's bits
// (__float_as_int, inline assembly, packed half intrinsics that the prelude lacks) makes the rewriting refuse; anything
// that it misses does not compile, faults, or disagrees with the original, and then the shadow is dropped as well.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/source_requests.h"

namespace warpwright::rewrite {

// The whole file and the entry's name in it. Refuses code that has no counterpart in float64.
Result<core::RewriteOutcome> WidenToFloat64(const core::SourceRef& source, const std::string& entry);

// The token rewriting alone. kUnsupported: names the identifier that has no counterpart.
Result<std::string> WidenTokens(std::string_view text);
// The source with the repository's headers in place of their includes, each once. kUnsupported: too large.
Result<std::string> InlineHeaders(const core::SourceRef& source);

}  // namespace warpwright::rewrite
