// The GitHub client while a share of all calls fails, and the queue with many jobs.
//
//   bench_fault [SHARE [ITEMS]]       0.3 and 60
//
// 1. The real client, over loopback, against the stand-in (tests/support/github_stand_in): 403, 422, 429, 502, timeouts
//    and broken connections for that share of the calls; half of the lost responses are lost after the act was done.
//    ITEMS kernels get a pull request, a check with 60 annotations and a reply to a comment; the dashboard is changed
//    after each. A verb that fails is called again, as the daemon does. The stand-in counts. The waits between writes
//    and after a limit are shortened (RetryRules), so that what is measured is what arrives, not how long GitHub asks
//    clients to wait.
// 2. 1,000 jobs through the store, in the daemon's steps, with a runner that does nothing.
//
// Prints one JSON object; exits with 1 if something is missing or duplicated.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/subprocess.h"
#include "forge/github_client.h"
#include "http/client.h"
#include "service/store.h"
#include "tests/support/github_stand_in/git_backend.h"
#include "tests/support/github_stand_in/github_stand_in.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using namespace std::chrono_literals;
using Instant = std::chrono::steady_clock::time_point;

const forge::RepositoryName kRepository{"acme", "kernels"};

double Seconds(Instant since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

template <typename T>
T Must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "{}\n", result.error().Format());
    std::exit(3);
  }
  return std::move(*result);
}
void Must(const Status& status) {
  if (status) return;
  fmt::print(stderr, "{}\n", status.error().Format());
  std::exit(3);
}

// main and one branch for each kernel, each with its own commit.
std::map<std::string, std::string> MakeBranches(const fs::path& bare, int count) {
  const fs::path work = bare.parent_path() / "work";
  fs::create_directories(work);
  AskGit(work, {"init", "-q", "-b", "main"});
  AskGit(work, {"config", "user.name", "T"});
  AskGit(work, {"config", "user.email", "t@example.org"});
  AskGit(work, {"commit", "-q", "--allow-empty", "-m", "main"});
  for (int i = 0; i < count; ++i) {
    AskGit(work, {"checkout", "-q", "-b", fmt::format("warpwright/k{}", i), "main"});
    AskGit(work, {"commit", "-q", "--allow-empty", "-m", fmt::format("k{}", i)});
  }
  AskGit(work, {"push", "-q", bare.string(), "--all"});
  return ReadRefs(bare);
}

struct Calls {
  int verbs = 0, repeated = 0, given_up = 0;
};
// Like the daemon: failures are retried later; what makes no sense is given up after five failures in a row.
template <typename Verb>
void Insist(Calls& calls, Verb&& verb) {
  ++calls.verbs;
  for (int nonsense = 0; nonsense < 5;) {
    const auto done = verb();
    if (done) return;
    ++calls.repeated;
    if (done.error().code == ErrorCode::kUnsupported) ++nonsense;
  }
  ++calls.given_up;
}

std::vector<std::string> Count(const json& dump, int items) {
  std::vector<std::string> wrong;
  std::map<std::string, int> open, checks, comments, annotations;
  for (const json& pull : dump.at("pulls"))
    if (pull.at("state") == "open") {
      const std::string head = pull.at("head").at("ref");
      ++open[head];
      if (pull.at("body") != "body 2 of " + head)
        wrong.push_back(fmt::format("{}: body {}", head, pull.at("body").dump()));
    }
  for (const json& check : dump.at("checks")) {
    ++checks[check.at("external_id")];
    std::set<std::string> notes;
    for (const json& note : check.at("output").at("annotations")) notes.insert(note.at("message"));
    if (notes.size() != 60 || check.at("output").at("annotations").size() != 60)
      wrong.push_back(fmt::format("{} has {} annotations", check.at("external_id").dump(),
                                  check.at("output").at("annotations").size()));
  }
  for (const json& comment : dump.at("comments")) ++comments[comment.at("body")];
  const auto expect = [&](const char* what, const std::map<std::string, int>& found) {
    if (static_cast<int>(found.size()) != items) wrong.push_back(fmt::format("{} {} of {}", found.size(), what, items));
    for (const auto& [name, times] : found)
      if (times != 1) wrong.push_back(fmt::format("{} {} times: {}", what, times, name));
  };
  expect("pull requests", open);
  expect("checks", checks);
  expect("comments", comments);
  if (dump.at("issues").size() != 1) wrong.push_back(fmt::format("{} dashboards", dump.at("issues").size()));
  else if (dump.at("issues")[0].at("body") != fmt::format("<!-- board --> {} of {}", items, items))
    wrong.emplace_back("the dashboard is not the last one");
  if (!dump.at("statuses").empty()) wrong.emplace_back("commit statuses instead of checks");
  return wrong;
}

