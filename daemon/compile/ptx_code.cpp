#include "compile/ptx_code.h"

#include <algorithm>

#include "base/lines.h"

namespace warpwright::compile {
namespace {

// A line that declares a variable of the module which nothing else names: the toolkit's headers leave some.
bool IsUnusedVariable(std::string_view line, std::string_view code) {
  if (!line.starts_with(".global ") && !line.starts_with(".const ") && !line.starts_with(".visible .global "))
    return false;
  const size_t end = line.find_first_of("[;=");
  if (end == std::string_view::npos) return false;
  std::string_view name = line.substr(0, end);
  while (name.ends_with(' ')) name.remove_suffix(1);
  name = name.substr(name.rfind(' ') + 1);
  const size_t first = code.find(name);
  return first != std::string_view::npos && code.find(name, first + name.size()) == std::string_view::npos;
}

}  // namespace

std::string CodeOf(std::string_view ptx) {
  constexpr size_t kDigest = 8;
  const size_t size = ptx.find(".address_size");
  if (size != std::string_view::npos) ptx.remove_prefix(size);
  std::string code;
  bool in_section = false;
  for (std::string_view rest = ptx; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    in_section = in_section || base::Trimmed(line).starts_with(".section");
    if (!in_section && !IsUnusedVariable(line, ptx)) code.append(line).append("\n");
    if (in_section && base::Trimmed(line) == "}") in_section = false;
  }
  for (size_t at = code.find('_'); at != std::string::npos; at = code.find('_', at + 1)) {
    const size_t end = code.find_first_not_of("0123456789abcdef", at + 1);
    if (end == at + 1 + kDigest && end < code.size() && code[end] == '_') code.replace(at + 1, kDigest, kDigest, '0');
  }
  return code;
}

}  // namespace warpwright::compile
