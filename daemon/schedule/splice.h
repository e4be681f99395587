// New kernels and a new body for the launcher, as an edit of the user's file.
#pragma once

#include "schedule/problem.h"

namespace warpwright::schedule {

// Functions of the file that only the entry reaches and that nothing names once its body is new: old kernels and their
// helpers. Their names are free for new ones.
struct Obsolete {
  std::vector<source::TextRange> ranges;
  std::set<std::string> names, kernels;  // kernels: those of the names
};
Obsolete FindObsolete(const source::Ast& ast, const Entry& entry);
// Whether new code stands where the obsolete stood: nothing of the file is between them. A new kernel with an old name
// would otherwise have moved, and edits that move declarations are refused (source/splice.h).
bool ReplacesInPlace(const source::Ast& ast, const Entry& entry, const Obsolete& obsolete);

// `condition`: of the sizes for which the code is right; for others the launcher does what it did, and nothing is
// obsolete. Empty: for all.
core::RewriteOutcome Splice(const source::Ast& ast, const Entry& entry, const Obsolete& obsolete,
                            const std::string& condition, const Code& code);

}  // namespace warpwright::schedule