// A label that GitHub refuses as invalid (422) is not requested again, by design: the pull request matters more.
int WithoutLabel(const json& dump) {
  int without = 0;
  for (const json& pull : dump.at("pulls")) without += pull.at("labels").empty();
  return without;
}

json BenchForge(double share, int items) {
  const auto root = Must(base::TemporaryDirectory::Create("ww-faults"));
  StandInOptions options;
  options.repositories = root.path() / "hub";
  options.rules = std::string(WW_SOURCE_DIR) + "/tests/support/github_stand_in/rules.json";
  options.between_writes = 0ms;
  options.hourly_limit = 10'000'000;
  options.faults.share = share;
  options.faults.retry_after_s = 0;
  options.faults.hang = 150ms;
  auto hub = Must(GithubStandIn::Start(options));
  Must(hub->AddRepository(kRepository.Full()));
  hub->AddToken("bot", "warpwright[bot]", true);
  const auto refs = MakeBranches(hub->GitFolder(kRepository.Full()), items);

  http::ClientOptions http_options;
  http_options.user_agent = "warpwright/bench";
  http_options.total_timeout = 100ms;
  auto http = Must(http::CurlClient::Create(http_options));
  const base::SystemClock clock;
  forge::GithubOptions github;
  github.api = hub->api();
  github.cache = root.path() / "etags";
  github.token = [](const forge::RepositoryName&) -> Result<std::string> { return std::string("bot"); };
  github.login = []() -> Result<std::string> { return std::string("warpwright[bot]"); };
  github.retry = {.attempts = 6,
                  .total = 5s,
                  .between_writes = 1ms,
                  .first_wait = 1ms,
                  .longest_wait = 5ms,
                  .secondary_wait = 5ms,
                  .longest_secondary_wait = 20ms};
  std::map<std::string, int> answers;
  github.observe = [&](const forge::GithubCall& call) {
    ++answers[call.status == 0 ? "none" : std::to_string(call.status)];
  };
  auto client = Must(forge::GithubClient::Create(github, *http, clock));

  const Instant begin = std::chrono::steady_clock::now();
  Calls calls;
  for (int i = 0; i < items; ++i) {
    const std::string head = fmt::format("warpwright/k{}", i), sha = refs.at("refs/heads/" + head);
    for (int version = 1; version <= 2; ++version)
      Insist(calls, [&] {
        return client->PutPullRequest(kRepository, {.head = head,
                                                    .base = "main",
                                                    .title = "title",
                                                    .body = fmt::format("body {} of {}", version, head),
                                                    .draft = true,
                                                    .labels = {"performance"}});
      });
    forge::CheckRequest check{.name = "warpwright / k",
                              .sha = sha,
                              .external_id = "job-" + std::to_string(i),
                              .conclusion = forge::Conclusion::kSuccess,
                              .title = "t",
                              .summary = "s"};
    for (int n = 0; n < 60; ++n) check.annotations.push_back({"k.cu", n + 1, n + 1, "", fmt::format("note {}", n)});
    Insist(calls, [&] { return client->PutCheck(kRepository, check); });
    const auto dump = hub->Dump(kRepository.Full());
    Insist(calls, [&] {
      return client->PutComment(
          kRepository, {dump.at("pulls").back().at("number").get<int64_t>(), fmt::format("<!-- answer {} --> done", i),
                        fmt::format("<!-- answer {} -->", i)});
    });
    Insist(calls, [&] {
      return client->PutDashboard(
          kRepository, {"warpwright", fmt::format("<!-- board --> {} of {}", i + 1, items), "<!-- board -->"});
    });
  }
  const double seconds = Seconds(begin);

  std::map<std::string, int> faults;
  int requests = 0, lost_but_done = 0;
  for (const LoggedRequest& entry : hub->Log()) {
    ++requests;
    if (entry.fault != Fault::kNone) ++faults[std::string(Name(entry.fault))];
    lost_but_done += entry.fault != Fault::kNone && entry.done && entry.method != "GET";
  }
  return {{"share", share},
          {"items", items},
          {"requests", requests},
          {"faults", faults},
          {"writes_done_whose_answer_was_lost", lost_but_done},
          {"answers", answers},
          {"verbs", calls.verbs},
          {"verbs_called_again", calls.repeated},
          {"verbs_given_up", calls.given_up},
          {"seconds", seconds},
          {"pull_requests_without_label", WithoutLabel(hub->Dump(kRepository.Full()))},
          {"wrong", Count(hub->Dump(kRepository.Full()), items)},
          {"violations", hub->Violations()}};
}

