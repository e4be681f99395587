#include "report/mermaid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "report/format.h"
#include "report/markdown.h"

namespace warpwright::report {
namespace {

constexpr double kTimesShow = 6;  // a larger gain would flatten all later times onto the axis
// GitHub scales a chart to the width of the text; drawn small and scaled up, it is readable on a phone.
constexpr size_t kMaxLabelledRounds = 9;  // with more, their names would overlap
constexpr size_t kLabelledBars = 6;       // with more, their numbers would overlap
constexpr size_t kLabel = 34;             // characters of a line in a box: as wide as a phone
constexpr std::string_view kClasses =
    "  classDef kept fill:#1a7f37,stroke:#1a7f37,color:#ffffff\n"
    "  classDef tried fill:#59636e,stroke:#59636e,color:#ffffff\n"
    "  classDef wrong fill:#a40e26,stroke:#a40e26,color:#ffffff\n"
    "  classDef start fill:#0969da,stroke:#0969da,color:#ffffff\n";

// Best gain over the original after each round, from round 0 (the original).
std::vector<double> BestByRound(const Explanation& e) {
  int last = 0;
  for (const auto& attempt : e.attempts) last = std::max(last, attempt.round);
  std::vector<double> best(static_cast<size_t>(last) + 1, 1.0);
  for (const auto& attempt : e.attempts)
    if (attempt.accepted && attempt.gain && attempt.round >= 0)
      best[static_cast<size_t>(attempt.round)] = std::max(best[static_cast<size_t>(attempt.round)], *attempt.gain);
  for (size_t round = 1; round < best.size(); ++round) best[round] = std::max(best[round], best[round - 1]);
  return best;
}

// All attempts of one method in one round.
struct Group {
  int round = 0;
  std::string method;
  int measured = 0, wrong = 0, inapplicable = 0;
  double best = 0;
  const AttemptRow* accepted = nullptr;
  std::string reason;  // of the first that failed
};

constexpr std::string_view kRepair = " (repair ";
std::string BaseMethod(const std::string& method) { return method.substr(0, method.find(kRepair)); }
// So many versions failed before this one.
int Repairs(const std::string& method) {
  const size_t at = method.find(kRepair);
  return at == std::string::npos ? 0 : std::atoi(method.c_str() + at + kRepair.size());
}

// "wrong result"; of a refusal, which says nothing by itself, why.
std::string RejectionWords(const AttemptRow& attempt) {
  std::string words = OutcomeWords(attempt.outcome);
  if (attempt.outcome != AttemptOutcome::kRefused || attempt.message.empty()) return words;
  return attempt.message.substr(0, attempt.message.find_first_of(",;:("));
}

std::vector<Group> Groups(const Explanation& e) {
  std::vector<Group> groups;
  std::map<std::pair<int, std::string>, size_t> at;
  for (const auto& attempt : e.attempts) {
    const std::pair<int, std::string> key{attempt.round, BaseMethod(attempt.method)};
    const auto [found, fresh] = at.emplace(key, groups.size());
    if (fresh) groups.push_back({.round = attempt.round, .method = key.second});
    Group& group = groups[found->second];
    if (attempt.gain) {
      ++group.measured;
      group.wrong = std::max(0, group.wrong - Repairs(attempt.method));  // those that it mended
      group.best = std::max(group.best, *attempt.gain);
      if (attempt.accepted) group.accepted = &attempt;
    } else if (attempt.outcome == AttemptOutcome::kNotApplicable) {
      ++group.inapplicable;
    } else {
      ++group.wrong;
      if (group.reason.empty()) group.reason = RejectionWords(attempt);
    }
  }
  return groups;
}

// Nothing of it could be tried; it has no line of its own.
bool DoesNotApply(const Group& group) { return group.measured + group.wrong == 0; }

// Of those that could be tried.
std::string Settings(const Group& group) {
  const int others = group.measured + group.wrong - 1;
  return others == 0 ? "" : fmt::format("<br>{} other setting{} tried", others, others == 1 ? "" : "s");
}

// "a=1, b=2" in lines that are as wide as a phone, broken between settings.
std::string ParameterLines(const std::string& parameters) {
  constexpr std::string_view kBetween = ", ";
  std::string out, line;
  const auto end_line = [&] { out += "<br>" + MermaidLabel(line, kLabel); };
  for (size_t at = 0; at < parameters.size();) {
    const size_t end = std::min(parameters.find(kBetween, at), parameters.size());
    const std::string setting = parameters.substr(at, end - at);
    if (!line.empty() && line.size() + kBetween.size() + setting.size() > kLabel) {
      line += ',';
      end_line();
      line.clear();
    }
    line += (line.empty() ? "" : std::string(kBetween)) + setting;
    at = end + kBetween.size();
  }
  if (!line.empty()) end_line();
  return out;
}

std::string AcceptedLabel(const Explanation& e, const Group& group) {
  std::string label = fmt::format("round {}: {}", group.round, MermaidLabel(group.method, kLabel));
  label += ParameterLines(group.accepted->parameters);
  label += "<br>" + FormatGain(*group.accepted->gain);
  if (const double from = SearchedFromUs(e); from > 0) label += ", " + FormatMicroseconds(from / *group.accepted->gain);
  return label + Settings(group);
}

// "round 2: shared_memory_tiling 1.47x, 1 wrong result"
std::string RejectedLine(const Group& group) {
  std::string line =
      (group.round == kNoRound ? "" : fmt::format("round {}: ", group.round)) + MermaidLabel(group.method, kLabel);
  std::vector<std::string> parts;
  if (group.measured > 0)
    parts.push_back((group.measured > 1 ? fmt::format("best of {}: ", group.measured) : "") + FormatGain(group.best));
  if (group.wrong > 0)
    parts.push_back((group.wrong > 1 ? fmt::format("{} rejected: ", group.wrong) : "rejected: ") +
                    MermaidLabel(group.reason, kLabel));
  return line + fmt::format("<br>{}", fmt::join(parts, ", "));
}

// Keeps accepted groups and the most informative others: failures first, then the later rounds.
std::vector<Group> Shown(std::vector<Group> groups, size_t max_rounds, size_t& hidden) {
  hidden = 0;
  const auto lines = [&] { return groups.size() - std::count_if(groups.begin(), groups.end(), DoesNotApply); };
  while (lines() > max_rounds) {
    auto victim = groups.end();
    for (auto group = groups.begin(); group != groups.end(); ++group)
      if (group->accepted == nullptr && !DoesNotApply(*group) &&
          (victim == groups.end() || (group->wrong == 0 && victim->wrong > 0)))
        victim = group;
    if (victim == groups.end()) victim = groups.begin() + static_cast<std::ptrdiff_t>(groups.size() / 2);
    groups.erase(victim);
    ++hidden;
  }
  return groups;
}

// Mermaid does not read exponents.
std::string BarNumber(double value) {
  return value >= 99.95 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

}  // namespace

std::string MermaidLabel(std::string_view text, size_t max_characters) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view(" _.,:=+-/()%").find(c) != std::string_view::npos;
    out += plain ? c : ' ';
    if (out.size() == max_characters) break;
  }
  // Avoids what Mermaid interprets inside labels: a number with a dot, or a dash with a blank, begins a list.
  const size_t first = out.find_first_not_of(" -+.");
  if (first == std::string::npos) return "unnamed";
  out.erase(0, first);
  if (out.size() < text.size() && first + out.size() == max_characters) out += "…";
  return out;
}

