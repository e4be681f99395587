// A complete daemon without processes: a real store, real git repositories, a fake runner and a fake forge.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "service/pipeline.h"
#include "tests/support/fake_forge.h"
#include "tests/support/temp_repository.h"
#include "tests/unit/service/fake_clock.h"

namespace warpwright {

// Thrown at the point where the process must die.
struct Crash {};

// Entries are the .cu files of a commit; optimizing one adds a comment to it.
class FakeRunner final : public service::JobRunner {
 public:
  Result<std::vector<service::DetectedEntry>> Detect(const service::DetectRequest& request,
                                                     const service::ChildWatch& watch) override;
  Result<service::JobResult> Optimize(const service::RunRequest& request, const service::ChildWatch& watch) override;
  Result<service::NightResult> Night(const service::RunRequest& request, const service::ChildWatch& watch) override;

  std::map<std::string, core::TaskOutcome> outcomes;  // by kernel, or "carry kernel"; others: improved
  std::function<Status(const std::string&)> act;      // called before and after each action; may throw
  std::function<void(const service::RunRequest&, const service::ChildWatch&)> during;
  bool comments_count = true;  // false: lines that begin with "///" do not belong to an entry
  bool file_only_key = true;   // false: softmax also depends on common.h
  service::NightResult night;
  std::vector<std::string> runs;  // "softmax abc123 again"
};

class World {
 public:
  explicit World(config::Ceilings limits = {});
  // As after the death of the process: in-memory state is lost.
  void Restart();
  // Runs all pending work, step by step, until nothing is left or `rounds` are over; the clock advances by a second
  // each.
  void Drive(int rounds = 200);
  // A commit on the remote's main.
  std::string Push(const std::string& kernel, const std::string& content);
  void Deliver(const std::string& id, const std::string& event, const std::string& body);
  void Comment(int64_t id, const std::string& login, const std::string& text, int64_t issue = 7,
               bool on_pull_request = false, const std::string& delivery = {});
  std::string RemoteTip(const std::string& branch);  // empty: absent
  std::vector<std::string> Logged(const std::string& prefix) const;
  service::JobSnapshot Job(const std::string& kernel);  // the newest
  int point = 0, crash_at = 0;                          // of every action and transaction; 0: never

  base::TemporaryDirectory folder;
  TempRepository remote;
  FakeClock clock;
  FakeForge forge;
  FakeRunner runner;
  config::Ceilings limits;
  core::PullRequestPolicy policy;
  bool modelled = false;
  config::PublishTo publish = config::PublishTo::kPullRequest;
  std::unique_ptr<service::Store> store;
  std::unique_ptr<service::Pipeline> pipeline;
  static inline const std::string kName = "acme/kernels";

 private:
  void Tick();
};

}  // namespace warpwright
