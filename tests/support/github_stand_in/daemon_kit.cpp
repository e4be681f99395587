#include "tests/support/github_stand_in/daemon_kit.h"

#include <fmt/format.h>
#include <httplib.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "base/fd.h"
#include "tests/support/github_stand_in/git_backend.h"

namespace warpwright {

namespace fs = std::filesystem;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr char kWebhookSecret[] = "It's a Secret to Everybody", kAppId[] = "Iv23liStandIn",
               kPersonToken[] = "person-token";

constexpr char kManifest[] = R"(version: 1
kernels:
  - name: row_sum
    file: src/row_sum.cu
    entry: row_sum
    args:
      out: {{buffer: f32, shape: [N], role: out}}
      inp: {{buffer: f32, shape: [N, C], role: in}}
      N: {{scalar: i32}}
      C: {{scalar: i32}}
    accumulation: C
    cases:
      - {{name: hidden, N: 128, C: 256}}
      - {{name: odd, N: 13, C: 77, on: [sim]}}
  - name: softmax
    file: src/softmax.cu
    entry: softmax_forward
    args:
      out: {{buffer: f32, shape: [N, C], role: out}}
      inp: {{buffer: f32, shape: [N, C], role: in, init: {{normal: [0, 3]}}}}
      N: {{scalar: i32}}
      C: {{scalar: i32}}
    cases:
      - {{name: attention, N: 256, C: 512}}
      - {{name: odd, N: 37, C: 130, on: [sim]}}
  - name: transpose
    file: src/transpose.cu
    entry: transpose
    args:
      out: {{buffer: f32, shape: [cols, rows], role: out}}
      inp: {{buffer: f32, shape: [rows, cols], role: in}}
      rows: {{scalar: i32}}
      cols: {{scalar: i32}}
    cases:
      - {{name: large, rows: 512, cols: 768}}
      - {{name: odd, rows: 67, cols: 131, on: [sim]}}
policy: {{min_speedup: 1.05, max_rounds: {}}}
)";

template <typename T>
T Must(Result<T> result, const char* what) {
  if (!result) throw std::runtime_error(std::string(what) + ": " + result.error().Format());
  return std::move(*result);
}
void Must(const Status& status, const char* what) {
  if (!status) throw std::runtime_error(std::string(what) + ": " + status.error().Format());
}

std::string PemOf(EVP_PKEY* key, bool is_public) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  if (is_public) PEM_write_bio_PUBKEY(bio.get(), key);
  else
    PEM_write_bio_PrivateKey_traditional(bio.get(), key, nullptr, nullptr, 0, nullptr,
                                         nullptr);  // PKCS#1, as GitHub gives it
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

