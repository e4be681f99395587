// What is published on the forge about one kernel, rendered from an Explanation: the title and body of a pull request,
// a check, the dashboard, the summary of an Action's step. Untrusted text (names, messages, compiler output) is escaped
// or fenced; nothing in a body can mention a user, close an issue, run a command or escape its context. Bodies are at
// most kMaxBodyCharacters, cut in a fixed order (trajectory, then how it was checked, then attempts), never inside a
// fence, and state what was cut.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/explanation.h"

namespace warpwright::report {

inline constexpr size_t kMaxBodyCharacters = 60'000;  // GitHub's own limit is 65,536 code points

struct LineRange {
  int first = 0, last = 0;
};
struct Provenance {
  std::string run_id;  // of the job
  std::string candidate_commit;
  std::string branch, base_branch;
  std::string driver, device_uuid;
  double gpu_minutes = 0;
  int lines_added = 0, lines_removed = 0;
  std::string details_url;
  std::vector<LineRange> changed = {};  // of the new file, see diff_summary.h
};

struct PullRequestText {
  std::string title;  // "perf(softmax): 1.64x faster on H200 (100.2 to 61.1 us)", at most 72 columns if names allow
  std::string body;
  bool draft = false;  // a modelled gain always opens a draft
};
PullRequestText RenderPullRequest(const Explanation& explanation, const Provenance& provenance);

// The hidden first line of a body, and back; nullopt if warpwright did not write the body.
struct BodyState {
  std::string kernel, base_commit, candidate, run_id;
  bool retry = false, ignore = false;  // which task-list boxes are ticked
};
std::optional<BodyState> ParseBody(std::string_view body);

struct CheckText {
  std::string title, summary, text;
  struct Note {
    int line = 1;
    std::string title, message;
  };
  // On lines of the explanation's file: what limits the kernel there, from the hottest lines and refusals.
  std::vector<Note> notes;
};
CheckText RenderCheck(const Explanation& explanation, const Provenance& provenance);

}  // namespace warpwright::report
