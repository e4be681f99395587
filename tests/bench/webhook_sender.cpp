// Sends webhooks at a rate and says how long the answers took. Part of load_bench.py and soak_bench.py.
//
//   bench_webhook_sender PORT RATE FIRST COUNT SECRET REPOSITORY...     prints JSON
//
// Each request has a scheduled time, and its latency is measured from that time, so that a stall counts for every
// request that it delays. Each request uses its own connection, as with GitHub, and is about as long as the payload of
// a push of a few commits; they name the repositories in turn.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/http_exchange.h"

namespace warpwright {
namespace {

using std::chrono::steady_clock;

constexpr int kSenders = 8;

struct Load {
  int port = 0;
  double rate = 0;
  int64_t first = 0, count = 0;
  std::string secret;
  std::vector<std::string> repositories;
};

std::string DeliveryId(int64_t i) { return fmt::format("00000000-0000-4000-8000-{:012}", i); }
std::string Payload(const Load& load, int64_t i) {
  return fmt::format(
      R"({{"ref":"refs/heads/main","before":"{0:040}","after":"{1:040}","repository":{{"full_name":"{2}"}},"padding":"{3}"}})",
      i, i + 1, load.repositories[static_cast<size_t>(i) % load.repositories.size()], std::string(8000, 'x'));
}

struct Outcome {
  std::vector<double> milliseconds;
  int64_t accepted = 0, failed = 0;
  double late_ms = 0;  // the worst delay of a sender before its own request, which is not the daemon's
};

void Send(const Load& load, int sender, steady_clock::time_point begin, Outcome& out) {
  for (int64_t i = sender; i < load.count; i += kSenders) {
    const std::string request =
        testing::WebhookRequest(load.secret, DeliveryId(load.first + i), Payload(load, load.first + i));
    const auto due = begin + std::chrono::duration_cast<steady_clock::duration>(
                                 std::chrono::duration<double>(static_cast<double>(i) / load.rate));
    std::this_thread::sleep_until(due);
    out.late_ms = std::max(out.late_ms, std::chrono::duration<double, std::milli>(steady_clock::now() - due).count());
    const testing::HttpReply reply = testing::Exchange(load.port, request);
    out.milliseconds.push_back(std::chrono::duration<double, std::milli>(steady_clock::now() - due).count());
    (reply.status == 202 ? out.accepted : out.failed) += 1;
  }
}

void RunSender(const Load& load) {
  std::vector<Outcome> outcomes(kSenders);
  {
    std::vector<std::jthread> threads;
    const auto begin = steady_clock::now() + std::chrono::milliseconds(50);
    for (int s = 0; s < kSenders; ++s)
      threads.emplace_back([&, s] { Send(load, s, begin, outcomes[static_cast<size_t>(s)]); });
  }
  std::vector<double> all;
  int64_t accepted = 0, failed = 0;
  double late = 0;
  for (const Outcome& o : outcomes) {
    all.insert(all.end(), o.milliseconds.begin(), o.milliseconds.end());
    accepted += o.accepted;
    failed += o.failed;
    late = std::max(late, o.late_ms);
  }
  std::sort(all.begin(), all.end());
  const auto at = [&](double share) {
    return all.empty() ? 0
                       : all[std::min(all.size() - 1, static_cast<size_t>(share * static_cast<double>(all.size())))];
  };
  std::cout << nlohmann::json{
      {"sent", all.size()},
      {"accepted", accepted},
      {"failed", failed},
      {"sender_latest_ms", late},
      {"answer_ms", {{"p50", at(0.5)}, {"p90", at(0.9)}, {"p99", at(0.99)}, {"p999", at(0.999)}, {"max", at(1)}}}};
}

}  // namespace
}  // namespace warpwright

int main(int argc, char** argv) {
  using namespace warpwright;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 6) {
    std::cerr << "usage: bench_webhook_sender PORT RATE FIRST COUNT SECRET REPOSITORY...\n";
    return 2;
  }
  RunSender({.port = std::stoi(arguments[0]),
             .rate = std::stod(arguments[1]),
             .first = std::stoll(arguments[2]),
             .count = std::stoll(arguments[3]),
             .secret = arguments[4],
             .repositories = {arguments.begin() + 5, arguments.end()}});
  return 0;
}
