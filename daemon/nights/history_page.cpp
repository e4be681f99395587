#include "nights/history_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "nights/history_plot.h"
#include "report/markdown.h"

namespace warpwright::nights {
namespace {

// Colours for light and for dark; standalone pictures contain them too.
constexpr std::string_view kColours = R"css(
:root { --ink: #1f2328; --soft: #59636e; --paper: #ffffff; --panel: #f6f8fa; --rule: #d1d9e0; --good: #1a7f37; --bad: #cf222e; --plain: #0969da;
        --driver: #8250df; --toolkit: #9a6700; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9198a1; --paper: #0d1117; --panel: #151b23; --rule: #3d444d; --good: #3fb950; --bad: #f85149; --plain: #4493f8;
          --driver: #ab7df8; --toolkit: #d29922; } }
)css";
constexpr std::string_view kPlot = R"css(
text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; } text.label { fill: var(--soft); }
text.name { font-size: 14px; font-weight: 600; fill: var(--ink); } text.now { fill: var(--ink); } text.heading { font-size: 16px; font-weight: 600; fill: var(--ink); }
text.bad-label { fill: var(--bad); font-weight: 600; }
.paper { fill: var(--paper); } .grid { stroke: var(--rule); stroke-width: 0.7; } .band { fill: var(--plain); opacity: 0.18; }
.line { fill: none; stroke: var(--plain); stroke-width: 1.4; } circle.plain { fill: var(--plain); } circle.bad { fill: var(--bad); }
.bad-area { fill: var(--bad); opacity: 0.10; } .change-c { stroke: var(--soft); stroke-dasharray: 2 3; } .change-d { stroke: var(--driver); }
.change-t { stroke: var(--toolkit); }
)css";
constexpr std::string_view kPage = R"css(
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 20px 16px 64px; max-width: 1040px; background: var(--paper); color: var(--ink);
       font: 15px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 26px; line-height: 1.25; margin: 8px 0; overflow-wrap: anywhere; } h2 { font-size: 18px; margin: 32px 0 8px; }
a { color: var(--plain); } p, li { max-width: 80ch; overflow-wrap: anywhere; } .soft { color: var(--soft); } .bad-text { color: var(--bad); } .good-text { color: var(--good); }
code { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; background: var(--panel); padding: 1px 5px; border-radius: 4px; overflow-wrap: anywhere; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 360px), 1fr)); gap: 20px 32px; } .plots svg { width: 100%; max-width: 520px; height: auto; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--rule); padding: 5px 14px 5px 0; text-align: left; vertical-align: top; } th { color: var(--soft); font-weight: 600; }
.num { text-align: right; white-space: nowrap; } summary { cursor: pointer; }
)css";

constexpr double kMargin = 16, kHeading = 30;
constexpr size_t kMaxPanels = 24, kNightRows = 30;

std::string Head(std::string_view title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\"><title>{}</title>\n<style>{}{}{}</style></head><body>\n",
      report::EscapeHtml(title), kColours, kPlot, kPage);
}

std::string Percent(const Finding& f) { return fmt::format("+{:.1f} %", 100 * std::expm1(f.log_ratio)); }

std::string FindingItem(const Finding& f) {
  std::string out =
      fmt::format("<li><span class=\"bad-text\">{}</span>, {}, {}: {}", Percent(f), report::EscapeHtml(Name(f.cause)),
                  report::EscapeHtml(f.time.substr(0, 10)), report::EscapeHtml(f.message));
  if (!f.commit.empty()) {
    const std::string commit = f.commit.substr(0, 12);
    const bool named = f.message.find(commit) != std::string::npos;
    out += fmt::format("<br>{}<span class=\"soft\">{}{}</span>",
                       named ? "" : "<code>" + report::EscapeHtml(commit) + "</code> ", report::EscapeHtml(f.subject),
                       f.confirmed ? "" : " (uncertain)");
  }
  return out + "</li>\n";
}

std::string Panels(const std::vector<Panel>& panels) {
  std::string out, machine;
  for (size_t i = 0; i < panels.size() && i < kMaxPanels; ++i) {
    if (panels[i].machine != machine) {
      out += (machine.empty() ? "" : "</div>\n") +
             fmt::format("<h2>{}</h2>\n<div class=\"plots\">\n", report::EscapeHtml(panels[i].machine));
      machine = panels[i].machine;
    }
    out += fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n", kPanelWidth,
                       kPanelHeight, report::EscapeHtml("Times of case " + panels[i].case_name), DrawPanel(panels[i]));
  }
  if (!machine.empty()) out += "</div>\n";
  if (panels.size() > kMaxPanels)
    out += fmt::format("<p class=\"soft\">{} more panels are omitted.</p>\n", panels.size() - kMaxPanels);
  return out;
}

std::string Legend() {
  return "<p class=\"soft\">Points are medians of a nightly run, the band is their 95 % interval within it. Vertical "
         "lines: the "
         "code changed (dotted), the driver, or the toolkit. "
         "Shaded: a regression was open. Red points: slower runs.</p>\n";
}