std::string ProgressChart(const Explanation& e) {
  const std::vector<double> best = BestByRound(e);
  // A single step is in the headline.
  if (std::count_if(e.attempts.begin(), e.attempts.end(), [](const AttemptRow& a) { return a.accepted; }) < 2)
    return {};
  const double from = SearchedFromUs(e);
  const bool times = from > 0 && best.back() <= kTimesShow;
  std::string rounds, values;
  double top = 0;
  // Next to large gains, the original's bar would be invisible.
  const bool every = best.size() <= kMaxLabelledRounds;
  for (size_t round = times ? 0 : 1; round < best.size(); ++round) {
    // With many rounds, only those with an improvement.
    if (!every && round > 0 && best[round] == best[round - 1] && round + 1 < best.size()) continue;
    const double value = times ? from / best[round] : best[round];
    top = std::max(top, value);
    const std::string_view comma = rounds.empty() ? "" : ", ";
    rounds += fmt::format("{}\"{}\"", comma, round == 0 ? "original" : std::to_string(round));
    values += comma;
    values += BarNumber(value);
  }
  // GitHub scales a chart to the width of the text; drawn small and scaled up, it is readable on a phone. The default
  // colour is nearly invisible on white, and the default background of the dark theme is not the page's.
  return fmt::format(
      "```mermaid\n---\nconfig:\n  xyChart:\n    width: 360\n    height: 240\n    showDataLabel: {}\n  "
      "themeVariables:\n    xyChart:\n"
      "      backgroundColor: transparent\n      plotColorPalette: \"#2f81f7\"\n---\nxychart-beta\n"
      "  x-axis \"best verified version after round\" [{}]\n  y-axis \"{}{}\" 0 --> {}\n  bar [{}]\n```\n",
      best.size() <= kLabelledBars, rounds, e.modelled ? "modelled " : "", times ? "time, µs" : "gain, times",
      BarNumber(top * 1.1), values);
}

