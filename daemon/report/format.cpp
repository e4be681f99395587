#include "report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "base/utf8.h"
#include "core/check.h"

namespace warpwright::report {
namespace {

// Three significant digits, never an exponent in values that readers compare.
std::string ThreeDigits(double value) {
  const double size = std::fabs(value);
  return size >= 99.95   ? fmt::format("{:.0f}", value)
         : size >= 9.995 ? fmt::format("{:.1f}", value)
                         : fmt::format("{:.2f}", value);
}

// A kernel's name from the manifest for use in a title: without anything that links, closes or mentions.
std::string TitleWord(std::string_view text, size_t max_characters) {
  std::string out;
  for (const char c : text.substr(0, max_characters)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("_.:-").find(c) != std::string_view::npos;
    out += plain ? c : '_';
  }
  return out;
}

}  // namespace

// By the size of the number that is shown: 999.96 µs is 1.00 ms.
std::string FormatMicroseconds(double us) {
  if (us >= 999.5e3) return ThreeDigits(us / 1e6) + " s";
  if (us >= 999.5) return ThreeDigits(us / 1e3) + " ms";
  return ThreeDigits(us) + " µs";
}

std::string FormatTimes(const std::vector<double>& us) {
  std::string out;
  for (size_t i = 0; i < us.size(); ++i) {
    const std::string time = FormatMicroseconds(us[i]);
    const size_t unit = time.find(' ');
    const std::string next = i + 1 < us.size() ? FormatMicroseconds(us[i + 1]) : "";
    const bool same = next.substr(std::min(next.size(), next.find(' '))) == time.substr(unit);
    out += (i == 0 ? "" : " → ") + (same ? time.substr(0, unit) : time);
  }
  return out;
}

std::string_view Name(CounterMove move) {
  switch (move) {
    case CounterMove::kBetter: return "better";
    case CounterMove::kExpected: return "expected";
    case CounterMove::kSame: return "same";
    case CounterMove::kWorse: return "worse";
  }
  return "?";
}

CounterMove MoveOf(std::string_view counter, double before, double after, bool expected_up) {
  constexpr double kNotable = 0.02;  // as a prediction must move
  // Shares of what a chip can do, or of what was fetched; of everything else less is better.
  constexpr std::string_view kMoreIsBetter[] = {"throughput",  "efficiency", "hit_pct",     "occupancy",
                                                "utilization", "fp32_pct",   "fp64_pct",    "fp16_pct",
                                                "tensor_pct",  "roofline",   "access_bytes"};
  if (std::fabs(after - before) <= kNotable * std::fabs(before)) return CounterMove::kSame;
  const bool up = after > before;
  const bool more_is_better = std::any_of(std::begin(kMoreIsBetter), std::end(kMoreIsBetter),
                                          [&](auto part) { return counter.find(part) != std::string_view::npos; });
  if (up == more_is_better) return CounterMove::kBetter;
  return up == expected_up ? CounterMove::kExpected : CounterMove::kWorse;
}

std::string CauseText(const TakenStep& step) {
  std::string text;
  for (const std::string& cause : step.causes) text += (text.empty() ? "" : " ") + cause;
  if (!text.empty()) return text;
  const std::string gain = FormatGain(step.gain_after / step.gain_before);
  if (step.predicted == 0)
    return fmt::format("{} as fast. No counter that would explain it was counted, so its cause is not known.", gain);
  if (2 * step.held > step.predicted)  // as where a cause counts as supported
    return fmt::format(
        "{} as fast. Its counters moved as expected ({} of {}), but its card names no cause that they show.", gain,
        step.held, step.predicted);
  return fmt::format("{} as fast. Its cause is not known: of {} that would explain it, {} came true.", gain,
                     Plural(step.predicted, "expected change of a counter", "expected changes of counters"), step.held);
}

std::string_view StepsHeading(const Explanation& e) {
  return e.outcome == core::TaskOutcome::kImproved ? "Why it is faster" : "The best that was tried, not proposed";
}

std::string_view CarriedNote(const Explanation& e) {
  return e.carried ? "Found on an earlier commit. It was spliced into the present file, and verified and measured "
                     "there: the figures above are of that. The steps are of the search on the earlier commit."
                   : "";
}

double SearchedFromUs(const Explanation& e) { return e.carried ? 0 : e.before_us; }

std::string StepTimes(const Explanation& e, const TakenStep& step) {
  const double from = SearchedFromUs(e);
  if (!(from > 0)) return {};
  return ", " + FormatTimes({from / step.gain_before, from / step.gain_after});
}

std::optional<bool> BitIdentical(const Explanation& e) {
  std::optional<bool> identical;
  for (const auto& row : e.cases)
    for (const auto& error : row.errors) identical = identical.value_or(true) && error.identical;
  return identical;
}

namespace {

// A plan in two parts: what is done and why, and the facts that this cites.
struct PlanParts {
  std::string reason, facts;
};

// "formula_known = yes, headroom = 308 (above 1.1)" as "formula known: yes, headroom: 308 (above 1.1)".
std::string FactWords(std::string_view fact) {
  constexpr std::string_view kIs = " = ", kBetween = ", ";
  std::string out;
  for (size_t at = 0; at < fact.size();) {
    const size_t end = std::min(fact.find(kBetween, at), fact.size());
    const std::string_view part = fact.substr(at, end - at), field = part.substr(0, part.find(kIs));
    const bool names_field =
        field.size() < part.size() && field.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == field.npos;
    out += at > 0 ? kBetween : "";
    out += names_field ? FieldWords(field) + ": " + std::string(part.substr(field.size() + kIs.size()))
                       : std::string(part);
    at = end + kBetween.size();
  }
  return out;
}

PlanParts PartsOf(std::string_view plan) {
  const size_t facts = plan.rfind(" [1] ");  // the reason may cite it in its middle
  if (facts == std::string_view::npos) return {std::string(plan), ""};
  std::string reason(plan.substr(0, facts)), cited(plan.substr(facts + 5));
  for (size_t at = reason.find('['); at != std::string::npos; at = reason.find('[', at)) {
    const size_t end = reason.find(']', at);
    if (end == std::string::npos || end - at > 3) break;
    const size_t begin = at > 0 && reason[at - 1] == ' ' ? at - 1 : at;
    reason.erase(begin, end - begin + 1);
    at = begin;
  }
  std::string second;
  if (const size_t at = cited.find("; [2] "); at != std::string::npos) {
    second = cited.substr(at + 6, std::min(cited.find("; [", at + 6), cited.size()) - at - 6);
    cited.resize(at);
  }
  while (reason.ends_with(' ') || reason.ends_with('.')) reason.pop_back();
  return {std::move(reason), FactWords(cited) + (second.empty() ? "" : "; " + FactWords(second))};
}

// "Warps wait for memory: " of "round 2, restrict_readonly: Warps wait for memory: Tell the compiler that ..."
std::string DiagnosisOf(const std::string& reason) {
  constexpr std::string_view kBehind = ": ";
  const size_t begin = reason.find(kBehind);
  if (begin == std::string::npos) return {};
  const size_t end = reason.find(kBehind, begin + kBehind.size());
  return end == std::string::npos ? std::string() : reason.substr(begin + kBehind.size(), end - begin);
}

}  // namespace

std::vector<std::string> PlanLines(const Explanation& e) {
  std::vector<std::string> lines;
  std::string last, last_diagnosis;
  for (const std::string& plan : e.plans) {
    PlanParts parts = PartsOf(plan);
    const bool said = parts.facts.empty() || parts.facts == last;
    std::string diagnosis = DiagnosisOf(parts.reason), line = parts.reason;
    if (!diagnosis.empty() && diagnosis == last_diagnosis) line.erase(line.find(diagnosis), diagnosis.size());
    lines.push_back(line + (said ? "" : " (" + parts.facts + ")"));
    last = std::move(parts.facts);
    last_diagnosis = std::move(diagnosis);
  }
  return lines;
}

std::string_view SpeedupHeading(const Explanation& e) {
  if (e.modelled) return "speedup, modelled";
  const bool intervals =
      std::any_of(e.cases.begin(), e.cases.end(), [](const CaseRow& row) { return row.timing.has_value(); });
  return intervals ? "speedup (95\u00a0%)" : "speedup";
}

std::string CaseMarks(const CaseRow& row) {
  return std::string(row.sampled ? " ¹" : "") + (row.weight > 0 ? "" : " ²");
}

std::string CaseNotes(const std::vector<const CaseRow*>& rows) {
  std::string notes;
  const auto any = [&](auto is) { return std::any_of(rows.begin(), rows.end(), is); };
  if (any([](const CaseRow* row) { return row->sampled; }))
    notes = "¹\u00a0counted on a part of its blocks, and scaled up";
  if (any([](const CaseRow* row) { return !(row->weight > 0); }))
    notes += std::string(notes.empty() ? "" : " · ") + "²\u00a0checked, but not part of the gain";
  return notes;
}

std::string RoundCell(const AttemptRow& attempt) {
  return attempt.round == kNoRound ? "–" : std::to_string(attempt.round);
}

std::string OutcomeWords(AttemptOutcome outcome) {
  std::string words(Name(outcome));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string VerdictWords(const AttemptRow& attempt) {
  if (attempt.accepted) return "new base";
  if (attempt.repeats_round)
    return *attempt.repeats_round > 0 ? fmt::format("same as round {}", *attempt.repeats_round)
                                      : "same as from experience";
  return attempt.gain ? "verified, not taken" : OutcomeWords(attempt.outcome);
}

std::string_view NoteOf(const std::vector<AttemptRow>& attempts, size_t index) {
  const std::string& message = attempts[index].message;
  if (index > 0 && !message.empty() && message == attempts[index - 1].message) return "as above";
  return message;
}

std::string WriterOf(const AttemptRow& attempt) {
  return attempt.question.empty() ? std::string() : fmt::format("{}, question {}", attempt.agent, attempt.question);
}

bool IsSlower(const CaseRow& row) {
  return row.decision == core::TimingDecision::kSlower || (!row.decision && row.after_us > row.before_us * 1.005);
}

std::string SpeedupWords(const CaseRow& row) {
  if (!(row.after_us > 0)) return "–";
  const std::string words =
      row.timing ? fmt::format("{} ({:.2f} to {:.2f})", FormatGain(row.timing->gain), row.timing->low, row.timing->high)
                 : FormatGain(row.before_us / row.after_us);
  if (IsSlower(row)) return words + ", slower";
  if (row.decision == core::TimingDecision::kSame) return words + ", same";
  return row.decision == core::TimingDecision::kInconclusive ? words + ", uncertain" : words;
}

std::string ErrorWords(const CaseRow& row) {
  const OutputError* worst = nullptr;
  for (const auto& error : row.errors)
    if (!error.identical && (worst == nullptr || error.error * worst->allowed > worst->error * error.allowed))
      worst = &error;
  if (worst != nullptr) return fmt::format("{} / {}", FormatError(worst->error), FormatError(worst->allowed));
  return row.errors.empty() ? "–" : "bit-identical";
}

bool ReducedShapesRan(const Explanation& e) {
  return std::any_of(e.check_table.begin(), e.check_table.end(), [](const CheckRow& check) {
    return check.ran && check.name == core::Name(core::Check::kReducedShape);
  });
}

std::string NotCompared(const Explanation& e, std::string (*quoted)(std::string_view name)) {
  std::string names;
  int more = 0;
  for (const CaseRow& row : e.cases) {
    if (!(row.weight > 0) || !row.errors.empty()) continue;
    if (names.size() > 120) ++more;
    else names += (names.empty() ? "" : ", ") + quoted(base::CleanText(row.name, 60));
  }
  if (names.empty()) return {};
  return fmt::format("The results of {}{} were not compared at full size{}.", names,
                     more > 0 ? fmt::format(" and {} more", more) : "",
                     ReducedShapesRan(e) ? ", only at smaller ones" : "");
}

std::string PlainNotCompared(const Explanation& e) {
  return NotCompared(e, [](std::string_view name) { return std::string(name); });
}

std::string Breakable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view before = text.substr(0, i), behind = text.substr(i + 1);
    const bool may = before.ends_with("→") || before.ends_with('/') || before.ends_with(',') || behind.starts_with('(');
    out += text[i] == ' ' && may ? " " : Unbroken(text.substr(i, 1));
  }
  return out;
}

