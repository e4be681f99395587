// Whether verdicts depend on luck: every pair of tests/support/kernel_pairs.h is judged with so many seeds.
//   bench_seeds [--json] [--seeds N] [--truth form|shadow] [--pair PART OF A NAME]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/kernel_pairs.h"

namespace {

using namespace warpwright;
namespace pairs = warpwright::testing;
using nlohmann::json;

struct Options {
  bool print_json = false;
  uint64_t seeds = 50;
  std::string truth, pair;
};

json Judged(const pairs::KernelPair& pair, pairs::Truth truth, const Options& options, int& mistakes) {
  json row = {{"pair", pair.name}, {"honest", pair.honest}, {"passed", 0}, {"refused", 0}};
  for (uint64_t seed = 1; seed <= options.seeds; ++seed) {
    const auto judged = pairs::JudgePair(pair, truth, seed);
    const bool passed = judged && core::Passed(judged->verdict);
    row[passed ? "passed" : "refused"] = row[passed ? "passed" : "refused"].get<int>() + 1;
    if (judged && passed == pair.honest) continue;
    ++mistakes;
    const std::string message = judged ? core::VerdictMessage(judged->verdict) : judged.error().message;
    row["mistakes"].push_back("seed " + std::to_string(seed) + ": " + message);
  }
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--json") options.print_json = true;
    else if (option == "--seeds" && i + 1 < argc) options.seeds = std::strtoull(argv[++i], nullptr, 10);
    else if (option == "--truth" && i + 1 < argc) options.truth = argv[++i];
    else if (option == "--pair" && i + 1 < argc) options.pair = argv[++i];
    else return std::fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  }
  json result = {{"seeds", options.seeds}};
  int mistakes = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& [truth, name] : {std::pair{pairs::Truth::kForm, "form"}, {pairs::Truth::kShadow, "shadow"}}) {
    if (!options.truth.empty() && options.truth != name) continue;
    for (const pairs::KernelPair& pair : pairs::KernelPairs()) {
      if (pair.name.find(options.pair) == std::string::npos) continue;
      if (pair.needs_form && truth != pairs::Truth::kForm) continue;
      json row = Judged(pair, truth, options, mistakes);
      if (!options.print_json) std::printf("%s %s\n", name, row.dump().c_str());
      std::fflush(stdout);
      result[name].push_back(std::move(row));
    }
  }
  result["mistakes"] = mistakes;
  result["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (options.print_json) std::printf("%s\n", result.dump(1).c_str());
  else std::printf("%d mistakes\n", mistakes);
  return mistakes == 0 ? 0 : 1;
}
