#include "report/dashboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "report/explanation.h"
#include "report/format.h"
#include "report/markdown.h"
#include "report/pull_request.h"

namespace warpwright::report {
namespace {

constexpr size_t kRows = 40;

std::string Kernel(const DashboardJob& job) {
  return job.kernel.empty() ? "all" : CodeCell(base::CleanText(job.kernel, 80));  // a night is of all
}
std::string Commit(const DashboardJob& job) {
  return job.commit.empty() ? "" : CodeCell(base::CleanText(job.commit.substr(0, 12), 12));
}

std::string Gain(const DashboardJob& job) {
  if (!(job.gain > 0)) return "";
  std::string out = FormatGain(job.gain);
  if (job.modelled) return out + ", modelled";
  return job.gain_low > 0 ? out + fmt::format(" ({:.2f} to {:.2f})", job.gain_low, job.gain_high) : out;
}

std::string Link(const DashboardJob& job) {
  const std::string url = SafeUrl(job.pull_request_url);
  return url.empty() ? "" : "<" + url + ">";
}

using Cell = std::string (*)(const DashboardJob&);
struct Column {
  std::string_view title;
  Cell cell;
};

std::string Reason(const DashboardJob& job) { return EscapeMarkdown(job.reason, 200); }
std::string Device(const DashboardJob& job) { return EscapeMarkdown(job.device, 60); }
// "2026-11-21T13:40:07Z" as people write it.
std::string Since(const DashboardJob& job) {
  const std::string& time = job.since;
  const bool iso = time.size() == 20 && time[10] == 'T' && time.ends_with('Z');
  return iso ? Unbroken(EscapeMarkdown(time.substr(0, 10) + " " + time.substr(11, 5), 40)) : EscapeMarkdown(time, 40);
}
std::string Kind(const DashboardJob& job) { return EscapeMarkdown(job.kind, 20); }
std::string Round(const DashboardJob& job) { return job.round > 0 ? std::to_string(job.round) : ""; }

// A table of the columns that are not empty in every row.
std::string Table(std::string_view heading, const std::vector<DashboardJob>& jobs,
                  std::initializer_list<Column> columns) {
  if (jobs.empty()) return {};
  std::vector<Column> used;
  for (const Column& column : columns)
    if (std::any_of(jobs.begin(), jobs.end(), [&](const DashboardJob& job) { return !column.cell(job).empty(); }))
      used.push_back(column);
  std::string out = fmt::format("\n### {} ({})\n\n|", heading, jobs.size()), rule = "|";
  for (const Column& column : used) {
    out += fmt::format(" {} |", column.title);
    rule += ":--|";
  }
  out += "\n" + rule + "\n";
  for (size_t i = 0; i < jobs.size() && i < kRows; ++i) {
    out += "|";
    for (const Column& column : used) out += fmt::format(" {} |", column.cell(jobs[i]));
    out += "\n";
  }
  if (jobs.size() > kRows) out += fmt::format("\n_and {} more_\n", jobs.size() - kRows);
  return out;
}

std::string Limits(const DashboardInput& in) {
  std::vector<std::string> parts;
  if (in.max_open > 0) parts.push_back(fmt::format("{} of {} pull requests open", in.open_pull_requests, in.max_open));
  if (in.max_per_day > 0) parts.push_back(fmt::format("{} of {} opened today", in.opened_today, in.max_per_day));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// "2.00x of the 2 that were measured"; empty if there are not several.
std::string MeanGain(const std::vector<DashboardJob>& jobs, bool modelled) {
  double logs = 0;
  int known = 0;
  for (const DashboardJob& job : jobs)
    if (job.gain > 0 && job.modelled == modelled && ++known > 0) logs += std::log(job.gain);
  if (known < 2) return {};
  return fmt::format("{} of the {} that were {}", FormatGain(std::exp(logs / known)), known,
                     modelled ? "modelled" : "measured");
}

std::string Merged(const DashboardInput& in) {
  if (in.merged.empty()) return {};
  const std::string table =
      Table("Merged", in.merged, {{"kernel", Kernel}, {"gain", Gain}, {"pull request", Link}, {"since (UTC)", Since}});
  std::vector<std::string> means;  // what a simulator models and what a GPU takes have no mean together
  for (const bool modelled : {false, true})
    if (std::string mean = MeanGain(in.merged, modelled); !mean.empty()) means.push_back(std::move(mean));
  return means.empty()
             ? table
             : table + fmt::format("\nThe geometric mean of these gains is {}.\n", fmt::join(means, ", and "));
}

std::string Learned(const DashboardInput& in) {
  constexpr size_t kMethods = 12;
  if (in.learned.empty()) return {};
  std::string out =
      fmt::format("\n### What was learned ({})\n\n| method | tried | faster | then, in the mean |\n|:--|--:|--:|--:|\n",
                  Plural(static_cast<int>(in.learned.size()), "method"));
  for (size_t i = 0; i < in.learned.size() && i < kMethods; ++i) {
    const memory::LearnedMethod& m = in.learned[i];
    out += fmt::format("| {} | {} | {} | {} |\n", CodeCell(base::CleanText(m.method, 60)), m.tries, m.faster,
                       m.faster > 0 ? FormatGain(m.gain) : "");
  }
  return in.learned.size() > kMethods ? out + fmt::format("\n_and {} more_\n", in.learned.size() - kMethods) : out;
}

std::string Dollars(const ModelUse& use) {
  if (use.unknown > 0 && use.unknown == use.questions) return "cost unknown";
  std::string text = fmt::format("${:.2f}", use.dollars);
  return use.unknown > 0 ? text + fmt::format(" and {} of unknown cost", Plural(use.unknown, "answer")) : text;
}
std::string DollarsPerGain(const ModelUse& use) {
  if (use.unknown > 0) return "unknown";
  return use.gains > 0 ? fmt::format("${:.2f}", use.dollars / use.gains) : "none was taken";
}

std::string Spend(const DashboardInput& in) {
  const ModelUse &today = in.models_today, &total = in.models_total;
  std::string out = fmt::format(
      "\n### Spend\n\n| | today (UTC) | in all |\n|:--|--:|--:|\n| GPU minutes | {:.1f} | {:.1f} |\n| language models "
      "| "
      "{} | {} |\n",
      in.gpu_minutes_today, in.gpu_minutes_total, Dollars(today), Dollars(total));
  if (total.questions > 0)
    out += fmt::format("| questions to them | {} | {} |\n| cost of each version that was taken | {} | {} |\n",
                       today.questions, total.questions, DollarsPerGain(today), DollarsPerGain(total));
  return out;
}

std::string Ignored(const DashboardInput& in) {
  if (in.ignored.empty()) return {};
  std::string out = fmt::format(
      "\n### Ignored ({})\n\nIgnored by a user; a change of the kernel's code, or `/warpwright optimize`, ends it.\n\n",
      in.ignored.size());
  for (size_t i = 0; i < in.ignored.size() && i < 2 * kRows; ++i)
    out += "- " + CodeSpan(base::CleanText(in.ignored[i], 80)) + "\n";
  if (in.ignored.size() > 2 * kRows) out += fmt::format("- and {} more\n", in.ignored.size() - 2 * kRows);
  return out;
}

}  // namespace

DashboardText RenderDashboard(const DashboardInput& in) {
  DashboardText text;
  text.title = "warpwright dashboard";
  text.body = std::string(kDashboardMarker) + "\n";
  text.body += fmt::format("What warpwright does in this repository: **{} running, {} queued, {} waiting, {} open**.",
                           in.running.size(), in.queued.size(), in.waiting.size(), in.open.size());
  if (const std::string limits = Limits(in); !limits.empty()) text.body += " " + limits + ".";
  text.body += "\n";
  if (!in.last_error.empty())
    text.body += "\n> [!WARNING]\n> The repository could not be polled: " + EscapeMarkdown(in.last_error, 400) + "\n";
  // What requires action comes first.
  text.body += Table("Open pull requests", in.open,
                     {{"kernel", Kernel}, {"gain", Gain}, {"pull request", Link}, {"since (UTC)", Since}});
  text.body += Table("Slower than before", in.regressed,
                     {{"kernel", Kernel}, {"since when", Reason}, {"timed at", Commit}, {"found (UTC)", Since}});
  text.body += Table("Waiting because of a limit", in.waiting,
                     {{"kernel", Kernel}, {"gain", Gain}, {"waits for", Reason}, {"since (UTC)", Since}});
  text.body += Table("Running", in.running,
                     {{"kernel", Kernel},
                      {"kind", Kind},
                      {"device", Device},
                      {"commit", Commit},
                      {"round", Round},
                      {"since (UTC)", Since}});
  text.body += Table("Queued", in.queued,
                     {{"kernel", Kernel},
                      {"kind", Kind},
                      {"device", Device},
                      {"commit", Commit},
                      {"waits for", Reason},
                      {"since (UTC)", Since}});
  text.body += Table("Refused or failed", in.failed,
                     {{"kernel", Kernel}, {"kind", Kind}, {"commit", Commit}, {"why", Reason}, {"since (UTC)", Since}});
  text.body += Table("No improvement found", in.unchanged,
                     {{"kernel", Kernel}, {"commit", Commit}, {"why", Reason}, {"since (UTC)", Since}});
  text.body += Merged(in) + Ignored(in) + Learned(in) + Spend(in);
  text.body +=
      "\nIn a comment on a pull request: `/warpwright optimize`, `/warpwright retry`, `/warpwright explain`, "
      "`/warpwright ignore`, `/warpwright stop`.";
  if (!in.version.empty()) text.body += " warpwright " + EscapeMarkdown(in.version, 40) + ".";
  text.body += "\n";
  // Cells are bounded, but every character of a name may need an escape.
  if (base::CodePoints(text.body) > kMaxBodyCharacters) {
    DashboardInput shorter = in;
    for (auto* jobs : {&shorter.unchanged, &shorter.failed, &shorter.queued, &shorter.running, &shorter.waiting,
                       &shorter.open, &shorter.merged, &shorter.regressed})
      if (jobs->size() > 5) jobs->resize(5);
    if (shorter.ignored.size() > 5) shorter.ignored.resize(5);
    shorter.last_error =
        base::CleanText(in.last_error, 100) + " (this page was too long: only five of each kind are shown)";
    return RenderDashboard(shorter);
  }
  return text;
}

}  // namespace warpwright::report
