#include "tests/unit/service/world.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/hash.h"

namespace warpwright {
namespace {

bool IsKernel(std::string_view path) { return path.ends_with(".cu"); }
// Without its comments.
std::optional<std::string> Meaning(const std::optional<std::string>& text) {
  std::string meaning;
  std::istringstream lines(text.value_or(""));
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("///")) meaning += line + "\n";
  return text ? std::optional(meaning) : std::nullopt;
}
std::string KernelOf(const std::string& file) { return file.substr(0, file.size() - 3); }

}  // namespace

Result<std::vector<service::DetectedEntry>> FakeRunner::Detect(const service::DetectRequest& request,
                                                               const service::ChildWatch&) {
  if (act) WW_TRY(act("detect"));
  WW_ASSIGN(const repo::Repository mirror, repo::Repository::Open(request.place.mirror));
  WW_ASSIGN(const auto files, mirror.List(request.to, IsKernel));
  std::vector<service::DetectedEntry> entries;
  for (const auto& file : files) {
    WW_ASSIGN(auto now, mirror.Read(request.to, file));
    if (!comments_count) now = Meaning(now);
    service::DetectedEntry entry;
    entry.job.kernel = entry.job.entry = KernelOf(file);
    entry.job.file = file;
    entry.job.key = base::Sha256(*now);
    entry.changed = true;
    if (!request.from.empty()) {
      WW_ASSIGN(auto then, mirror.Read(request.from, file));
      if (!comments_count) then = Meaning(then);
      entry.changed = then != now;
    }
    if (!file_only_key && file == "softmax.cu") {
      WW_ASSIGN(const auto header, mirror.Read(request.to, "common.h"));
      entry.job.key = base::Sha256(entry.job.key + header.value_or(""));
      entry.changed = true;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<service::JobResult> FakeRunner::Optimize(const service::RunRequest& request, const service::ChildWatch& watch) {
  if (act) WW_TRY(act("optimize"));
  runs.push_back(fmt::format("{}{} {}{}", request.carry.empty() ? "" : "carry ", request.kernel,
                             request.commit.substr(0, 6), request.again ? " again" : ""));
  if (watch.progress) watch.progress("round 1");
  if (during) during(request, watch);
  if (watch.stop != nullptr && *watch.stop) return Fail(ErrorCode::kTimeout, std::string(service::kInterrupted));
  service::JobResult result;
  const auto wanted = outcomes.find((request.carry.empty() ? "" : "carry ") + request.kernel);
  result.outcome = wanted == outcomes.end() ? core::TaskOutcome::kImproved : wanted->second;
  result.message = "because";
  result.modelled = false;
  result.trajectory_task = 1;
  result.rounds = 2;
  if (result.outcome == core::TaskOutcome::kImproved) {
    WW_ASSIGN(repo::Repository mirror, repo::Repository::Open(request.place.mirror));
    const std::string file = request.kernel + ".cu";
    WW_ASSIGN(const auto content, mirror.Read(request.commit, file));
    WW_ASSIGN(const auto author, repo::Signature::Parse(request.author));
    WW_ASSIGN(
        const auto published,
        mirror.Publish({"warpwright/" + request.kernel, request.commit, file, content.value_or("") + "// faster\n",
                        "perf: faster\n\n" + std::string(repo::Repository::kTrailer) + "\n", author}));
    result.branch = published.branch;
    result.branch_commit = published.commit;
    result.gain = 1.5;
  }
  if (act) WW_TRY(act("optimized"));
  return result;
}

Result<service::NightResult> FakeRunner::Night(const service::RunRequest& request, const service::ChildWatch&) {
  if (act) WW_TRY(act("night"));
  runs.push_back("night " + request.commit.substr(0, 6));
  return night;
}

namespace {

// Hundreds of worlds with durable writes to disk would take minutes; in memory, a dying process leaves the same state.
[[maybe_unused]] const bool in_memory = [] {
  std::error_code error;
  return std::getenv("TMPDIR") == nullptr && std::filesystem::exists("/dev/shm", error) &&
         ::access("/dev/shm", W_OK) == 0 && ::setenv("TMPDIR", "/dev/shm", 0) == 0;
}();

}  // namespace

// Three kernels and a first commit; every world begins with a copy.
static const TempRepository& FirstRemote() {
  static const TempRepository* const first = [] {
    static TempRepository made;
    for (const char* kernel : {"softmax", "gelu", "scan"})
      made.Write(std::string(kernel) + ".cu", std::string("// ") + kernel + "\n");
    made.Commit("first");
    return &made;
  }();
  return *first;
}

World::World(config::Ceilings ceilings)
    : folder(std::move(*base::TemporaryDirectory::Create("ww-world"))), remote(FirstRemote()), limits(ceilings) {
  policy.max_open = 10;
  policy.max_per_day = 20;
  forge.permissions = {{"maintainer", forge::Permission::kWrite}, {"stranger", forge::Permission::kRead}};
  forge.before = forge.after = [this](const std::string&) -> Status {
    Tick();
    return {};
  };
  runner.act = [this](const std::string&) -> Status {
    Tick();
    return {};
  };
  Restart();
  Drive();
}

void World::Tick() {
  if (++point == crash_at) throw Crash{};
}

void World::Restart() {
  pipeline.reset();
  store.reset();
  auto opened = service::Store::Open(folder.path() / "state", clock);
  ASSERT_TRUE(opened) << opened.error().Format();
  store = std::move(*opened);
  service::TrackedRepository place;
  place.name = kName;
  place.remote.url = remote.path().string();
  place.publish = publish;
  place.on_forge = forge::RepositoryName{"acme", "kernels"};
  place.folder = folder.path() / "state/repos/kernels";
  service::PipelineSettings settings{{place}, limits, {"sim:h200"}, "1.0"};
  service::PipelinePorts ports{*store, runner, clock, &forge, &forge, {}};
  ports.read_facts = [this](const service::TrackedRepository&,
                            const warpwright::service::Job& job) -> Result<service::JobFacts> {
    service::JobFacts facts;
    facts.explanation.kernel = job.what.kernel;
    facts.explanation.file = job.what.file;
    facts.explanation.entry = job.what.entry;
    facts.explanation.device = job.device;
    facts.explanation.chip_name = "NVIDIA H200";
    facts.explanation.modelled = modelled;
    facts.explanation.outcome = *job.result.outcome;
    facts.explanation.outcome_reason = job.result.message;
    facts.explanation.gain = job.result.gain;
    facts.explanation.base_commit = job.commit;
    facts.policy = policy;
    return facts;
  };
  pipeline = std::make_unique<service::Pipeline>(ports, settings);
  ASSERT_TRUE(pipeline->Apply(settings));
  store->OnCommit([this] { Tick(); });
}

void World::Drive(int rounds) {
  const std::atomic<bool> never{false};
  int quiet = 0;
  for (int i = 0; i < rounds && quiet < 3; ++i) {
    bool worked = false;
    const auto note = [&](const auto& done) {
      EXPECT_TRUE(done) << done.error().Format();
      return done;
    };
    if (const auto moved = note(pipeline->TriageDeliveries())) worked |= !moved->empty();
    if (const auto moved = note(pipeline->Poll(kName))) worked |= *moved;
    if (const auto done = note(pipeline->DetectNextEvent(never))) worked |= *done;
    if (const auto done = note(pipeline->RunNextJob("sim:h200"))) worked |= *done;
    if (const auto done = note(pipeline->RunForgeStep())) worked |= *done;
    quiet = worked ? 0 : quiet + 1;
    clock.Advance(worked ? std::chrono::seconds(1) : std::chrono::seconds(21));  // dashboards are rate-limited
  }
}

std::string World::Push(const std::string& kernel, const std::string& content) {
  remote.Write(kernel + ".cu", content);
  return remote.Commit("change " + kernel);
}

void World::Deliver(const std::string& id, const std::string& event, const std::string& body) {
  const auto remembered = store->RememberDelivery(id, event, body);
  ASSERT_TRUE(remembered) << remembered.error().Format();
}

void World::Comment(int64_t id, const std::string& login, const std::string& text, int64_t issue, bool on_pull_request,
                    const std::string& delivery) {
  nlohmann::json body = {
      {"action", "created"},
      {"issue", {{"number", issue}}},
      {"comment",
       {{"id", id}, {"body", text}, {"user", {{"login", login}, {"type", "User"}}}, {"author_association", "MEMBER"}}},
      {"repository", {{"full_name", kName}}},
      {"sender", {{"login", login}, {"type", "User"}}}};
  if (on_pull_request) body["issue"]["pull_request"] = {{"url", "x"}};
  Deliver(delivery.empty() ? fmt::format("comment-{}", id) : delivery, "issue_comment", body.dump());
}

std::string World::RemoteTip(const std::string& branch) { return remote.Tip(branch); }

std::vector<std::string> World::Logged(const std::string& prefix) const {
  std::vector<std::string> lines;
  for (const auto& line : forge.log)
    if (line.starts_with(prefix)) lines.push_back(line);
  return lines;
}

service::JobSnapshot World::Job(const std::string& kernel) {
  service::JobSnapshot newest;
  for (const auto& job : store->Snapshot().jobs)
    if (job.kernel == kernel && job.id > newest.id) newest = job;
  return newest;
}

}  // namespace warpwright
