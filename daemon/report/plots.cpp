#include "report/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/utf8.h"
#include "report/format.h"
#include "report/markdown.h"

namespace warpwright::report {
namespace {

constexpr double kWidth = 560, kHeight = 280, kLeft = 56, kRight = 16, kTop = 16, kBottom = 44;
constexpr double kCharacter = 7.6;  // of a label: at most, in the mean

std::string Open(double width, double height, std::string_view title, std::string_view css = "plot") {
  return fmt::format(
      "<svg class=\"{}\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\"><title>{}</title>\n", css, width,
      height, EscapeHtml(title), EscapeHtml(title));
}
std::string Text(double x, double y, std::string_view text, std::string_view anchor = "middle",
                 std::string_view css = "label") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, y, anchor, css,
                     EscapeHtml(text, 120));
}
std::string Line(double x1, double y1, double x2, double y2, std::string_view css) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2,
                     css);
}
std::string Dot(double x, double y, double radius, std::string_view css, std::string_view title) {
  return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" class=\"{}\"><title>{}</title></circle>\n", x, y,
                     radius, css, EscapeHtml(title));
}

// A logarithmic axis over whole decades.
struct LogAxis {
  double low, high, from, to;
  LogAxis(double smallest, double largest, double from_, double to_)
      : low(std::floor(std::log10(smallest))),
        high(std::max(std::ceil(std::log10(largest)), low + 1)),
        from(from_),
        to(to_) {}
  double At(double value) const { return from + (std::log10(value) - low) / (high - low) * (to - from); }
};

// "0.01", "10", "100k", "1M": short, so that the labels of two axes do not meet.
std::string Decade(double exponent) {
  const double value = std::pow(10.0, exponent);
  if (value >= 1e9) return fmt::format("1e{:.0f}", exponent);
  if (value >= 1e6) return fmt::format("{:.0f}M", value / 1e6);
  return value >= 1e3 ? fmt::format("{:.0f}k", value / 1e3) : fmt::format("{:g}", value);
}

