#include <fmt/format.h>

#include "core/quantity.h"
#include "report/explanation.h"
#include "report/format.h"
#include "report/markdown.h"
#include "report/plots.h"

namespace warpwright::report {
namespace {

// Colours are defined once for light and once for dark; the plots use the same variables.
constexpr std::string_view kStyle = R"css(
:root { --ink: #1f2328; --soft: #59636e; --paper: #ffffff; --panel: #f6f8fa; --rule: #d1d9e0; --good: #1a7f37; --bad: #cf222e;
        --plain: #0969da; --roof: #9a6700; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9198a1; --paper: #0d1117; --panel: #151b23; --rule: #3d444d; --good: #3fb950; --bad: #f85149;
          --plain: #4493f8; --roof: #d29922; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px 16px 64px; max-width: 1040px; background: var(--paper); color: var(--ink);
       font: 15px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 26px; line-height: 1.25; margin: 8px 0; } h2 { font-size: 18px; margin: 36px 0 8px; }
p, li { max-width: 80ch; } .soft { color: var(--soft); }
code, pre { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
code { background: var(--panel); padding: 1px 5px; border-radius: 4px; overflow-wrap: anywhere; }
pre { background: var(--panel); padding: 12px; border-radius: 6px; overflow-x: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } th, td { border-bottom: 1px solid var(--rule); padding: 5px 14px 5px 0; text-align: left;
        vertical-align: top; } th { color: var(--soft); font-weight: 600; } .num { text-align: right; }
.badge { display: inline-block; border: 1px solid var(--rule); border-radius: 12px; padding: 1px 10px; margin-right: 6px; font-size: 13px; }
.good-text { color: var(--good); } .bad-text { color: var(--bad); }
.small { font-size: 13px; } .note { min-width: 16em; }
svg { width: 100%; height: auto; min-width: 540px; max-width: 760px; } svg.tree { min-width: 960px; max-width: none; } svg text.label { font-size: 12px; fill: var(--soft); } svg text.strong { fill: var(--ink); font-weight: 600; }
.grid { stroke: var(--rule); stroke-width: 0.6; } .axis { stroke: var(--soft); } .original { stroke: var(--soft); stroke-dasharray: 4 4; }
.base { fill: none; stroke: var(--good); stroke-width: 2; } .roof { stroke: var(--roof); stroke-width: 2; } .edge { stroke: var(--rule); }
circle.good { fill: var(--good); } circle.bad { fill: var(--bad); } circle.plain { fill: var(--plain); } circle.neutral { fill: var(--soft); }
)css";

std::string Row(std::initializer_list<std::string> cells, std::string_view tag = "td") {
  std::string out = "<tr>";
  for (const auto& cell : cells) {
    const bool number = !cell.empty() && cell[0] == '\x01';
    out += fmt::format("<{}{}>{}</{}>", tag, number ? " class=\"num\"" : "", number ? cell.substr(1) : cell, tag);
  }
  return out + "</tr>\n";
}
// Marks a cell as a number, which is right-aligned and broken only where Breakable does.
std::string Num(const std::string& text) { return "\x01" + EscapeHtml(Breakable(text)); }

std::string Strong(const std::string& number) { return "\x01<strong>" + number.substr(1) + "</strong>"; }

std::string Summary(const Explanation& e) {
  std::string out = "<h1>" + EscapeHtml(e.kernel);
  out += e.outcome == core::TaskOutcome::kImproved
             ? ": <span class=\"good-text\">" + EscapeHtml(GainHeadline(e)) + "</span>"
         : e.outcome == core::TaskOutcome::kUnchanged ? std::string(": no improvement found")
                                                      : ": " + EscapeHtml(Name(e.outcome));
  out += "</h1>\n<p>";
  for (const auto& badge : {DevicePhrase(e), Effort(e.counts), fmt::format("{:.1f} s of judging", e.seconds)})
    out += "<span class=\"badge\">" + EscapeHtml(badge) + "</span>";
  out += fmt::format(
      "</p>\n<p class=\"soft\">Entry <code>{}</code> in <code>{}</code>. A program wrote and checked this result. "
      "{}</p>\n",
      EscapeHtml(e.entry), EscapeHtml(e.file), EscapeHtml(e.outcome_reason));
  for (const auto& note : e.counter_notes)
    out += "<p><strong>Counters are missing:</strong> " + EscapeHtml(note) + ".</p>\n";
  return out;
}

std::string CaseRows(const Explanation& e) {
  if (e.cases.empty()) return {};
  std::string out =
      "<h2>Cases</h2>\n<div class=\"scroll\"><table>\n" +
      Row({"shape", Num("before → after"), Num(std::string(SpeedupHeading(e))), Num("max error / allowed")}, "th");
  std::vector<const CaseRow*> rows;
  for (const auto& c : e.cases) {
    rows.push_back(&c);
    out += Row({EscapeHtml(c.name + WeightWords(e, c)) + CaseMarks(c), Num(FormatTimes({c.before_us, c.after_us})),
                IsSlower(c) ? Strong(Num(SpeedupWords(c))) : Num(SpeedupWords(c)), Num(ErrorWords(c))});
  }
  const std::string uncompared = PlainNotCompared(e), notes = CaseNotes(rows);
  return out + "</table></div>\n" + (notes.empty() ? "" : "<p class=\"soft small\">" + notes + "</p>\n") +
         (uncompared.empty() ? "" : "<p><strong>" + EscapeHtml(uncompared) + "</strong></p>\n");
}

std::string StepList(const Explanation& e) {
  if (e.steps.empty()) return {};
  std::string out = fmt::format("<h2>{}</h2>\n{}<ol>\n", StepsHeading(e),
                                e.carried ? fmt::format("<p>{}</p>\n", CarriedNote(e)) : "");
  for (const TakenStep& step : e.steps) {
    out += "<li><code>" + EscapeHtml(step.method) + "</code>" +
           (step.parameters.empty() ? "" : " (" + EscapeHtml(step.parameters) + ")") + EscapeHtml(StepTimes(e, step)) +
           ": " + EscapeHtml(KeepUnits(CauseText(step)));
    if (!step.does.empty()) out += "<br><span class=\"soft\">What it does: " + EscapeHtml(step.does) + ".</span>";
    if (!step.counters.empty()) {
      out += "\n<div class=\"scroll\"><table>\n" +
             Row({e.modelled ? "counter (simulated)" : "counter", Num("before → after"), ""}, "th");
      for (const CounterRow& c : step.counters) {
        const std::string_view unit = core::UnitOf(c.name);
        const std::string_view css = c.move == CounterMove::kBetter  ? "good-text"
                                     : c.move == CounterMove::kWorse ? "bad-text"
                                                                     : "soft";
        out += Row({EscapeHtml(FieldWords(c.name)),
                    Num(core::FormatQuantity(c.before, unit) + " → " + core::FormatQuantity(c.after, unit)),
                    fmt::format("<span class=\"{}\">{}</span>", css, Name(c.move))});
      }
      out += "</table></div>\n";
    }
    out += "</li>\n";
  }
  return out + "</ol>\n";
}

std::string AttemptTable(const Explanation& e) {
  std::string out = "<h2>What was tried</h2>\n<ul>\n";
  for (const std::string& plan : PlanLines(e)) out += "<li>" + EscapeHtml(plan) + "</li>\n";
  out += "</ul>\n<div class=\"scroll\">" + AttemptTree(e) + "</div>\n<div class=\"scroll\"><table>\n";
  out += Row({Num("round"), "method", "result", Num("gain"), "note"}, "th");
  for (size_t i = 0; i < e.attempts.size(); ++i) {
    const AttemptRow& a = e.attempts[i];
    const std::string by = WriterOf(a);
    const std::string result = a.accepted ? "<span class=\"good-text\">new base</span>"
                               : a.gain || a.outcome == AttemptOutcome::kNotApplicable
                                   ? VerdictWords(a)
                                   : "<span class=\"bad-text\">" + EscapeHtml(VerdictWords(a)) + "</span>";
    out += Row({Num(RoundCell(a)),
                EscapeHtml(a.method) +
                    (a.parameters.empty() ? "" : "<br><span class=\"soft\">" + EscapeHtml(a.parameters) + "</span>") +
                    (by.empty() ? "" : "<br><span class=\"soft\">by the " + EscapeHtml(by) + "</span>"),
                result, Num(a.gain ? FormatGain(*a.gain) : ""),
                "<div class=\"note\">" + EscapeHtml(NoteOf(e.attempts, i), 600) + "</div>"});
  }
  return out + "</table></div>\n";
}

std::string List(std::string_view title, const std::vector<std::string>& items) {
  if (items.empty()) return {};
  std::string out = fmt::format("<h2>{}</h2>\n<ul>\n", title);
  for (const auto& item : items) out += "<li>" + EscapeHtml(item) + "</li>\n";
  return out + "</ul>\n";
}

}  // namespace

std::string RenderHtml(const Explanation& e) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n";
  out += "<meta name=\"color-scheme\" content=\"light dark\"><title>warpwright: " + EscapeHtml(e.kernel) +
         "</title>\n<style>" + std::string(kStyle) + "</style></head><body>\n";
  out += Summary(e) + (e.computes ? FormulaHtml(*e.computes) : "") + CaseRows(e) + StepList(e);
  if (!e.attempts.empty())
    out +=
        "<h2>Gain by round</h2>\n<div class=\"scroll\">" + GainPlot(e) +
        "</div>\n<p class=\"soft small\">Each dot is an attempt: green was taken, blue was verified and not taken, red "
        "failed or was refused, grey does not apply. The line is the best version so far, the dashed one the "
        "original.</p>\n";
  if (const std::string roofline = RooflinePlot(e); !roofline.empty())
    out += "<h2>Roofline</h2>\n<div class=\"scroll\">" + roofline + "</div>\n";
  if (!e.attempts.empty()) out += AttemptTable(e);
  if (!e.predictions.empty()) {
    out += "<h2>Predicted and measured</h2>\n<div class=\"scroll\"><table>\n" +
           Row({"evidence", "predicted", Num("before"), Num("after"), "held"}, "th");
    for (const auto& p : e.predictions)
      out += Row({EscapeHtml(FieldWords(p.field)), p.direction < 0 ? "falls" : "rises",
                  Num(core::FormatQuantity(p.before, core::UnitOf(p.field))),
                  Num(core::FormatQuantity(p.after, core::UnitOf(p.field))), p.held ? "yes" : "no"});
    out += "</table></div>\n";
  }
  std::vector<std::string> asked = e.conversation;
  if (e.models.questions > 0) asked.insert(asked.begin(), ModelCostText(e.models));
  out += List("What language models were asked", asked);
  if (!e.checks.empty())
    out += fmt::format("<h2>What was verified</h2>\n<p>{}.</p>\n",
                       EscapeHtml(fmt::format("{}", fmt::join(e.checks, ", "))));
  out += List("For the reviewer", e.review) + List("What was not tested", e.not_tested);
  if (!e.reproduce.empty()) {
    out += "<h2>Reproduce</h2>\n<pre>";
    for (const auto& line : e.reproduce) out += EscapeHtml(line) + "\n";
    out += "</pre>\n";
  }
  out += fmt::format(
      "<p class=\"soft\">Base commit <code>{}</code>, original <code>{}</code>, result <code>{}</code>, warpwright {}, "
      "{}.</p>\n",
      EscapeHtml(e.base_commit.substr(0, 12)), EscapeHtml(e.original_hash.substr(0, 10)),
      EscapeHtml(e.result_hash.substr(0, 10)), EscapeHtml(e.version), EscapeHtml(e.toolchain));
  return out + "</body></html>\n";
}

}  // namespace warpwright::report
