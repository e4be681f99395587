#include "nights/history_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <tuple>

#include "core/device_name.h"
#include "report/format.h"
#include "report/markdown.h"

namespace warpwright::nights {
namespace {

constexpr double kLeft = 58, kRight = 14, kTop = 44, kBottom = 30;
constexpr double kInterval = 1.96;
constexpr int64_t kDay = 86400;

int64_t Seconds(const std::string& time) { return ParseUtc(time).value_or(0); }
std::string DayMonth(int64_t time, bool with_year) {
  static constexpr const char* kNames[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::year_month_day date{
      std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(time)))};
  const char* month = kNames[static_cast<unsigned>(date.month()) - 1];
  return with_year ? fmt::format("{} {}", month, static_cast<int>(date.year()))
                   : fmt::format("{} {}", static_cast<unsigned>(date.day()), month);
}
std::string Text(double x, double y, std::string_view text, std::string_view anchor, std::string_view css,
                 size_t most = 60) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, y, anchor, css,
                     report::EscapeHtml(text, most));
}
std::string Title(std::string_view text) { return fmt::format("<title>{}</title>", report::EscapeHtml(text, 400)); }

// A step of 1, 2 or 5 times a power of ten that divides the range into about four.
double NiceStep(double range) {
  const double raw = range / 4, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= raw) return factor * power;
  return 10 * power;
}

struct Axes {
  int64_t first = 0, last = 0;
  double low = 0, high = 1;
  double X(int64_t time) const {
    const double share =
        last > first ? static_cast<double>(std::clamp(time, first, last) - first) / static_cast<double>(last - first)
                     : 0.5;
    return kLeft + share * (kPanelWidth - kLeft - kRight);
  }
  double Y(double us) const {
    return kPanelHeight - kBottom - (std::clamp(us, low, high) - low) / (high - low) * (kPanelHeight - kTop - kBottom);
  }
};

// At least 10 % of the level from bottom to top, so that noise does not look like a change.
Axes AxesOf(const Panel& panel) {
  Axes axes;
  axes.first = panel.nights.front().time;
  axes.last = panel.nights.back().time;
  axes.low = panel.nights.front().us;
  axes.high = axes.low;
  for (const PanelNight& night : panel.nights) {
    axes.low = std::min(axes.low, std::max(night.low, 0.5 * night.us));
    axes.high = std::max(axes.high, std::min(night.high, 2 * night.us));
  }
  const double middle = 0.5 * (axes.low + axes.high), half = std::max(0.6 * (axes.high - axes.low), 0.05 * middle);
  axes.low = std::max(0.0, middle - half);
  axes.high = middle + half;
  return axes;
}

std::string Grid(const Axes& axes) {
  std::string out;
  const double step = NiceStep(axes.high - axes.low);
  const double unit = axes.high >= 1e6 ? 1e6 : axes.high >= 1e3 ? 1e3 : 1;
  for (double value = std::ceil(axes.low / step) * step; value <= axes.high; value += step) {
    out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"grid\"/>\n", kLeft,
                       axes.Y(value), kPanelWidth - kRight, axes.Y(value));
    out += Text(kLeft - 7, axes.Y(value) + 4, fmt::format("{:.6g}", value / unit), "end", "label");
  }
  out += Text(kLeft - 7, kTop - 14, unit == 1e6 ? "s" : unit == 1e3 ? "ms" : "µs", "end", "label");
  const bool years = axes.last - axes.first > 400 * kDay;
  const int ticks = axes.last - axes.first < 2 * kDay ? 1 : 3;
  std::string before;
  for (int i = 0; i <= ticks; ++i) {
    const int64_t time = axes.first + (axes.last - axes.first) * i / ticks;
    const std::string text = DayMonth(time, years);
    if (text == before) continue;
    out += Text(axes.X(time), kPanelHeight - 10, text, i == 0 ? "start" : i == ticks ? "end" : "middle", "label");
    before = text;
  }
  return out;
}

std::string Regressions(const Panel& panel, const Axes& axes) {
  std::string out;
  double labelled = -1e9;
  for (const PanelRegression& r : panel.regressions) {
    const double from = axes.X(r.from), to = std::max(axes.X(r.to == 0 ? axes.last : r.to), from + 4);
    out +=
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"bad-area\">{}</rect>\n",
                    from, kTop, to - from, kPanelHeight - kTop - kBottom, Title(r.title));
    if (from - labelled < 46) continue;  // labels that would touch are omitted: the titles contain them
    const bool room = from < kPanelWidth - kRight - 46;
    out += Text(room ? from + 3 : kPanelWidth - kRight, kPanelHeight - kBottom - 6, r.label, room ? "start" : "end",
                "label bad-label", 30);
    labelled = from;
  }
  return out;
}

std::string Changes(const Panel& panel, const Axes& axes) {
  std::string out;
  std::map<char, double> last;
  for (const PanelChange& change : panel.changes) {
    const double x = axes.X(change.time);
    out += fmt::format(
        "<g><line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" class=\"change-{3}\"/>{4}</g>\n", x,
        kTop - 2, kPanelHeight - kBottom, change.kind, Title(change.label));
    if (x - last.try_emplace(change.kind, -1e9).first->second < 16) continue;
    const std::string_view name = change.kind == 'c' ? "code" : change.kind == 'd' ? "driver" : "toolkit";
    const bool narrow =
        x - std::max({last.try_emplace('c', -1e9).first->second, last.try_emplace('d', -1e9).first->second,
                      last.try_emplace('t', -1e9).first->second}) <
        46;
    out += Text(x, kTop - 6, narrow ? name.substr(0, 1) : name, x > kPanelWidth - 40 ? "end" : "middle", "label");
    last[change.kind] = x;
  }
  return out;
}

