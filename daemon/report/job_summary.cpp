#include "report/job_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/utf8.h"
#include "report/body_sections.h"
#include "report/format.h"
#include "report/markdown.h"

namespace warpwright::report {
namespace {

constexpr size_t kTableRows = 200;

int Rank(core::TaskOutcome outcome) {
  switch (outcome) {
    case core::TaskOutcome::kImproved: return 0;
    case core::TaskOutcome::kError: return 1;
    case core::TaskOutcome::kRefused: return 2;
    default: return 3;
  }
}

std::string SlowerWords(const KernelSummary& kernel) {
  return fmt::format("{:.2f} times slower than in {}", kernel.regression, base::CleanText(kernel.slower_than, 100));
}

std::string Outcome(const KernelSummary& kernel) {
  const Explanation& e = kernel.explanation;
  if (kernel.regression > 0) {
    KernelSummary other = kernel;
    other.regression = 0;
    return fmt::format("**{}**; {}", EscapeMarkdown(SlowerWords(kernel), 200), Outcome(other));
  }
  if (e.outcome == core::TaskOutcome::kImproved)
    return fmt::format("**{} faster**{}", FormatGain(e.gain), e.modelled ? ", modelled" : "");
  if (e.outcome == core::TaskOutcome::kUnchanged) return "no improvement found";
  return e.outcome == core::TaskOutcome::kError ? "failed" : EscapeMarkdown(Name(e.outcome), 40);
}

std::string Table(const std::vector<const KernelSummary*>& kernels) {
  std::string out = "| kernel | result | before | after | pull request |\n|:--|:--|--:|--:|:--|\n";
  for (size_t i = 0; i < kernels.size() && i < kTableRows; ++i) {
    const Explanation& e = kernels[i]->explanation;
    const std::string url = SafeUrl(kernels[i]->pull_request_url);
    out += fmt::format("| {} | {} | {} | {} | {} |\n", CodeCell(base::CleanText(e.kernel, 80)), Outcome(*kernels[i]),
                       e.before_us > 0 ? FormatMicroseconds(e.before_us) : "",
                       e.after_us > 0 ? FormatMicroseconds(e.after_us) : "",
                       url.empty() ? "" : "<" + url + "> " + EscapeMarkdown(kernels[i]->pull_request_operation, 20));
  }
  if (kernels.size() > kTableRows) out += fmt::format("\n_and {} more_\n", kernels.size() - kTableRows);
  return out;
}

std::string Details(const KernelSummary& kernel) {
  const Explanation& e = kernel.explanation;
  std::string out = "\n## " + EscapeMarkdown(e.kernel, 80) + "\n\n";
  if (!kernel.publication_error.empty())
    out += "> [!CAUTION]\n> Not published: " + EscapeMarkdown(kernel.publication_error, 1000) + "\n\n";
  if (kernel.regression > 0)
    out += fmt::format(
        "> [!WARNING]\n> This change made it {}. Both versions were timed in pairs, one after the other{}.\n\n",
        EscapeMarkdown(SlowerWords(kernel), 200),
        e.outcome == core::TaskOutcome::kImproved ? "; the faster version below is proposed against the new one" : "");
  if (e.outcome != core::TaskOutcome::kImproved) {
    const CheckText check = RenderCheck(e, kernel.provenance);
    return out + check.summary + (e.attempts.empty() ? "" : "\n" + Folded("What was tried", AttemptTable(e, 30, 160)));
  }
  out += GainSentence(e, kernel.provenance) + "\n\n" + CaseTable(e, 20) + RenderSpeedupReasons(e, 5, 300) +
         RenderReviewHints(e, kernel.provenance, 8, 200) + RenderSearchHistory(e, 8) + "\n";
  return out + Verification(e, 40) + Reproduction(e, kernel.provenance);
}

std::string EscapeData(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '%' ? "%25" : c == '\r' ? "%0D" : c == '\n' ? "%0A" : std::string(1, c);
  return out;
}
std::string EscapeProperty(std::string_view text) {
  std::string out;
  for (const char c : EscapeData(text)) out += c == ':' ? "%3A" : c == ',' ? "%2C" : std::string(1, c);
  return out;
}

}  // namespace

std::string RenderJobSummary(const std::vector<KernelSummary>& kernels) {
  std::vector<const KernelSummary*> order;
  for (const auto& kernel : kernels) order.push_back(&kernel);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return Rank(a->explanation.outcome) < Rank(b->explanation.outcome);
  });
  const auto improved = std::count_if(
      order.begin(), order.end(), [](const auto* k) { return k->explanation.outcome == core::TaskOutcome::kImproved; });
  const auto slower = std::count_if(kernels.begin(), kernels.end(), [](const auto& k) { return k.regression > 0; });
  std::string out =
      fmt::format("# warpwright: {} of {} faster{}\n\n", improved, Plural(static_cast<int>(kernels.size()), "kernel"),
                  slower > 0 ? fmt::format(", {} slower than before", slower) : "");
  if (kernels.empty()) return out + "No kernel changed.\n";
  out += Table(order);
  size_t left_out = 0;
  for (const KernelSummary* kernel : order) {
    std::string details = Details(*kernel);
    if (out.size() + details.size() + 200 > kMaxSummaryBytes) ++left_out;
    else out += details;
  }
  if (left_out > 0)
    out += fmt::format("\n_The details of {} are left out to keep this summary readable._\n",
                       Plural(static_cast<int>(left_out), "kernel"));
  return out;
}