void WriteSecret(const fs::path& path, const std::string& text) {
  Must(base::WriteFileAtomically(path, text), "secret");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace

int FreePort() {
  const base::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

DaemonKit::DaemonKit(DaemonKitOptions options)
    : options_(std::move(options)), root_(Must(base::TemporaryDirectory::Create("ww-daemon"), "folder")) {
  StandInOptions hub;
  hub.repositories = folder() / "hub";
  hub.rules = options_.source / "tests/support/github_stand_in/rules.json";
  hub.faults = options_.faults;
  hub.hourly_limit = 1'000'000;  // throttling near the hourly limit is not what is tested here
  hub_ = Must(GithubStandIn::Start(hub), "stand-in");
  Must(hub_->AddRepository(kRepository), "repository");
  hub_->AddToken(kPersonToken, "writer");
  hub_->AddPerson("writer", kRepository, "write");
  hub_->AddPerson("stranger");
  hub_->SetApp(kAppId, "warpwright", MakeAppKey(), std::chrono::seconds(3600));
  // Its own copies: a build during a running test replaces the programs.
  fs::create_directories(folder() / "bin");
  for (const char* program : {"warpwright", "warpwright-worker"})
    fs::copy_file(options_.programs / program, folder() / "bin" / program);
  webhook_port_ = FreePort();
  status_port_ = FreePort();
  WriteConfig();
  MakeClone();
}

DaemonKit::~DaemonKit() = default;

std::string DaemonKit::MakeAppKey() const {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_RSA_gen(2048), EVP_PKEY_free);
  if (!key) throw std::runtime_error("no RSA key");
  WriteSecret(folder() / "app-key.pem", PemOf(key.get(), false));
  WriteSecret(folder() / "webhook-secret", kWebhookSecret);
  return PemOf(key.get(), true);
}

void DaemonKit::WriteConfig() {
  const std::string webhooks = options_.webhooks ? fmt::format("webhooks: \"127.0.0.1:{}\", ", webhook_port_) : "";
  const std::string secret =
      options_.webhooks ? fmt::format("  webhook_secret: {{file: {}/webhook-secret}}\n", folder().string()) : "";
  Must(base::WriteFileAtomically(
           folder() / "config.yml",
           fmt::format("version: 1\nstate: {0}/state\ndevices: [\"sim:h200\"]\npoll: {{every: 1, at_most: 1}}\n"
                       "listen: {{{1}status: \"127.0.0.1:{2}\"}}\n"
                       "github:\n  api: {3}\n  app: {{id: \"{4}\", key: {{file: {0}/app-key.pem}}}}\n{5}"
                       "limits: {{max_minutes: 10, max_rounds: 5, max_open: 100, max_per_day: 1000, queue: 100}}\n"
                       "log: {{format: json, level: info}}\n"
                       "repositories:\n  - url: {6}\n    branches: [main]\n",
                       folder().string(), webhooks, status_port_, hub_->api(), kAppId, secret,
                       hub_->CloneUrl(kRepository))),
       "configuration");
}

void DaemonKit::MakeClone() {
  fs::create_directories(clone());
  const fs::path examples = options_.source / "config/examples/kernels";
  for (const char* part : {"src", "include"}) fs::copy(examples / part, clone() / part, fs::copy_options::recursive);
  ChangeHeader(0);
  Edit("src/row_sum.cu", [](std::string text) {
    const std::string include = "#include \"../include/common.cuh\"\n", blocks = "ceil_div(N, threads)";
    text.insert(text.find(include) + include.size(), "#include \"../include/edition.cuh\"\n");
    return text.replace(text.find(blocks), blocks.size(), "ceil_div(N + 0 * (kEdition), threads)");
  });
  Must(base::WriteFileAtomically(clone() / ".warpwright.yml", fmt::format(kManifest, options_.max_rounds)), "manifest");
  Git({"init", "-q", "-b", "main"});
  Git({"config", "user.name", "Writer"});
  Git({"config", "user.email", "writer@example.org"});
  std::string url = hub_->CloneUrl(kRepository);
  Git({"remote", "add", "origin", url.insert(7, fmt::format("x-access-token:{}@", kPersonToken))});
  CommitAndPush("kernels");
}

void DaemonKit::Start(bool wait_until_seen) {
  base::Command command;
  command.argv = {(folder() / "bin/warpwright").string(),
                  "serve",
                  "--config",
                  (folder() / "config.yml").string(),
                  "--cache",
                  (options_.cache.empty() ? folder() / "cache" : options_.cache).string()};
  command.env = base::MinimalEnvironment();
  daemon_.emplace(Must(base::Child::Start(command, folder() / fmt::format("daemon-{}.log", starts_++)), "daemon"));
  if (!wait_until_seen) return;
  const bool seen = Wait([&] {
    const json snapshot = Snapshot();
    return snapshot.is_object() && !snapshot.at("repositories").empty() &&
           !snapshot.at("repositories")[0].at("tips").empty();
  });
  if (!seen) throw std::runtime_error("the daemon did not come up:\n" + log());
}

void DaemonKit::Kill() {
  if (!daemon_) return;
  ::kill(daemon_->pid(), SIGKILL);
  daemon_->Kill();
  daemon_.reset();
}

int DaemonKit::Stop(std::chrono::seconds deadline) {
  ::kill(daemon_->pid(), SIGTERM);
  int code = -1;
  Wait(
      [&] {
        const auto end = daemon_->End();
        if (end && end->signal == 0) code = end->exit_code;
        return end.has_value();
      },
      deadline);
  daemon_.reset();
  return code;
}

bool DaemonKit::running() const { return daemon_ && ::kill(daemon_->pid(), 0) == 0; }

std::string DaemonKit::log() const {
  std::string all;
  for (int i = 0; i < starts_; ++i)
    if (const auto text = base::ReadFile(folder() / fmt::format("daemon-{}.log", i))) all += *text;
  return all;
}

namespace {

// A file of /proc with its NUL bytes replaced; empty if the process no longer exists.
std::string ReadProc(int pid, const char* file, char zero) {
  std::ifstream in(fmt::format("/proc/{}/{}", pid, file), std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();  // an iterator would throw where the process ends meanwhile
  std::string text = std::move(out).str();
  std::replace(text.begin(), text.end(), '\0', zero);
  return text;
}
std::vector<int> AllProcesses() {
  std::vector<int> found;
  for (const auto& entry : fs::directory_iterator("/proc"))
    if (const std::string name = entry.path().filename(); name.find_first_not_of("0123456789") == name.npos)
      found.push_back(std::stoi(name));
  return found;
}
// A number of /proc/PID/stat by its place after the program's name, which may hold anything; 0 if the process no longer
// exists. See proc_pid_stat(5).
enum StatField { kParent = 1, kFlags = 6 };
int64_t ReadStat(int pid, StatField field) {
  const std::string stat = ReadProc(pid, "stat", ' ');
  const size_t end = stat.rfind(')');
  if (end == stat.npos) return 0;
  std::istringstream in(stat.substr(end + 1));
  std::string skipped;
  for (int i = 0; i < field; ++i) in >> skipped;
  int64_t number = 0;
  in >> number;
  return number;
}
// Before that a child has its parent's command and its descriptors, which exec closes.
bool HasBegunItsProgram(int pid) {
  constexpr int64_t kForkedWithoutExec = 0x40;  // PF_FORKNOEXEC of the kernel's sched.h
  return (ReadStat(pid, kFlags) & kForkedWithoutExec) == 0;
}

}  // namespace

std::vector<std::string> DaemonKit::Leftovers() const {
  std::vector<std::string> found;
  for (const int pid : AllProcesses()) {
    if (daemon_ && pid == daemon_->pid()) continue;
    const std::string line = ReadProc(pid, "cmdline", ' ');
    if (line.find(state().string()) != line.npos) found.push_back(fmt::format("{} {}", pid, line.substr(0, 200)));
  }
  return found;
}

std::vector<DaemonKit::Process> DaemonKit::Descendants() const {
  std::vector<Process> found;
  if (!daemon_) return found;
  std::map<int, int> parents;
  for (const int pid : AllProcesses()) parents[pid] = static_cast<int>(ReadStat(pid, kParent));
  for (const auto& [pid, parent] : parents) {
    int ancestor = parent;
    for (int depth = 0; depth < 10 && ancestor > 1 && ancestor != daemon_->pid(); ++depth) ancestor = parents[ancestor];
    if (ancestor != daemon_->pid()) continue;
    // Asked first: what is read later is then its own program's.
    const bool has_begun = HasBegunItsProgram(pid);
    Process process{
        pid, has_begun || parent != daemon_->pid(), ReadProc(pid, "cmdline", ' '), ReadProc(pid, "environ", '\n'), {}};
    std::error_code error;
    for (fs::directory_iterator fd(fmt::format("/proc/{}/fd", pid), error), end; !error && fd != end;
         fd.increment(error)) {
      std::error_code gone;
      process.descriptors.push_back(fs::read_symlink(fd->path(), gone).string());
    }
    found.push_back(std::move(process));
  }
  return found;
}

int DaemonKit::StatusOf(const std::string& path, std::string* body) const {
  httplib::Client client("127.0.0.1", status_port_);
  client.set_read_timeout(5);
  const auto answer = client.Get(path);
  if (answer && body != nullptr) *body = answer->body;
  return answer ? answer->status : 0;
}

json DaemonKit::Snapshot() const {
  std::string body;
  if (StatusOf("/api/snapshot", &body) != 200) return nullptr;
  json snapshot = json::parse(body, nullptr, false);
  return snapshot.is_object() ? snapshot : json();
}

bool DaemonKit::Idle() const {
  const json snapshot = Snapshot();
  if (!snapshot.is_object()) return false;
  for (const json& job : snapshot.at("jobs"))
    if (job.at("state") != "done") return false;
  return true;
}

std::string DaemonKit::Git(std::vector<std::string> arguments) const {
  base::Command command;
  command.argv = {"git", "-C", clone().string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.env = base::MinimalEnvironment();
  const base::Completed done = Must(base::Run(command), "git");
  if (done.exit_code != 0) throw std::runtime_error("git " + arguments.front() + ": " + done.err);
  std::string out = done.out;
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

void DaemonKit::Edit(const std::string& file, const std::function<std::string(std::string)>& edit) const {
  const std::string text = Must(base::ReadFile(clone() / file), "read");
  const std::string changed = edit(text);
  if (changed == text) throw std::runtime_error("nothing changed in " + file);
  Must(base::WriteFileAtomically(clone() / file, changed), "write");
}

void DaemonKit::ChangeKernel(int version) const {
  Edit("src/row_sum.cu", [&](std::string text) {
    const size_t at = text.find("(kEdition"), end = text.find(')', at);
    if (at == text.npos) throw std::runtime_error("src/row_sum.cu is not as it was");
    return text.replace(at, end - at, fmt::format("(kEdition + {}", version));
  });
}

void DaemonKit::ChangeHeader(int version) const {
  Must(base::WriteFileAtomically(clone() / "include/edition.cuh",
                                 fmt::format("#pragma once\nconstexpr int kEdition = {};\n", version)),
       "write");
}

std::string DaemonKit::CommitAndPush(const std::string& message) const {
  Git({"add", "-A"});
  Git({"commit", "-q", "--allow-empty", "-m", message});
  Git({"push", "-q", "origin", "HEAD:main"});
  return Git({"rev-parse", "HEAD"});
}

int DaemonKit::Deliver(const std::string& event, const json& payload, const std::string& id,
                       const std::string& signature) const {
  return SendWebhook({.url = fmt::format("http://127.0.0.1:{}/webhook", webhook_port_),
                      .secret = kWebhookSecret,
                      .event = event,
                      .body = payload.dump(),
                      .id = id,
                      .signature = signature});
}

json DaemonKit::CommentPayload(int64_t issue, int64_t comment, const std::string& login,
                               const std::string& body) const {
  const json user = {{"login", login}, {"type", "User"}};
  return {{"action", "created"},
          {"issue", {{"number", issue}, {"pull_request", {{"url", hub_->api()}}}, {"user", user}}},
          {"comment",
           {{"id", comment},
            {"body", body},
            {"user", user},
            {"author_association", "OWNER"}}},  // a claim that must not be trusted
          {"repository", {{"full_name", kRepository}, {"name", "kernels"}, {"owner", {{"login", "acme"}}}}},
          {"sender", user}};
}

json DaemonKit::PullRequestPayload(int64_t number, const std::string& action, const std::string& login) const {
  const json dump = hub_->Dump(kRepository);
  for (const json& pull : dump.at("pulls"))
    if (pull.at("number") == number)
      return {{"action", action},
              {"number", number},
              {"pull_request", pull},
              {"sender", {{"login", login}, {"type", "User"}}},
              {"repository", {{"full_name", kRepository}, {"name", "kernels"}, {"owner", {{"login", "acme"}}}}}};
  throw std::runtime_error("no such pull request");
}

bool DaemonKit::Wait(const std::function<bool()>& done, std::chrono::seconds deadline) const {
  const auto until = steady_clock::now() + deadline;
  while (!done()) {
    if (steady_clock::now() > until) return false;
    std::this_thread::sleep_for(milliseconds(50));
  }
  return true;
}

}  // namespace warpwright