std::string Unbroken(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == ' ' ? "\u00a0" : c == '-' ? "\u2011" : std::string(1, c);
  return out;
}

bool WeightsDiffer(const Explanation& e) {
  double first = 0;
  for (const CaseRow& row : e.cases) {
    if (!(row.weight > 0)) continue;
    if (first > 0 && row.weight != first) return true;
    first = row.weight;
  }
  return false;
}

std::string WeightWords(const Explanation& e, const CaseRow& row) {
  return row.weight > 0 && WeightsDiffer(e) ? fmt::format(", weight {:g}", row.weight) : "";
}

std::string FormatError(double error) { return error == 0 ? "0" : fmt::format("{:.2g}", error); }

std::string FormatInterval(const GainInterval& interval) {
  return FormatGain(interval.low) + " to " + FormatGain(interval.high);
}

std::string Effort(const memory::TaskCounts& counts) {
  return fmt::format("{}, {} ({} evaluated)", Plural(counts.rounds, "round"), Plural(counts.attempts, "attempt"),
                     counts.evaluations);
}

std::string SearchInOneLine(const Explanation& e) {
  const double from = SearchedFromUs(e);
  std::vector<double> times = {from};
  int taken = 0;
  for (const AttemptRow& attempt : e.attempts) {
    if (!attempt.accepted) continue;
    ++taken;
    times.push_back(from / attempt.gain.value_or(1));
  }
  std::string line = fmt::format("{} of {} taken", taken, Plural(e.counts.attempts, "attempt"));
  if (from > 0 && taken > 0) line += ": " + FormatTimes(times);
  return line;
}

