#include "report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warpwright::report {
namespace {

// Three significant digits, never an exponent in values that readers compare.
std::string ThreeDigits(double value) {
  const double size = std::fabs(value);
  return size >= 99.95   ? fmt::format("{:.0f}", value)
         : size >= 9.995 ? fmt::format("{:.1f}", value)
                         : fmt::format("{:.2f}", value);
}

}  // namespace

std::string FormatMicroseconds(double us) {
  if (us >= 1e6) return ThreeDigits(us / 1e6) + " s";
  if (us >= 1e4) return ThreeDigits(us / 1e3) + " ms";
  return ThreeDigits(us) + " µs";
}

std::string FormatNumber(double value) {
  if (value == 0) return "0";
  if (value >= 1e9) return fmt::format("{:.2f} G", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.2f} M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:.1f} k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

std::string FormatChange(double before, double after) {
  if (before == 0 || after == before) return "";
  const double factor = after / before;
  if (factor == 0) return "gone";
  if (factor >= 2) return fmt::format("× {:.3g}", factor);
  if (factor <= 0.1) return fmt::format("÷ {:.3g}", 1 / factor);
  return fmt::format("{:+.0f} %", 100 * (factor - 1));
}

std::optional<bool> BitIdentical(const Explanation& e) {
  std::optional<bool> identical;
  for (const auto& row : e.cases)
    for (const auto& error : row.errors) identical = identical.value_or(true) && error.identical;
  return identical;
}

std::string FormatError(double error) { return error == 0 ? "0" : fmt::format("{:.2g}", error); }

std::string FormatInterval(const GainInterval& interval) {
  return FormatGain(interval.low) + " to " + FormatGain(interval.high);
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
  if (field.ends_with("_pct")) field.remove_suffix(4);
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

std::string Plural(int count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, many);
}

}  // namespace warpwright::report