std::string Nights(const Panel& panel, const Axes& axes) {
  std::string out, line, above, below;
  for (const PanelNight& night : panel.nights) {
    const double x = axes.X(night.time);
    line += fmt::format("{}{:.1f},{:.1f}", line.empty() ? "M" : " L", x, axes.Y(night.us));
    above += fmt::format("{}{:.1f},{:.1f}", above.empty() ? "M" : " L", x, axes.Y(night.high));
    below.insert(0, fmt::format(" L{:.1f},{:.1f}", x, axes.Y(night.low)));
  }
  if (panel.nights.size() > 1) {
    out += fmt::format("<path d=\"{}{} Z\" class=\"band\"/>\n<path d=\"{}\" class=\"line\"/>\n", above, below, line);
  }
  const double radius = panel.nights.size() > 120 ? 1.6 : panel.nights.size() > 40 ? 2.4 : 3.4;
  for (const PanelNight& night : panel.nights)
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" class=\"{}\">{}</circle>\n",
                       axes.X(night.time), axes.Y(night.us), night.slower ? radius + 0.8 : radius,
                       night.slower ? "bad" : "plain", Title(night.label));
  return out;
}

std::string MachineOf(const HistoryKey& key) {
  if (core::IsSimulated(key.device)) return key.chip + " (simulated)";
  return key.chip + ", " + key.device.substr(0, 12);
}

// What changed between two consecutive runs.
void AddChanges(const CaseTime& before, const CaseTime& now, Panel& panel) {
  const int64_t time = Seconds(now.time);
  if (before.slice != now.slice)
    panel.changes.push_back(
        {time, 'c', fmt::format("code changed: {} -> {}", before.commit.substr(0, 12), now.commit.substr(0, 12))});
  if (before.key.driver != now.key.driver)
    panel.changes.push_back({time, 'd', fmt::format("driver {} -> {}", before.key.driver, now.key.driver)});
  if (before.key.toolkit != now.key.toolkit)
    panel.changes.push_back({time, 't', fmt::format("toolkit {} -> {}", before.key.toolkit, now.key.toolkit)});
}

void AddRegressions(const History& history, const HistoryKey& key, Panel& panel) {
  std::map<std::string, size_t> open;
  for (const Finding& finding : history.findings) {
    if (!finding.key.SameMachine(key)) continue;
    if (!finding.case_name.empty() && finding.case_name != panel.case_name) continue;
    const bool ends = finding.state == FindingState::kRecovered || finding.state == FindingState::kAccepted;
    const auto found = open.find(finding.id);
    if (ends && found != open.end()) {
      panel.regressions[found->second].to = Seconds(finding.time);
      panel.regressions[found->second].title +=
          fmt::format(" ({} {})", Name(finding.state), finding.time.substr(0, 10));
      open.erase(found);
    } else if (!ends && found == open.end()) {
      open[finding.id] = panel.regressions.size();
      panel.regressions.push_back({Seconds(finding.time), 0,
                                   fmt::format("+{:.0f} %", 100 * std::expm1(finding.log_ratio)),
                                   fmt::format("{}: {}", finding.time.substr(0, 10), finding.message)});
    }
  }
}

}  // namespace

std::vector<Panel> PanelsOf(const History& history) {
  struct Building {
    Panel panel;
    HistoryKey key;
    const CaseTime* last = nullptr;
  };
  std::vector<Building> building;
  std::map<std::string, bool> slower;  // by time
  for (const NightVerdict& night : history.nights)
    slower[night.time + night.key.device] = night.state == NightState::kSlower || night.state == NightState::kDrift;
  for (const CaseTime& time : history.cases) {
    if (time.reference || !(time.median_us > 0)) continue;
    auto found = std::find_if(building.begin(), building.end(), [&](const Building& b) {
      return b.key.SameMachine(time.key) && b.panel.case_name == time.case_name;
    });
    if (found == building.end()) {
      building.push_back({{.machine = MachineOf(time.key), .case_name = time.case_name, .modelled = time.modelled},
                          time.key,
                          nullptr});
      found = building.end() - 1;
    }
    const double spread = std::min(kInterval * time.log_error, 1.0);
    PanelNight night{.time = Seconds(time.time),
                     .us = time.median_us,
                     .low = time.median_us * std::exp(-spread),
                     .high = time.median_us * std::exp(spread),
                     .slower = slower[time.time + time.key.device]};
    night.label =
        fmt::format("{}: {}{}, commit {}", time.time.substr(0, 10), report::FormatMicroseconds(time.median_us),
                    spread > 0 ? fmt::format(" ± {:.2g} %", 100 * std::expm1(spread)) : "", time.commit.substr(0, 12));
    if (found->last != nullptr) AddChanges(*found->last, time, found->panel);
    found->panel.nights.push_back(std::move(night));
    found->last = &time;
  }
  std::vector<Panel> panels;
  for (Building& one : building) {
    AddRegressions(history, one.key, one.panel);
    panels.push_back(std::move(one.panel));
  }
  std::stable_sort(panels.begin(), panels.end(), [](const Panel& a, const Panel& b) {
    return std::tie(a.modelled, a.machine) < std::tie(b.modelled, b.machine);
  });
  return panels;
}

std::string DrawPanel(const Panel& panel) {
  const Axes axes = AxesOf(panel);
  std::string out = Text(0, 15, panel.case_name, "start", "name", 48);
  out += Text(kPanelWidth - kRight, 15,
              report::FormatMicroseconds(panel.nights.back().us) + (panel.modelled ? " modelled" : ""), "end", "now");
  return out + Grid(axes) + Regressions(panel, axes) + Changes(panel, axes) + Nights(panel, axes);
}

}  // namespace warpwright::nights