std::string GainHeadline(const Explanation& e, bool with_times) {
  std::string out =
      fmt::format("{} faster{} on {}", FormatGain(e.gain), e.modelled ? ", modelled," : "", TitleWord(ChipName(e), 16));
  if (with_times && e.before_us > 0) out += fmt::format(" ({})", FormatTimes({e.before_us, e.after_us}));
  return out;
}

std::string ChangeTitle(const Explanation& e) {
  constexpr size_t kColumns = 72;
  const std::string kernel = fmt::format("perf({}): ", TitleWord(e.kernel, 48));
  const std::string whole = kernel + GainHeadline(e), what = kernel + GainHeadline(e, false);
  if (base::CodePoints(whole) <= kColumns) return whole;
  if (what.size() <= kColumns) return what;
  return fmt::format("perf({}): {} faster{}", TitleWord(e.kernel, 40), FormatGain(e.gain),
                     e.modelled ? ", modelled" : "");
}

std::string ChipName(const Explanation& e) {
  return e.chip_name.starts_with("NVIDIA ") ? e.chip_name.substr(7) : e.chip_name;
}

std::string RooflineOfFormula(const Explanation& e) {
  std::string text =
      "The roofline is that of the formula: what it reads and writes, each once, and the operations that it has";
  const double counted = 100 * e.counted_roofline_share_after;
  if (std::abs(counted - 100 * e.roofline_share_after) >= 0.5)
    text += fmt::format("; by the original's buffers and counters it would be {:.0f} %", counted);
  return text + ".";
}

