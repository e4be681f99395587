// Texts that `warpwright` needs in addition to transformations, derived here so that it never lexes text from a
// candidate or an original. The ids are in core/source_requests.h, core/entry_text.h and
// core/added_lines.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/source_requests.h"

namespace warpwright::rewrite {

bool IsDerivedText(std::string_view id);
Result<core::RewriteOutcome> DeriveText(const core::RewriteRequest& request);

// Inserts `declaration`, a whole line, after the text's last include, so that it precedes its first use.
std::string InsertDeclaration(const std::string& text, const std::string& declaration);

// Last path components of everything that looks like an include, also with __has_include or with comments in between;
// computed ones are left out, as in the slicer. May return too many, never too few.
std::vector<std::string> IncludedNames(std::string_view text);

}  // namespace warpwright::rewrite
