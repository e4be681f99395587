// The segments of a launcher: its statements that launch kernels, each with what clears or copies for it. What a
// segment computes can be found out, and written anew, whatever the others are.
//
// Only statements that stand apart are segments: none returns, declares what others use or assigns to it, so that the
// launcher without the others' launches does what it did for this one's.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/source_requests.h"
#include "source/ast.h"
#include "source/syntax.h"

namespace warpwright::rewrite {

struct Segment {
  const source::Node* statement = nullptr;    // that launches
  std::vector<const source::Node*> prepares;  // memsets and copies before it, of what it names
};
// In the order of the launcher's statements. None: it launches in one statement, or they don't stand apart.
std::vector<Segment> SegmentsOf(const source::Ast& ast, const source::SyntaxFunction& launcher);

// Functions of the host that launch kernels, by themselves or by other such functions.
std::set<std::string> LaunchingFunctions(const source::Ast& ast, bool of_main_file);

// The text with blanks in place of other segments than the one asked for: core::kSegmentText.
Result<core::RewriteOutcome> TextOfSegment(const core::RewriteRequest& request);

}  // namespace warpwright::rewrite
