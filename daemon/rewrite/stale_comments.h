// Comments on which thread does what, which a transformation that maps threads anew makes untrue.
#pragma once

#include <string>
#include <string_view>

namespace warpwright::rewrite {

// `text` without what the comments of `function`, or those directly above it, say of single threads ("one thread per
// row", "each thread sums a column"): the clause, or the comment where nothing else is left. Comments that are not in
// `original` are new, and stay.
std::string DropStaleComments(std::string text, std::string_view original, std::string_view function);

}  // namespace warpwright::rewrite