std::string_view Name(NoteLevel level) { return level == NoteLevel::kError ? "error" : "notice"; }

std::string WorkflowCommand(NoteLevel level, std::string_view file, int line, std::string_view title,
                            std::string_view message) {
  std::string place;
  if (!file.empty()) place = fmt::format("file={},", EscapeProperty(base::CleanText(file, 1000)));
  if (!place.empty() && line > 0) place += fmt::format("line={},", line);
  return fmt::format("::{} {}title={}::{}\n", Name(level), place, EscapeProperty(base::CleanText(title, 200)),
                     EscapeData(base::CleanText(message, 4000, true)));
}

std::string MaskCommand(std::string_view secret) { return fmt::format("::add-mask::{}\n", EscapeData(secret)); }

std::string RenderFailure(const Error& error) {
  std::string out =
      "# warpwright: it failed\n\n" + EscapeMarkdown(base::CleanText(error.message, 4000, true), 4000) + "\n";
  if (!error.file.empty())
    out +=
        fmt::format("\nIn {}\n", CodeSpan(error.line > 0 ? fmt::format("{}:{}", error.file, error.line) : error.file));
  if (!error.remedy.empty())
    out += "\n**Remedy:** " + EscapeMarkdown(base::CleanText(error.remedy, 2000, true), 2000) + "\n";
  return out;
}

std::string FailureCommand(const Error& error) {
  return WorkflowCommand(NoteLevel::kError, error.file, error.line, "warpwright",
                         error.message + (error.remedy.empty() ? "" : "\nremedy: " + error.remedy));
}

namespace {

// The line of "src/a.cu:12: ..." or, as compilers write it, "src/a.cu(12): ..." in a message.
int LineIn(std::string_view message, const std::string& file) {
  const size_t at = std::min(message.find(file + ":"), message.find(file + "("));
  if (file.empty() || at == std::string_view::npos) return 0;
  int line = 0;
  for (size_t i = at + file.size() + 1;
       i < message.size() && message[i] >= '0' && message[i] <= '9' && line < 10'000'000; ++i)
    line = line * 10 + (message[i] - '0');
  return line;
}

}  // namespace

std::string RenderFailures(const std::vector<KernelSummary>& kernels) {
  std::string out;
  size_t left = kMaxAnnotationsPerLevel;
  for (const KernelSummary& kernel : kernels) {
    const Explanation& e = kernel.explanation;
    const bool refused = e.outcome == core::TaskOutcome::kRefused, failed = e.outcome == core::TaskOutcome::kError;
    if (kernel.regression > 0 && left > 0) {
      --left;
      out += WorkflowCommand(NoteLevel::kError, e.file, 0, e.kernel + " became slower", SlowerWords(kernel));
    }
    const std::string& why = refused || failed ? e.outcome_reason : kernel.publication_error;
    if (why.empty() || left == 0) continue;
    --left;
    const std::string title = e.kernel + (refused ? " was refused" : failed ? " failed" : " was not published");
    const std::string remedy = e.remedy.empty() ? "" : "\nremedy: " + e.remedy;
    out += WorkflowCommand(NoteLevel::kError, e.file, LineIn(why, e.file), title, why + remedy);
  }
  return out;
}

std::string RenderAnnotations(const std::vector<KernelSummary>& kernels) {
  struct Command {
    const KernelSummary* kernel;
    CheckText::Note note;
  };
  std::vector<Command> commands;
  for (const auto& kernel : kernels)
    for (auto& note : RenderCheck(kernel.explanation, kernel.provenance).notes)
      commands.push_back({&kernel, std::move(note)});
  const size_t shown = commands.size() <= kMaxAnnotationsPerLevel ? commands.size() : kMaxAnnotationsPerLevel - 1;
  std::string out;
  for (size_t i = 0; i < shown; ++i)
    out += WorkflowCommand(NoteLevel::kNotice, commands[i].kernel->explanation.file, commands[i].note.line,
                           commands[i].note.title, commands[i].note.message);
  if (shown < commands.size())
    out += WorkflowCommand(
        NoteLevel::kNotice, commands[shown].kernel->explanation.file, commands[shown].note.line, "More notes",
        fmt::format("{} more notes of this kind are in the summary of the job.", commands.size() - shown));
  return out;
}

}  // namespace warpwright::report
