#include "tests/support/github_stand_in/kill_run.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "tests/support/github_stand_in/git_backend.h"

namespace warpwright {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr char kBranch[] = "warpwright/row_sum";

class KillRun {
 public:
  explicit KillRun(const KillOptions& options) : options_(options), kit_(options.kit), random_(options.seed) {}

  json All() {
    const auto begin = steady_clock::now();
    kit_.Start();
    while (kills_ < options_.kills && wrong_.empty()) Version();
    Settle();
    CountEverything();
    return {{"kills", kills_},
            {"versions", version_},
            {"killed_in", killed_in_},
            {"requests", kit_.hub().Log().size()},
            {"seconds", std::chrono::duration<double>(steady_clock::now() - begin).count()},
            {"wrong", wrong_}};
  }

 private:
  json Dump() { return kit_.hub().Dump(DaemonKit::kRepository); }
  // The version's check exists and reports how it ended; everything before it has then been done.
  bool Arrived(const std::string& commit) {
    const json dump = Dump();
    for (const json& check : dump.at("checks"))
      if (check.at("head_sha") == commit && check.at("status") == "completed") return true;
    return false;
  }
  std::string StateNow() const {
    const json snapshot = kit_.Snapshot();
    if (!snapshot.is_object()) return "starting";
    for (const json& job : snapshot.at("jobs"))
      if (job.at("state") != "done") return job.at("state");
    return "watching";
  }
  void KillSoon() {
    const auto life = milliseconds(std::uniform_int_distribution<int64_t>(0, options_.longest_life.count())(random_));
    std::this_thread::sleep_for(life);  // the moment is random
    ++killed_in_[StateNow()];
    kit_.Kill();
    ++kills_;
    if (!kit_.Wait([&] { return kit_.Leftovers().empty(); }, std::chrono::seconds(10)))
      wrong_.push_back("children outlive the daemon: " + kit_.Leftovers().front());
    kit_.Start(false);
  }
  void Version() {
    kit_.ChangeKernel(++version_);
    const std::string commit = kit_.CommitAndPush(fmt::format("version {}", version_));
    commits_.push_back(commit);
    const auto until = steady_clock::now() + options_.patience;
    // At most eight kills for a version: then it may finish, so that many versions complete the whole way.
    for (int here = 0; here < 8 && kills_ < options_.kills && !Arrived(commit); ++here) KillSoon();
    while (!Arrived(commit)) {
      if (steady_clock::now() > until) {
        wrong_.push_back(fmt::format("version {} ({}) did not arrive", version_, commit));
        if (options_.progress) options_.progress(kit_.log().substr(std::max<size_t>(kit_.log().size(), 5000) - 5000));
        return;
      }
      std::this_thread::sleep_for(milliseconds(50));
    }
    if (options_.progress) options_.progress(fmt::format("version {}: {} kills", version_, kills_));
  }
  void Settle() {
    if (!kit_.Wait([&] { return kit_.Idle(); })) wrong_.emplace_back("the daemon does not come to rest");
  }

  void CountEverything() {
    const json dump = Dump();
    const auto expect = [&](const char* what, size_t found, size_t expected) {
      if (found != expected) wrong_.push_back(fmt::format("{}: {} instead of {}", what, found, expected));
    };
    expect("pull requests", dump.at("pulls").size(), 1);
    expect("dashboards", dump.at("issues").size(), 1);
    expect("comments", dump.at("comments").size(), 0);
    for (const json& comment : dump.at("comments"))
      wrong_.push_back("comment: " + comment.at("body").get<std::string>());
    expect("commit statuses", dump.at("statuses").size(), 0);
    std::map<std::string, int> checks;
    for (const json& check : dump.at("checks")) ++checks[check.at("head_sha")];
    for (const std::string& commit : commits_)
      if (checks[commit] != 1) wrong_.push_back(fmt::format("{} checks of {}", checks[commit], commit));
    for (const json& check : dump.at("checks"))
      if (checks[check.at("head_sha")] != 1 || check.value("conclusion", "") != "success")
        wrong_.push_back("check: " + check.dump().substr(0, 600));
    expect("commits with checks", checks.size(), commits_.size());

    const auto refs = ReadRefs(kit_.hub().GitFolder(DaemonKit::kRepository));
    expect("branches", refs.size(), 2);
    if (!refs.contains(std::string("refs/heads/") + kBranch)) {
      wrong_.emplace_back("no branch");
      return;
    }
    const std::string tip = refs.at(std::string("refs/heads/") + kBranch);
    if (AskGit(kit_.hub().GitFolder(DaemonKit::kRepository), {"rev-parse", tip + "^"}) != commits_.back())
      wrong_.emplace_back("the branch is not upon the last version");
    if (dump.at("pulls").size() == 1 &&
        dump.at("pulls")[0].at("body").get<std::string>().find(commits_.back()) == std::string::npos)
      wrong_.emplace_back("the pull request does not speak of the last version");
    // Each version's result was pushed once: the same work has the same commit, and nothing was pushed twice.
    size_t pushes = 0;
    std::set<std::string> pushed;
    for (const Push& push : kit_.hub().Pushes())
      if (push.login == "warpwright[bot]") {
        ++pushes;
        if (push.ref != std::string("refs/heads/") + kBranch) wrong_.push_back("a push to " + push.ref);
        if (!pushed.insert(push.after).second) wrong_.push_back("pushed twice: " + push.after);
      }
    if (pushes != commits_.size()) wrong_.push_back(fmt::format("{} pushes for {} versions", pushes, commits_.size()));
    for (const std::string& violation : kit_.hub().Violations()) wrong_.push_back(violation);
  }

  const KillOptions& options_;
  DaemonKit kit_;
  std::mt19937_64 random_;
  int kills_ = 0, version_ = 0;
  std::vector<std::string> commits_, wrong_;
  std::map<std::string, int> killed_in_;
};

}  // namespace

json RunKills(const KillOptions& options) { return KillRun(options).All(); }

}  // namespace warpwright