std::string NightTable(const History& history) {
  std::string out =
      "<details><summary>The latest runs</summary><div class=\"scroll\"><table><tr><th>date</th><th>state</th><th "
      "class=\"num\">time / reference</th><th>commit</th><th>what</th></tr>\n";
  size_t rows = 0;
  for (auto night = history.nights.rbegin(); night != history.nights.rend() && rows < kNightRows; ++night, ++rows)
    out += fmt::format("<tr><td>{}</td><td>{}</td><td class=\"num\">{}</td><td><code>{}</code></td><td>{}</td></tr>\n",
                       report::EscapeHtml(night->time.substr(0, 10)), report::EscapeHtml(Name(night->state)),
                       night->log_ratio == 0 ? "" : fmt::format("{:.3f}", std::exp(night->log_ratio)),
                       report::EscapeHtml(night->commit.substr(0, 12)), report::EscapeHtml(night->message));
  return out + "</table></div></details>\n";
}

}  // namespace

std::string RenderHistorySvg(const EntryHistory& entry) {
  std::vector<Panel> panels = PanelsOf(entry.history);
  if (panels.empty()) return {};
  if (panels.size() > kMaxPanels) panels.resize(kMaxPanels);
  std::string machine, body;
  double y = kMargin;
  for (const Panel& panel : panels) {
    if (panel.machine != machine) {
      machine = panel.machine;
      body += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" class=\"heading\">{}</text>\n", kMargin, y + 16,
                          report::EscapeHtml(entry.kernel + ", " + machine, 60));
      y += kHeading;
    }
    body += fmt::format("<g transform=\"translate({:.0f} {:.0f})\">\n{}</g>\n", kMargin, y, DrawPanel(panel));
    y += kPanelHeight + kMargin;
  }
  const double width = kPanelWidth + 2 * kMargin;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\">\n<title>{2}</title>\n<style>{3}{4}</style>\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" class=\"paper\"/>\n{5}</svg>\n",
      width, y, report::EscapeHtml("Nightly times of " + entry.kernel), kColours, kPlot, body);
}

std::string RenderHistoryHtml(const EntryHistory& entry) {
  std::string out = Head("warpwright nights: " + entry.kernel);
  out += fmt::format(
      "<p class=\"soft\"><a href=\"index.html\">All entries</a></p>\n<h1>{}</h1>\n<p class=\"soft\">{}</p>\n",
      report::EscapeHtml(entry.kernel), report::EscapeHtml(entry.file));
  const auto open = entry.history.Open();
  if (open.empty()) {
    out += entry.history.nights.empty() ? "<p>No nightly run has timed it yet.</p>\n"
                                        : "<p class=\"good-text\">No regression is open.</p>\n";
  } else {
    out += "<h2>Open regressions</h2>\n<ul>\n";
    for (const Finding& finding : open) out += FindingItem(finding);
    out += "</ul>\n";
  }
  const std::vector<Panel> panels = PanelsOf(entry.history);
  out += Panels(panels);
  if (!panels.empty()) out += Legend();
  if (!entry.history.nights.empty()) out += NightTable(entry.history);
  return out + "</body></html>\n";
}

std::string RenderHistoryIndex(const std::vector<EntryHistory>& entries) {
  std::vector<const EntryHistory*> order;
  for (const EntryHistory& entry : entries) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return !a->history.Open().empty() && b->history.Open().empty();
  });
  std::string out = Head("warpwright nights") +
                    "<h1>Nightly runs</h1>\n<div class=\"scroll\"><table><tr><th>entry</th><th>last "
                    "night</th><th>state</th><th>open regressions</th></tr>\n";
  for (const EntryHistory* entry : order) {
    const auto open = entry->history.Open();
    std::string list;
    for (const Finding& finding : open)
      list += fmt::format("{}<span class=\"bad-text\">{}</span> {}", list.empty() ? "" : ", ", Percent(finding),
                          report::EscapeHtml(Name(finding.cause)));
    const NightVerdict* last = entry->history.nights.empty() ? nullptr : &entry->history.nights.back();
    out += fmt::format("<tr><td><a href=\"{0}.html\">{0}</a></td><td>{1}</td><td>{2}</td><td>{3}</td></tr>\n",
                       report::EscapeHtml(entry->kernel),
                       last == nullptr ? "" : report::EscapeHtml(last->time.substr(0, 10)),
                       last == nullptr ? "not timed" : report::EscapeHtml(Name(last->state)), list);
  }
  return out + "</table></div>\n</body></html>\n";
}

Status WriteHistoryPages(const std::vector<EntryHistory>& entries, const std::filesystem::path& folder) {
  for (const EntryHistory& entry : entries) {
    if (entry.kernel.empty() || entry.kernel.front() == '.' ||
        entry.kernel.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos)
      return Fail(ErrorCode::kConfig, "'" + entry.kernel + "' cannot be the name of a page");
    WW_TRY(base::WriteFileAtomically(folder / (entry.kernel + ".html"), RenderHistoryHtml(entry)));
    if (const std::string svg = RenderHistorySvg(entry); !svg.empty())
      WW_TRY(base::WriteFileAtomically(folder / (entry.kernel + ".svg"), svg));
  }
  return base::WriteFileAtomically(folder / "index.html", RenderHistoryIndex(entries));
}

}  // namespace warpwright::nights