std::string FieldWords(std::string_view field) {
  // What the name alone does not say.
  constexpr std::pair<std::string_view, std::string_view> kSaid[] = {{"fp32_pct", "FP32 lanes busy"},
                                                                     {"fp64_pct", "FP64 lanes busy"},
                                                                     {"fp16_pct", "FP16 lanes busy"},
                                                                     {"integer_pct", "integer lanes busy"},
                                                                     {"sfu_pct", "SFU busy"},
                                                                     {"atomic_pct", "time of atomics"},
                                                                     {"latency_pct", "exposed latency"},
                                                                     {"overhead_pct", "launch overhead"},
                                                                     {"dram_throughput_pct", "DRAM throughput"}};
  for (const auto& [name, words] : kSaid)
    if (field == name) return std::string(words);
  for (const std::string_view unit : {"_pct", "_us"})
    if (field.ends_with(unit)) field.remove_suffix(unit.size());
  std::string words;
  while (!field.empty()) {
    const std::string_view word = field.substr(0, field.find('_'));
    field.remove_prefix(std::min(field.size(), word.size() + 1));
    std::string shown(word);
    if (word == "dram" || word == "l1" || word == "l2" || word == "sfu" || word.starts_with("fp"))
      for (char& c : shown) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    words += (words.empty() ? "" : " ") + shown;
  }
  return words;
}

std::string StallWords(std::string_view reason) {
  constexpr std::pair<std::string_view, std::string_view> kReasons[] = {
      {"long_scoreboard", "waiting for global memory"},
      {"short_scoreboard", "waiting for shared memory"},
      {"lg_throttle", "in the queue of global memory"},
      {"mio_throttle", "in the queue of shared memory"},
      {"tex_throttle", "in the queue of the texture units"},
      {"math_pipe_throttle", "waiting for an arithmetic unit"},
      {"gmma", "waiting for the tensor cores"},
      {"wait", "waiting for an instruction of fixed latency"},
      {"barrier", "waiting at a barrier"},
      {"membar", "waiting at a memory fence"},
      {"branch_resolving", "waiting at a branch"},
      {"no_instruction", "waiting for code"},
      {"imc_miss", "waiting for constants"},
      {"drain", "waiting for stores to end"},
      {"not_selected", "ready while another warp ran"},
      {"dispatch_stall", "waiting to be dispatched"}};
  for (const auto& [name, words] : kReasons)
    if (reason == name) return std::string(words);
  return FieldWords(reason);
}

std::string Sentence(std::string text) {
  if (!text.empty() && !text.ends_with('.') && !text.ends_with("…")) text += '.';
  return text;
}

std::string Wrap(const std::string& text, size_t width, const std::string& first_indent, const std::string& indent) {
  std::istringstream words(text);
  std::string out, line = first_indent, word;
  bool empty = true;  // the line has no word yet
  while (words >> word) {
    if (!empty && base::CodePoints(line) + 1 + base::CodePoints(word) > width) {
      out += line + "\n";
      line = indent;
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  return out + line + "\n";
}

std::string Plural(int count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, many);
}

}  // namespace warpwright::report
