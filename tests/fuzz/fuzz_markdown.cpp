// Any text, wherever a body takes text from others: nothing in it mentions, links or breaks out, fences and details are
// closed, the body stays within its limit, and the state in its first line is read back.
#include <cstdlib>

#include "base/utf8.h"
#include "report/dashboard.h"
#include "report/markdown.h"
#include "report/mermaid.h"
#include "report/pull_request.h"

namespace {

using namespace warpwright;

void Require(bool condition) {
  if (!condition) std::abort();
}

bool IsWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

size_t Count(std::string_view text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++count;
  return count;
}

// For one line outside fences: no mention and no reference outside code spans.
void CheckLine(std::string_view line) {
  size_t fence = 0;  // length of the run of backticks that opened a code span; 0: outside
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '`' && (i == 0 || line[i - 1] != '\\' || fence > 0)) {
      size_t run = 1;
      while (i + run < line.size() && line[i + run] == '`') ++run;
      if (fence == 0) fence = run;
      else if (fence == run) fence = 0;
      i += run - 1;
      continue;
    }
    if (fence > 0 || i + 1 >= line.size()) continue;
    Require(!(line[i] == '@' && IsWord(line[i + 1])));
    const bool entity = i > 0 && line[i - 1] == '&';  // &#8203;
    Require(entity || !(line[i] == '#' && line[i + 1] >= '0' && line[i + 1] <= '9'));
  }
  Require(fence == 0);
}

// `closed`: details are balanced as well.
void CheckMarkdown(std::string_view body, bool closed) {
  std::string_view rest = body;
  size_t fence = 0;  // length of the open one
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    size_t run = 0;
    while (run < line.size() && line[run] == '`') ++run;
    if (fence > 0) {
      if (run >= fence && run == line.size()) fence = 0;
    } else if (run >= 3 && line.find('`', run) == std::string_view::npos) {  // else it is a code span
      fence = run;
    } else {
      Require(!line.starts_with("/"));
      if (!line.starts_with("<!--")) CheckLine(line);
    }
  }
  Require(fence == 0);
  if (closed) Require(Count(body, "\n<details>") == Count(body, "\n</details>"));
}

report::Explanation Everywhere(const std::string& text, bool modelled) {
  report::Explanation e;
  e.kernel = e.file = e.entry = e.device = e.chip_name = e.version = e.toolchain = e.outcome_reason = text;
  e.base_commit = e.original_hash = e.result_hash = e.run_id = text;
  e.outcome = core::TaskOutcome::kImproved;
  e.modelled = modelled;
  e.gain = 2;
  e.before_us = 10;
  e.after_us = 5;
  e.counts.rounds = 3;
  e.models.questions = 1;
  for (int i = 0; i < 70; ++i) {
    report::CaseRow row;
    row.name = text;
    row.before_us = 10;
    row.after_us = 5 + i;
    row.errors = {{text, i % 2 == 0, 1e-7, 1e-6}};
    e.cases.push_back(row);
    e.steps.push_back({.method = text, .parameters = text, .does = text});
    if (i % 2 == 0) e.steps.back().causes = {text};
    e.steps.back().counters = {{text, 1, 2, report::CounterMove::kWorse}};
    e.plans.push_back(text);
    e.review.push_back(text);
    e.not_tested.push_back(text);
    e.relaxations.push_back(text);
    e.conversation.push_back(text);
    e.models.names.push_back(text);
    e.preconditions.push_back(text);
    e.check_table.push_back({text, text, i % 2 == 0, text});
    report::AttemptRow attempt{.round = i / 3, .id = text, .parent = text, .method = text, .parameters = text};
    attempt.outcome =
        static_cast<report::AttemptOutcome>(i % (static_cast<int>(report::AttemptOutcome::kNotAccepted) + 1));
    attempt.message = text;
    if (i % 3 == 0) attempt.gain = 1.5;
    attempt.accepted = i % 9 == 0;
    e.attempts.push_back(attempt);
  }
  e.hot_before = e.hot_after = {{3, 0.5, text, text}};
  return e;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  CheckMarkdown(report::EscapeMarkdown(text) + "\n", false);
  CheckMarkdown(report::CodeSpan(text) + "\n", false);
  CheckMarkdown(report::CodeBlock(text, "text"), false);
  for (const char c : report::MermaidLabel(text))
    Require(c != '"' && c != '\n' && c != '<' && c != '#' && c != '`' && c != ';');

  const report::Explanation e = Everywhere(text, size % 2 == 0);
  report::Provenance p;
  p.branch = p.base_branch = p.driver = p.device_uuid = p.details_url = text;
  const report::PullRequestText pull_request = report::RenderPullRequest(e, p);
  Require(base::CodePoints(pull_request.body) <= report::kMaxBodyCharacters);
  Require(base::CodePoints(pull_request.title) <= 72 && pull_request.title.find('\n') == std::string::npos &&
          pull_request.title.find('@') == std::string::npos);
  CheckMarkdown(pull_request.body, true);
  const auto state = report::ParseBody(pull_request.body);
  Require(text.empty() || (state && state->kernel == text.substr(0, 200) && !state->retry && !state->ignore));
  report::ParseBody(text);

  report::DashboardJob job;
  job.kernel = job.kind = job.device = job.commit = job.since = job.reason = job.pull_request_url = text;
  report::DashboardInput in;
  in.version = in.last_error = text;
  in.running = in.queued = in.open = in.waiting = in.unchanged = in.failed = std::vector<report::DashboardJob>(50, job);
  in.ignored.assign(50, text);
  const report::DashboardText dashboard = report::RenderDashboard(in);
  Require(base::CodePoints(dashboard.body) <= report::kMaxBodyCharacters);
  CheckMarkdown(dashboard.body, true);
  return 0;
}
