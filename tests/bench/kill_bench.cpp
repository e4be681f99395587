// Kills of the daemon at random moments on the whole way from a push to its pull request.
//
//   bench_kill [KILLS [SEED]]         200 and 1
//
// The real programs on the stand-in for GitHub (tests/support/github_stand_in). A person changes the kernel and pushes;
// the daemon is killed with SIGKILL after a random time, started again, and so on until the pull request, the check and
// the branch of this version are there; then the next version is pushed. At the end everything is counted by the
// stand-in: what is missing, and what is there twice. Prints one JSON object; 1 where something is missing or doubled.
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
