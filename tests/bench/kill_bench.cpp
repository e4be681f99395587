// Kills of the daemon at random moments on the whole way from a push to its pull request.
//
//   bench_kill [KILLS [SEED]]         200 and 1
//
// The real programs against the stand-in for GitHub (tests/support/github_stand_in). A user changes the kernel and
// pushes; the daemon is killed with SIGKILL after a random time, restarted, and so on until the pull request, the check
// and the branch of this version exist; then the next version is pushed. At the end the stand-in counts everything:
// what is missing, and what exists twice. Prints one JSON object; exits with 1 if something is missing or duplicated.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "tests/support/github_stand_in/kill_run.h"

int main(int count, char** values) {
  using namespace warpwright;
  KillOptions options;
  options.kit.programs = std::string(WW_BINARY_DIR) + "/daemon/cli";
  options.kit.source = WW_SOURCE_DIR;
  options.kills = count > 1 ? std::atoi(values[1]) : 200;
  options.seed = count > 2 ? static_cast<uint64_t>(std::atoll(values[2])) : 1;
  options.progress = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  nlohmann::json result = RunKills(options);
  result["command"] = fmt::format("build/tests/bench/bench_kill {} {}", options.kills, options.seed);
  fmt::print("{}\n", result.dump(1));
  return result.at("wrong").empty() ? 0 : 1;
}
