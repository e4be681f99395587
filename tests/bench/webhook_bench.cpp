// How fast webhooks are answered, and whether any is lost: the daemon's endpoints with its real store on disk in this
// process, a sender in another one, on loopback. Two threads take deliveries out of the store and checkpoint its log
// into its file, as the daemon does.
//
//   bench_webhook [RATE [SECONDS [FOLDER]]]     prints JSON
//
// Each request has a scheduled time, and its latency is measured from that time, so that a stall counts for every
// request that it delays. Each request uses its own connection, as with GitHub.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "service/endpoints.h"
#include "service/store.h"
#include "tests/support/http_exchange.h"

namespace warpwright {
namespace {

using std::chrono::steady_clock;

constexpr char kSecret[] = "a secret for the benchmark";
constexpr int kSenders = 8;
constexpr int kWarmUpSeconds = 3;

std::string DeliveryId(int64_t i) { return fmt::format("00000000-0000-4000-8000-{:012}", i); }
// About as long as the payload of a push of a few commits.
std::string Payload(int64_t i) {
  return fmt::format(
      R"({{"ref":"refs/heads/main","before":"{0:040}","after":"{1:040}","repository":{{"full_name":"acme/kernels"}},"padding":"{2}"}})",
      i, i + 1, std::string(8000, 'x'));
}

int64_t ResidentKib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::atoll(line.c_str() + 6);
  return 0;
}
double LoadAverage() {
  double loads[1] = {0};
  ::getloadavg(loads, 1);
  return loads[0];
}

// --- The sender

struct Outcome {
  std::vector<double> milliseconds;
  int64_t accepted = 0, failed = 0;
  double late_ms = 0;  // the worst delay of a sender before its own request, which is not the daemon's
};

void Send(int port, double rate, int64_t first, int64_t count, int sender, steady_clock::time_point begin,
          Outcome& out) {
  for (int64_t i = sender; i < count; i += kSenders) {
    const std::string request = testing::WebhookRequest(kSecret, DeliveryId(first + i), Payload(first + i));
    const auto due = begin + std::chrono::duration_cast<steady_clock::duration>(
                                 std::chrono::duration<double>(static_cast<double>(i) / rate));
    std::this_thread::sleep_until(due);
    out.late_ms = std::max(out.late_ms, std::chrono::duration<double, std::milli>(steady_clock::now() - due).count());
    const testing::HttpReply reply = testing::Exchange(port, request);
    out.milliseconds.push_back(std::chrono::duration<double, std::milli>(steady_clock::now() - due).count());
    (reply.status == 202 ? out.accepted : out.failed) += 1;
  }
}

int RunSender(int port, double rate, int64_t first, int64_t count) {
  std::vector<Outcome> outcomes(kSenders);
  {
    std::vector<std::jthread> threads;
    const auto begin = steady_clock::now() + std::chrono::milliseconds(50);
    for (int s = 0; s < kSenders; ++s)
      threads.emplace_back([&, s] { Send(port, rate, first, count, s, begin, outcomes[static_cast<size_t>(s)]); });
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
  return 0;
}

Result<nlohmann::json> StartSender(const std::string& self, int port, double rate, int64_t first, int64_t count,
                                   double seconds) {
  base::Command command;
  command.argv = {
      self, "--send", std::to_string(port), std::to_string(rate), std::to_string(first), std::to_string(count)};
  command.env = base::MinimalEnvironment();
  command.deadline = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000) + 60'000);
  WW_ASSIGN(const base::Completed done, base::Run(command));
  if (done.exit_code != 0) return Fail(ErrorCode::kIo, "the sender failed: " + done.err);
  return nlohmann::json::parse(done.out);
}

// --- The daemon's side

constexpr auto kCheckpointEvery = std::chrono::seconds(1);  // as in service/daemon.cpp

struct Drain {
  service::Store& store;
  std::atomic<int64_t> handled = 0;
  std::atomic<bool> stop = false;