// 1, 2 or 5 times a power of ten, at most eight times up to the top.
double TickStep(double top) {
  constexpr double kMostTicks = 8;
  const double power = std::pow(10.0, std::floor(std::log10(top / kMostTicks)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (top <= kMostTicks * factor * power) return factor * power;
  return 10 * power;
}

std::string_view DotClass(const AttemptRow& attempt) {
  if (attempt.accepted) return "good";
  if (attempt.gain) return "plain";
  return attempt.outcome == AttemptOutcome::kNotApplicable ? "neutral" : "bad";
}

}  // namespace

std::string GainPlot(const Explanation& e) {
  double largest = 1.0;
  for (const auto& attempt : e.attempts) largest = std::max(largest, attempt.gain.value_or(0));
  const double top = std::max(1.5, largest * 1.1);
  const size_t count = std::max<size_t>(e.attempts.size(), 1);
  const auto x = [&](double i) { return kLeft + (i + 0.5) * (kWidth - kLeft - kRight) / static_cast<double>(count); };
  const auto y = [&](double gain) { return kHeight - kBottom - gain / top * (kHeight - kTop - kBottom); };

  std::string svg = Open(kWidth, kHeight, "Gain over the original by attempt");
  const double step = TickStep(top);
  for (double tick = 0; tick <= top; tick += step) {
    svg += Line(kLeft, y(tick), kWidth - kRight, y(tick), tick == 0 ? "axis" : "grid");
    svg += Text(kLeft - 8, y(tick) + 4, fmt::format("{:g}x", tick), "end");
  }
  svg += Line(kLeft, y(1), kWidth - kRight, y(1), "original");
  double base = 1;
  std::string path = fmt::format("M{:.1f},{:.1f}", kLeft, y(1));
  int round = -1;
  double labelled = -1e9;  // where the last round label ends: labels that would touch are omitted
  for (size_t i = 0; i < e.attempts.size(); ++i) {
    const auto& attempt = e.attempts[i];
    const double here = x(static_cast<double>(i));
    if (attempt.round != round) {
      round = attempt.round;
      const std::string label = round == kNoRound ? "not applicable"
                                : round == 0      ? "experience"
                                                  : fmt::format("round {}", round);
      const double half = kCharacter * static_cast<double>(label.size()) / 2;
      if (here - half > labelled) {
        svg += Text(here, kHeight - kBottom + 18, label);
        labelled = here + half + kCharacter;
      }
    }
    if (attempt.accepted) {
      path += fmt::format(" L{:.1f},{:.1f}", here, y(base));
      base = attempt.gain.value_or(base);
      path += fmt::format(" L{:.1f},{:.1f}", here, y(base));
    }
    svg += Dot(here, y(attempt.gain.value_or(0)), 5, DotClass(attempt),
               fmt::format("{} {}: {}", attempt.method, attempt.parameters,
                           attempt.gain ? FormatGain(*attempt.gain) : VerdictWords(attempt)));
  }
  path += fmt::format(" L{:.1f},{:.1f}", kWidth - kRight, y(base));
  svg += fmt::format("<path d=\"{}\" class=\"base\"/>\n", path);
  return svg + "</svg>\n";
}

std::string RooflinePlot(const Explanation& e) {
  if (!e.point_before || !e.point_after || e.peak_gflops <= 0 || e.peak_gbytes <= 0) return {};
  const auto positive = [](double v) { return std::max(v, 1e-3); };
  const double ridge = e.peak_gflops / e.peak_gbytes;
  const double left = std::min({positive(e.point_before->intensity), positive(e.point_after->intensity), ridge}) / 3;
  const double right = std::max({e.point_before->intensity, e.point_after->intensity, ridge}) * 3;
  const double low =
      std::min({positive(e.point_before->gflops), positive(e.point_after->gflops), left * e.peak_gbytes}) / 2;
  const LogAxis xs(left, right, kLeft, kWidth - kRight), ys(low, e.peak_gflops * 1.5, kHeight - kBottom, kTop);

  std::string svg = Open(kWidth, kHeight, "Roofline before and after");
  for (double d = xs.low; d <= xs.high; ++d) {
    svg += Line(xs.At(std::pow(10, d)), kTop, xs.At(std::pow(10, d)), kHeight - kBottom, "grid");
    svg += Text(xs.At(std::pow(10, d)), kHeight - kBottom + 20, Decade(d));
  }
  for (double d = ys.low; d <= ys.high; ++d) {
    svg += Line(kLeft, ys.At(std::pow(10, d)), kWidth - kRight, ys.At(std::pow(10, d)), "grid");
    svg += Text(kLeft - 8, ys.At(std::pow(10, d)) + 4, Decade(d), "end");
  }
  const double x_low = std::pow(10, xs.low), x_high = std::pow(10, xs.high);
  const double roof_left = std::max(x_low * e.peak_gbytes, std::pow(10, ys.low));
  svg += Line(xs.At(roof_left / e.peak_gbytes), ys.At(roof_left), xs.At(ridge), ys.At(e.peak_gflops), "roof");
  svg += Line(xs.At(ridge), ys.At(e.peak_gflops), xs.At(x_high), ys.At(e.peak_gflops), "roof");
  const auto point = [&](const RooflinePoint& p, std::string_view css, std::string_view name, double dx) {
    const double px = xs.At(positive(p.intensity)), py = ys.At(positive(p.gflops));
    return Dot(px, py, 6, css, fmt::format("{}: {:.3g} FLOP/byte, {:.4g} GFLOP/s", name, p.intensity, p.gflops)) +
           Text(px + dx, py + 4, name, dx > 0 ? "start" : "end");
  };
  // Each on its outer side, so that they do not meet between two points that are close.
  const double side = e.point_after->intensity < e.point_before->intensity ? 10 : -10;
  svg += point(*e.point_before, "bad", "before", side);
  svg += point(*e.point_after, "good", "after", -side);
  svg += Text((kLeft + kWidth - kRight) / 2, kHeight - 8, "FLOP per DRAM byte");
  svg += fmt::format(
      "<text x=\"14\" y=\"{:.1f}\" transform=\"rotate(-90 14 {:.1f})\" text-anchor=\"middle\" "
      "class=\"label\">GFLOP/s</text>\n",
      kHeight / 2, kHeight / 2);
  return svg + "</svg>\n";
}

std::string AttemptTree(const Explanation& e) {
  constexpr double kRow = 26, kIndent = 22, kTreeWidth = 960;
  std::map<std::string, std::vector<size_t>> children;
  for (size_t i = 0; i < e.attempts.size(); ++i) children[e.attempts[i].parent].push_back(i);

  std::string body;
  double row = 1;
  std::vector<bool> shown(e.attempts.size(), false);
  const std::function<void(const std::string&, int, double)> walk = [&](const std::string& parent, int depth,
                                                                        double parent_y) {
    const auto found = children.find(parent);
    if (found == children.end()) return;
    for (const size_t i : found->second) {
      if (shown[i]) continue;
      shown[i] = true;
      const auto& attempt = e.attempts[i];
      const double x = 16 + depth * kIndent, y = 16 + row++ * kRow;
      body += Line(x - kIndent, parent_y + 6, x - kIndent, y, "edge") + Line(x - kIndent, y, x - 6, y, "edge");
      body += Dot(x, y, 5, DotClass(attempt), attempt.message);
      std::string label = attempt.method + (attempt.parameters.empty() ? "" : " (" + attempt.parameters + ")") + ": ";
      label += attempt.gain ? FormatGain(*attempt.gain) + (attempt.accepted ? ", new base" : "")
                            : VerdictWords(attempt) + (attempt.message.empty() ? "" : ": " + attempt.message);
      // What does not fit is in the table.
      const auto room = static_cast<size_t>(std::max(20.0, (kTreeWidth - x - 12) / kCharacter));
      if (base::CodePoints(label) > room) label = std::string(base::CutAtCharacter(label, room - 1)) + "…";
      body += Text(x + 12, y + 4, label, "start", attempt.accepted ? "label strong" : "label");
      if (!attempt.id.empty()) walk(attempt.id, depth + 1, y);
    }
  };
  const std::string root = e.original_hash.substr(0, 10);
  walk(root, 1, 16);
  const double height = 16 + row * kRow;
  return Open(kTreeWidth, height, "Attempts", "tree") + Dot(16, 16, 6, "plain", "the original") +
         Text(28, 20, "original", "start", "label strong") + body + "</svg>\n";
}

}  // namespace warpwright::report
