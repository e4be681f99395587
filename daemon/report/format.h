// Numbers and short names in human-readable form.
#pragma once

#include <string>
#include <string_view>

#include "report/explanation.h"

namespace warpwright::report {

std::string FormatMicroseconds(double us);  // "61.1 µs", "5.42 ms": three digits
std::string FormatNumber(double value);     // "786.4 k"
std::string FormatChange(double before,
                         double after);  // "-88 %", "× 256", "÷ 26"; empty if there is no notable change
std::string FormatError(double error);   // "1.2e-07"
std::string FormatInterval(const GainInterval& interval);  // "1.58x to 1.70x"
std::string ChipName(const Explanation& explanation);      // "H200"
// Which roofline it is, as a sentence; with the share of the other one where they differ.
std::string RooflineOfFormula(const Explanation& explanation);
// "load_sectors_per_request" as "load sectors per request"; a trailing "_pct" is left to the unit.
std::string FieldWords(std::string_view field);
std::string Plural(int count, std::string_view one, std::string_view many = {});  // "1 round", "8 rounds"

}  // namespace warpwright::report
