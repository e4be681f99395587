// Texts that `warpwright` needs beside transformations, derived here so that it never lexes what a candidate or an
// original wrote. The ids stand in core/evaluator.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/evaluator.h"

namespace warpwright::rewrite {

bool IsDerivedText(std::string_view id);
Result<core::RewriteOutcome> DeriveText(const core::RewriteRequest& request);

// `declaration`, a whole line, behind the text's last include, so that it stands before its first use.
std::string InsertDeclaration(const std::string& text, const std::string& declaration);

// Last names of everything that looks like an include, __has_include and comments between among it; computed ones are
// left out, as the slicer leaves them out. It may name too many and never too few.
std::vector<std::string> IncludedNames(std::string_view text);

}  // namespace warpwright::rewrite