// One column, so that a phone shows it unscaled: what was tried on a version and not taken is told in a box below it,
// from which the way goes on.
std::string AttemptFlowchart(const Explanation& e, size_t max_rounds) {
  size_t hidden = 0;
  const std::vector<Group> groups = Shown(Groups(e), max_rounds, hidden);
  if (groups.empty()) return {};
  std::string out = "```mermaid\nflowchart TD\n";
  const double from = SearchedFromUs(e);
  out += fmt::format("  node0[\"original{}\"]:::start\n", from > 0 ? "<br>" + FormatMicroseconds(from) : "");
  size_t last = 0;
  std::string beside;  // what was tried on the current base and not taken
  std::set<std::string> inapplicable;
  bool wrong = false;
  const auto link = [&](std::string_view label, std::string_view style, std::string_view arrow) {
    out += fmt::format("  node{} {} node{}[\"{}\"]:::{}\n", last, arrow, last + 1, label, style);
    ++last;
  };
  const auto add = [&](const std::string& line) { beside += (beside.empty() ? "" : "<br>") + line; };
  const auto flush = [&](bool last_box) {
    if (beside.empty() && !last_box) return;  // what does not apply gets no box of its own on the way
    if (inapplicable.size() == 1) add(MermaidLabel(*inapplicable.begin(), kLabel) + "<br>does not apply");
    if (inapplicable.size() > 1) add(fmt::format("{} methods do not apply", inapplicable.size()));
    if (!beside.empty()) link("not taken:<br>" + beside, wrong ? "wrong" : "tried", "-.-");
    beside.clear();
    inapplicable.clear();
    wrong = false;
  };
  for (const Group& group : groups) {
    if (DoesNotApply(group)) {
      inapplicable.insert(group.method);
      continue;
    }
    if (group.accepted == nullptr) {
      add(RejectedLine(group));
      wrong = wrong || group.wrong > 0;
      continue;
    }
    flush(false);
    link(AcceptedLabel(e, group), "kept", "==>");
  }
  if (hidden > 0) add(fmt::format("{} more, not drawn", hidden));
  flush(true);
  return out + std::string(kClasses) + "```\n";
}

}  // namespace warpwright::report