json BenchQueue(int jobs) {
  const auto root = Must(base::TemporaryDirectory::Create("ww-queue"));
  const base::SystemClock clock;
  service::StoreLimits limits;
  limits.queue = jobs;
  auto store = Must(service::Store::Open(root.path(), clock, limits));
  constexpr int kRepositories = 10;
  std::vector<service::NewJob> entries;
  for (int i = 0; i < jobs / kRepositories; ++i)
    entries.push_back({service::JobKind::kOptimize, fmt::format("k{}", i), "k.cu", "entry", fmt::format("{:064x}", i),
                       fmt::format("{:064x}", i)});
  const Instant begin = std::chrono::steady_clock::now();
  int queued = 0;
  for (int r = 0; r < kRepositories; ++r) {
    const std::string name = fmt::format("acme/r{}", r);
    Must(store->Watch(name, "/" + name));
    Must(store->RecordTips(name, {{"refs/heads/main", std::string(40, 'a')}}));
    Must(store->RecordTips(name, {{"refs/heads/main", std::string(40, 'b')}}));
    auto event = Must(store->NextEvent());
    if (!event) break;
    auto mine = entries;
    for (service::NewJob& job : mine) job.key += std::to_string(r);
    queued += Must(store->FinishEvent(*event, mine)).queued;
  }
  const double load_seconds = Seconds(begin);
  const Instant drain = std::chrono::steady_clock::now();
  int run = 0, done = 0;
  std::vector<std::string> order;
  while (auto job = Must(store->Lease("sim:h200"))) {
    order.push_back(job->repository);
    ++run;
    service::JobChange finished;
    finished.result = service::JobResult{.outcome = core::TaskOutcome::kUnchanged, .message = "nothing"};
    Must(store->Advance(job->id, service::JobState::kFinished, finished));
    while (auto next = Must(store->NextPublication())) {
      const bool reported = next->state == service::JobState::kReported;
      Must(store->Advance(next->id, reported ? service::JobState::kDone : service::JobState::kReported, {}));
      done += reported;
    }
  }
  const double drain_seconds = Seconds(drain);
  // Fairness: each repository is served once before one is served twice.
  int most_unfair = 0;
  std::map<std::string, int> served;
  for (const std::string& repository : order) {
    ++served[repository];
    int least = run;
    for (int r = 0; r < kRepositories; ++r) least = std::min(least, served[fmt::format("acme/r{}", r)]);
    most_unfair = std::max(most_unfair, served[repository] - least);
  }
  return {{"jobs", jobs},
          {"repositories", kRepositories},
          {"queued", queued},
          {"run", run},
          {"done", done},
          {"load_seconds", load_seconds},
          {"drain_seconds", drain_seconds},
          {"milliseconds_per_job", 1e3 * drain_seconds / std::max(1, run)},
          {"served_ahead_of_the_last_repository_at_most", most_unfair}};
}

}  // namespace
}  // namespace warpwright

int main(int count, char** values) {
  using namespace warpwright;
  const double share = count > 1 ? std::atof(values[1]) : 0.3;
  const int items = count > 2 ? std::atoi(values[2]) : 60;
  const json result = {{"command", fmt::format("build/tests/bench/bench_fault {} {}", share, items)},
                       {"forge", BenchForge(share, items)},
                       {"queue", BenchQueue(1000)}};
  fmt::print("{}\n", result.dump(1));
  const bool good = result["forge"]["wrong"].empty() && result["forge"]["violations"].empty() &&
                    result["forge"]["verbs_given_up"] == 0 && result["queue"]["done"] == 1000;
  return good ? 0 : 1;
}
