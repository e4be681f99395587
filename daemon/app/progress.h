// What a use case reports while it works; cli/ shows it. Results are returned, not reported here.
#pragma once

#include <functional>
#include <string>

namespace warpwright::app {

struct ProgressCallbacks {
  std::function<void(const std::string&)> step = [](const std::string&) {};  // begins; the next one replaces it
  std::function<void(const std::string&)> line = [](const std::string&) {};  // permanent
  std::function<void()> finish = [] {};                                      // no step is in progress
};

}  // namespace warpwright::app
