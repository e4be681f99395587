// The daemon, killed at random moments of the whole way from a push to its pull request, and what remains of it. Used
// by a test (few kills) and by tests/bench/kill_bench.cpp (many).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tests/support/github_stand_in/daemon_kit.h"

namespace warpwright {

struct KillOptions {
  DaemonKitOptions kit;
  int kills = 200;
  uint64_t seed = 1;
  // The maximum lifetime of a daemon; drawn uniformly. A cycle without kills takes about as long as the longest life.
  std::chrono::milliseconds longest_life{6'000};
  std::chrono::seconds patience{300};  // for one version, including all its kills; lives get longer towards the end
  std::function<void(const std::string&)> progress;
};

// {"kills", "versions", "killed_in": {state of the job: times}, "seconds", "evaluations_repeated", "wrong": [...]}.
// `wrong` names all that is missing, duplicated or left over.
nlohmann::json RunKills(const KillOptions& options);

}  // namespace warpwright
