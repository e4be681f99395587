// A number with its unit as people read it: the same figure looks the same in every sentence and table.
#pragma once

#include <string>
#include <string_view>

namespace warpwright::core {

// Three significant digits and never an exponent: "0.379 %", "97.0 %", "4 sectors", "3,276,800", "1.02 billion". Whole
// numbers up to six digits are given in full. Units that only say what kind of number it is (count, ratio) are left
// out. Bytes from 100,000 on are in kB, MB, GB or TB, powers of ten.
std::string FormatQuantity(double value, std::string_view unit = {});
// "3.42x", "12.0x": a gain, wherever it stands.
std::string FormatGain(double gain);
// The unit of an evidence field; of a counter "bytes" or "".
std::string_view UnitOf(std::string_view name);

}  // namespace warpwright::core
