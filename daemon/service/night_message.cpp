#include "service/night_message.h"

#include <algorithm>

namespace warpwright::service {

std::pair<std::string, std::vector<std::string>> NightLines(const std::string& message) {
  std::vector<std::string> lines;
  const size_t first = std::min(message.find('\n'), message.size());
  for (size_t at = first; at < message.size();) {
    const size_t end = std::min(message.find('\n', at + 1), message.size());
    if (end > at + 1) lines.push_back(message.substr(at + 1, end - at - 1));
    at = end;
  }
  return {message.substr(0, first), std::move(lines)};
}

}  // namespace warpwright::service
