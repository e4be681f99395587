// What a night's job says: a summary, and behind it a line for each kernel that became slower.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace warpwright::service {

std::pair<std::string, std::vector<std::string>> NightLines(const std::string& message);

}  // namespace warpwright::service