  void Loop() {
    while (!stop) {
      const auto waiting = store.WaitingDeliveries(32, false);  // as Pipeline::TriageDeliveries
      if (!waiting || waiting->empty()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        continue;
      }
      std::vector<service::TriagedDelivery> sorted;
      for (const service::StoredDelivery& delivery : *waiting)
        sorted.push_back({delivery.id, static_cast<int64_t>(delivery.body.size()), "ignored"});
      if (store.TriageDeliveries(sorted)) handled += static_cast<int64_t>(sorted.size());
    }
  }
  void Checkpoints() {
    auto due = steady_clock::now();
    while (!stop) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (steady_clock::now() < due) continue;
      (void)store.Checkpoint();
      due = steady_clock::now() + kCheckpointEvery;
    }
  }
};

Result<nlohmann::json> Measure(const std::string& self, double rate, double seconds,
                               const std::filesystem::path& folder) {
  const base::SystemClock clock;
  WW_ASSIGN(const std::unique_ptr<service::Store> store, service::Store::Open(folder, clock));
  service::EndpointOptions options;
  options.webhooks = "127.0.0.1:0";
  options.status.clear();
  options.webhook_secret = kSecret;
  service::EndpointHooks hooks;
  hooks.accept = [&](const service::Delivery& d) { return store->RememberDelivery(d.id, d.event, d.body); };
  WW_ASSIGN(const std::unique_ptr<service::Endpoints> endpoints, service::Endpoints::Start(options, hooks));
  Drain drain{*store};
  std::jthread drainer([&] { drain.Loop(); }), checkpoints([&] { drain.Checkpoints(); });

  const auto warm_up = static_cast<int64_t>(rate * kWarmUpSeconds), count = static_cast<int64_t>(rate * seconds);
  const int64_t at_start = ResidentKib();
  WW_TRY(StartSender(self, endpoints->webhook_port(), rate, 0, warm_up, kWarmUpSeconds));
  const int64_t warm = ResidentKib();
  const double load_before = LoadAverage();
  WW_ASSIGN(nlohmann::json out, StartSender(self, endpoints->webhook_port(), rate, warm_up, count, seconds));
  const int64_t at_end = ResidentKib();
  for (int i = 0; i < 500 && drain.handled < warm_up + count; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  drain.stop = true;
  drainer.join();
  checkpoints.join();
  std::error_code no_log;
  const auto log_bytes = std::filesystem::file_size(folder / "daemon.sqlite-wal", no_log);
  int64_t lost = 0;
  for (int64_t i = 0; i < warm_up + count; ++i) {
    WW_ASSIGN(const bool fresh, store->RememberDelivery(DeliveryId(i), "push", "{}"));
    lost += fresh;
  }
  out["rate_per_second"] = rate;
  out["seconds"] = seconds;
  out["lost"] = lost;
  out["log_mib"] = no_log ? 0 : static_cast<double>(log_bytes) / (1 << 20);
  out["handled"] = drain.handled - warm_up;
  out["resident_kib"] = {{"start", at_start}, {"warm", warm}, {"end", at_end}};
  out["load_average"] = {{"before", load_before}, {"after", LoadAverage()}};
  out["cores"] = std::thread::hardware_concurrency();
  return out;
}

}  // namespace
}  // namespace warpwright

int main(int argc, char** argv) {
  using namespace warpwright;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 5 && arguments[0] == "--send")
    return RunSender(std::stoi(arguments[1]), std::stod(arguments[2]), std::stoll(arguments[3]),
                     std::stoll(arguments[4]));
  const double rate = !arguments.empty() ? std::stod(arguments[0]) : 500,
               seconds = arguments.size() > 1 ? std::stod(arguments[1]) : 60;
  auto temporary = base::TemporaryDirectory::Create("ww-webhooks");
  if (!temporary) {
    std::cerr << temporary.error().Format() << "\n";
    return 3;
  }
  const auto result = Measure(std::filesystem::read_symlink("/proc/self/exe"), rate, seconds,
                              arguments.size() > 2 ? std::filesystem::path(arguments[2]) : temporary->path());
  if (!result) {
    std::cerr << result.error().Format() << "\n";
    return 1;
  }
  std::cout << result->dump(2) << "\n";
  return 0;
}
