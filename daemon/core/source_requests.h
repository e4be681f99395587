// What is asked for a source's text, which only the worker parses and lexes: a transformation, a derived text, a
// splice.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/build_options.h"
#include "core/scheduling.h"
#include "core/verdict.h"

namespace warpwright::core {

// A .cu file: `text` replaces the content of root/file (which may differ or be absent); includes are resolved below
// `root`.
struct SourceRef {
  std::string root;  // absolute; a checkout or an exported tree
  std::string file;  // relative to root
  std::string text;
  BuildOptions build = {};  // how the project builds it

  SourceRef With(std::string other) const { return {root, file, std::move(other), build}; }  // another text there
};

// A built-in transformation of rewrite/, by id, with its parameters ("block_size" -> "256"); or a schedule of
// schedule/, which is told what to compute.
struct RewriteRequest {
  SourceRef source;
  std::string entry;
  std::string kernel;  // empty: the entry's only or hottest
  std::string transform;
  std::map<std::string, std::string> parameters;
  std::optional<Scheduling> scheduling;  // none: not lifted, or not needed
};
// How the ids of schedules begin.
inline constexpr std::string_view kSchedulePrefix = "schedule_";
// The one that goes by Scheduling::segments, as no other does.
inline constexpr std::string_view kEachLaunch = "schedule_each_launch";
// Texts derived from a source by something other than a transformation, since only the worker lexes untrusted text. Ids
// in addition to those of rewrite/ (rewrite/derived_text.h).
// Headers inlined, and all floating-point types replaced by double.
inline constexpr std::string_view kFloat64Text = "float64";
// With the parameter "declaration" inserted after its includes.
inline constexpr std::string_view kDeclaredText = "declare";
// Only the last path components of what it may include, one per line.
inline constexpr std::string_view kIncludedNames = "included_names";
// With blanks in place of what other segments of the launcher launch (rewrite/segments.h). The parameter "number" says
// which one stays, from 0; refused: it has no such segment.
inline constexpr std::string_view kSegmentText = "segment";
inline constexpr const char* kSegmentNumber = "number";

struct Rewritten {
  std::string text;                // the whole file
  std::vector<std::string> notes;  // what was done, for the explanation
  std::string entry;               // of kFloat64Text: the entry's name in that text
};
struct RewriteRefusal {
  std::string reason;  // "the row loop writes shared state (line 31)"
  int line = 0;
};
using RewriteOutcome = std::variant<Rewritten, RewriteRefusal>;

// Applies an edited text to the original as a minimal diff; refuses edits outside the entry, and requires that the
// spliced file slices to the same device code and host code as the edited one.
struct SpliceRequest {
  SourceRef original;
  std::string edited;
  std::string entry;
  bool keeps_comments = false;  // the original's, also above what changes: the edit is of another version of the file
  bool finishes = false;        // the edit first loses what it leaves behind (rewrite/finish_edit.h)
};
using SpliceOutcome = std::variant<Rewritten, Refused>;

}  // namespace warpwright::core
