#include "tests/support/github_stand_in/github_stand_in.h"

#include <fmt/format.h>
#include <httplib.h>
#include <netinet/in.h>
#include <openssl/hmac.h>
#include <sys/socket.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/hash.h"
#include "tests/support/github_stand_in/git_backend.h"
#include "tests/support/github_stand_in/hub.h"
#include "tests/support/github_stand_in/interface_rules.h"

namespace warpwright {

using namespace stand_in;
namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr std::string_view kBase = "/api/v3";

// Ends the connection of a request in progress without a response. cpp-httplib does not expose the socket: it is found
// by its peer.
void Drop(const httplib::Request& request) {
  for (int fd = 3; fd < 1024; ++fd) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0 && peer.sin_family == AF_INET &&
        ntohs(peer.sin_port) == request.remote_port) {
      sockaddr_in own{};
      size = sizeof own;
      if (::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0 && ntohs(own.sin_port) == request.local_port)
        ::shutdown(fd, SHUT_RDWR);
    }
  }
}

std::string BasicPassword(const std::string& authorization) {
  if (!authorization.starts_with("Basic ")) return {};
  const std::string text = authorization.substr(6);
  std::string out(text.size(), '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return {};
  out.resize(static_cast<size_t>(size));
  while (out.ends_with('\0')) out.pop_back();
  return out.starts_with("x-access-token:") ? out.substr(15) : std::string();
}

// The permission that a token needs for an operation; empty: none.
std::string NeededPermission(const std::string& operation) {
  const bool write = !operation.starts_with("GET");
  if (!write) return {};
  if (operation.find("/check-runs") != operation.npos) return "checks";
  if (operation.find("/statuses") != operation.npos) return "statuses";
  if (operation.find("/pulls") != operation.npos) return "pull_requests";
  if (operation.find("/issues") != operation.npos) return "issues";
  return {};
}
bool NeedsJwt(const std::string& operation) {
  return operation.find(" /app") != operation.npos || operation.ends_with("/installation");
}

}  // namespace

struct GithubStandIn::State {
  State(StandInOptions o, InterfaceRules r)
      : options(std::move(o)), rules(std::move(r)), faults(std::make_shared<FaultPlan>(options.faults)) {}

  StandInOptions options;
  InterfaceRules rules;
  RouteTable routes;
  httplib::Server server;
  std::thread thread;
  int port = 0;
  std::atomic<bool> stopping{false};
  const steady_clock::time_point start = steady_clock::now();

  mutable std::mutex mutex;  // of what follows
  Hub hub;
  std::shared_ptr<FaultPlan> faults;
  std::vector<LoggedRequest> log;
  std::vector<Push> pushes;
  std::map<std::string, int> used, in_flight;  // by token
  std::map<std::string, steady_clock::time_point> last_write;

  void Hang() const {
    const auto until = steady_clock::now() + faults->options().hang;
    while (!stopping && steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(10));
  }
  int64_t Elapsed() const { return std::chrono::duration_cast<milliseconds>(steady_clock::now() - start).count(); }
  DrawnFault DrawFault(bool git) {
    std::shared_ptr<FaultPlan> plan;
    {
      const std::lock_guard guard(mutex);
      plan = faults;
    }
    return plan->Draw(git);
  }

  void HandleApi(const httplib::Request& request, httplib::Response& response);
  Answer Serve(const httplib::Request& request, const std::string& token, const DrawnFault& fault,
               LoggedRequest& entry);
  Answer Act(Call& call, LoggedRequest& entry);
  void NoteConduct(const std::string& token, const httplib::Request& request, LoggedRequest& entry);
  std::optional<Answer> Injected(const DrawnFault& fault, const Token* token) const;
  void SetLimitHeaders(const std::string& token, Answer& answer);
  void HandleGit(const httplib::Request& request, httplib::Response& response);
  void Append(LoggedRequest entry) {
    const std::lock_guard guard(mutex);
    log.push_back(std::move(entry));
  }
};

// Called under the mutex.
void GithubStandIn::State::NoteConduct(const std::string& token, const httplib::Request& request,
                                       LoggedRequest& entry) {
  for (const char* header : {"User-Agent", "Accept", "X-GitHub-Api-Version"})
    if (!request.has_header(header)) entry.violations.push_back(fmt::format("no header {}", header));
  if (request.has_header("X-GitHub-Api-Version") && request.get_header_value("X-GitHub-Api-Version") != "2022-11-28")
    entry.violations.push_back("X-GitHub-Api-Version is not 2022-11-28");
  if (request.target.find("ghs_") != std::string::npos ||
      (token.size() >= 12 && request.target.find(token) != std::string::npos))
    entry.violations.push_back("a token in the URL");
  if (in_flight[token] > 1) entry.conduct.push_back("while another request of this token was under way");
  if (request.method == "GET") return;
  if (const auto last = last_write.find(token);
      last != last_write.end() && steady_clock::now() - last->second < options.between_writes)
    entry.conduct.push_back(
        fmt::format("{} ms after the last write",
                    std::chrono::duration_cast<milliseconds>(steady_clock::now() - last->second).count()));
  last_write[token] = steady_clock::now();
}

std::optional<Answer> GithubStandIn::State::Injected(const DrawnFault& fault, const Token*) const {
  const std::string retry = std::to_string(faults->options().retry_after_s);
  Answer answer;
  switch (fault.fault) {
    case Fault::kSecondaryLimit:
      answer = Refuse(403, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.");
      answer.headers["retry-after"] = retry;
      return answer;
    case Fault::kPrimaryLimit:
      answer = Refuse(403, "API rate limit exceeded for installation ID 1.");
      answer.headers["x-ratelimit-remaining"] = "0";
      answer.headers["x-ratelimit-reset"] =
          std::to_string(std::chrono::duration_cast<std::chrono::seconds>(hub.Now().time_since_epoch()).count() +
                         faults->options().retry_after_s);
      return answer;
    case Fault::kTooMany:
      answer = Refuse(429, "Too many requests");
      answer.headers["retry-after"] = retry;
      return answer;
    case Fault::kUnprocessable: return Refuse(422, "Validation Failed");
    case Fault::kBadGateway: return Refuse(502, "Server Error");
    case Fault::kNone:
    case Fault::kTimeout:
    case Fault::kReset: return std::nullopt;
  }
  return std::nullopt;
}

// Called under the mutex. A limit that a fault has already set stays.
void GithubStandIn::State::SetLimitHeaders(const std::string& token, Answer& answer) {
  const int64_t now = std::chrono::duration_cast<std::chrono::seconds>(hub.Now().time_since_epoch()).count();
  const auto set = [&](const char* name, int64_t value) { answer.headers.emplace(name, std::to_string(value)); };
  set("x-ratelimit-limit", options.hourly_limit);
  set("x-ratelimit-remaining", std::max(0, options.hourly_limit - used[token]));
  set("x-ratelimit-used", used[token]);
  set("x-ratelimit-reset", now + 3600);
  answer.headers.emplace("x-ratelimit-resource", "core");
}

// Called under the mutex.
Answer GithubStandIn::State::Act(Call& call, LoggedRequest& entry) {
  const auto route = routes.find(entry.operation);
  if (route == routes.end()) return Refuse(404, "Not Found");
  if (call.parameters.contains("repo")) {
    const auto repo = hub.repos.find(call.parameters.at("owner") + "/" + call.parameters.at("repo"));
    if (repo == hub.repos.end()) return Refuse(404, "Not Found");
    call.repo = &repo->second;
  }
  if (!NeedsJwt(entry.operation)) {
    if (call.token == nullptr) return Refuse(401, "Bad credentials");
    if (call.repo != nullptr && !call.token->repositories.empty() &&
        !call.token->repositories.contains(call.repo->name))
      return Refuse(404, "Not Found");
    const std::string needed = NeededPermission(entry.operation);
    if (!needed.empty() && !call.token->permissions.empty() &&
        (!call.token->permissions.contains(needed) || call.token->permissions.at(needed) != "write"))
      return Refuse(403, "Resource not accessible by integration");
  }
  for (std::string& problem :
       rules.CheckRequest(entry.operation, call.query, call.body.is_null() ? nullptr : &call.body))
    entry.violations.push_back(std::move(problem));
  if (!entry.violations.empty()) return Refuse(422, "Invalid request.\n\n" + entry.violations.front());
  Answer answer = route->second(hub, call);
  entry.done = answer.status < 300;
  if (entry.done)
    for (const std::string& problem : rules.CheckAnswer(entry.operation, answer.status, answer.body))
      entry.violations.push_back("the stand-in: " + problem);
  return answer;
}

Answer GithubStandIn::State::Serve(const httplib::Request& request, const std::string& token_text,
                                   const DrawnFault& fault, LoggedRequest& entry) {
  const std::lock_guard guard(mutex);
  Call call;
  call.method = request.method;
  call.path = request.path.substr(kBase.size());
  for (const auto& [name, value] : request.params) call.query.emplace(name, value);
  call.authorization = request.get_header_value("Authorization");
  InterfaceRules::Match match = rules.Find(request.method, call.path);
  entry.operation = match.operation;
  call.parameters = std::move(match.parameters);
  NoteConduct(token_text, request, entry);
  if (entry.operation.empty()) {
    entry.violations.push_back("an operation that the stand-in does not know");
    return Refuse(404, "Not Found");
  }
  if (!request.body.empty()) {
    call.body = nlohmann::json::parse(request.body, nullptr, false);
    if (call.body.is_discarded()) {
      entry.violations.push_back("the body is no JSON");
      return Refuse(400, "Problems parsing JSON");
    }
  }
  if (const auto found = hub.tokens.find(token_text);
      found != hub.tokens.end() && (!found->second.expires || *found->second.expires > hub.Now())) {
    call.token = &found->second;
    entry.login = found->second.login;
  }
  if (auto injected = Injected(fault, call.token); injected && !fault.done) return *injected;
  if ((fault.fault == Fault::kTimeout || fault.fault == Fault::kReset) && !fault.done) return Refuse(500, "");
  if (options.enforce_secondary && !entry.conduct.empty()) {
    Answer refused = Refuse(403, "You have exceeded a secondary rate limit.");
    refused.headers["retry-after"] = "1";
    return refused;
  }
  if (used[token_text] >= options.hourly_limit) return Refuse(403, "API rate limit exceeded");
  Answer answer = Act(call, entry);
  if (auto injected = Injected(fault, call.token)) return *injected;
  return answer;
}

void GithubStandIn::State::HandleApi(const httplib::Request& request, httplib::Response& response) {
  const std::string authorization = request.get_header_value("Authorization");
  std::string token = authorization.substr(std::min(authorization.size(), authorization.find(' ') + 1));
  LoggedRequest entry;
  entry.ms = Elapsed();
  entry.method = request.method;
  entry.path = request.target;
  {
    const std::lock_guard guard(mutex);
    ++in_flight[token];
  }
  const DrawnFault fault = DrawFault(false);
  entry.fault = fault.fault;
  Answer answer = Serve(request, token, fault, entry);
  if (fault.fault == Fault::kTimeout) Hang();

  const std::string etag = "W/\"" + base::Sha256(answer.body.dump()) + "\"";
  bool unchanged = false;
  if (request.method == "GET" && answer.status == 200) {
    answer.headers["ETag"] = etag;
    unchanged = request.get_header_value("If-None-Match") == etag;
  }
  {
    const std::lock_guard guard(mutex);
    --in_flight[token];
    if (!unchanged) ++used[token];
    SetLimitHeaders(token, answer);
  }
  response.status = entry.status = unchanged ? 304 : answer.status;
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
  if (!unchanged)
    response.set_content(answer.body.is_null() ? "" : answer.body.dump(), "application/json; charset=utf-8");
  if (fault.fault == Fault::kTimeout || fault.fault == Fault::kReset) {
    entry.status = 0;
    Drop(request);
  }
  Append(std::move(entry));
}

void GithubStandIn::State::HandleGit(const httplib::Request& request, httplib::Response& response) {
  LoggedRequest entry;
  entry.ms = Elapsed();
  entry.git = true;
  entry.method = request.method;
  entry.path = request.target;
  const std::string token_text = BasicPassword(request.get_header_value("Authorization")),
                    repository = request.matches[1];
  bool known = false, writes = request.target.find("git-receive-pack") != std::string::npos;
  fs::path folder;
  {
    const std::lock_guard guard(mutex);
    if (const auto repo = hub.repos.find(repository); repo != hub.repos.end()) folder = repo->second.git;
    const auto token = hub.tokens.find(token_text);
    if (token != hub.tokens.end() && (!token->second.expires || *token->second.expires > hub.Now())) {
      const Token& who = token->second;
      const auto contents = who.permissions.find("contents");
      known =
          (who.repositories.empty() || who.repositories.contains(repository)) &&
          (!writes || who.permissions.empty() || (contents != who.permissions.end() && contents->second == "write"));
      entry.login = who.login;
    }
  }
  const DrawnFault fault = DrawFault(true);
  entry.fault = fault.fault;
  if (!known) {
    response.status = entry.status = 401;
    response.set_header("WWW-Authenticate", "Basic realm=\"GitHub\"");
  } else if (folder.empty()) {
    response.status = entry.status = 404;
  } else if (fault.fault != Fault::kNone && !fault.done) {
    response.status = entry.status = 502;
    if (fault.fault != Fault::kBadGateway) Drop(request);
  } else {
    const auto before = writes ? ReadRefs(folder) : std::map<std::string, std::string>();
    const size_t query = request.target.find('?');
    const auto answer =
        ServeGit(options.repositories, {.method = request.method,
                                        .path = request.path,
                                        .query = query == std::string::npos ? "" : request.target.substr(query + 1),
                                        .content_type = request.get_header_value("Content-Type"),
                                        .protocol = request.get_header_value("Git-Protocol"),
                                        .user = entry.login,
                                        .body = request.body});
    response.status = entry.status = answer ? answer->status : 500;
    if (answer) {
      entry.done = true;
      std::string type = "application/octet-stream";
      for (const auto& [name, value] : answer->headers)
        name == "Content-Type" ? void(type = value) : response.set_header(name, value);
      response.set_content(answer->body, type);
    }
    const std::lock_guard guard(mutex);
    const auto after = writes ? ReadRefs(folder) : std::map<std::string, std::string>();
    for (const auto& [ref, commit] : after)
      if (const auto old = before.find(ref); old == before.end() || old->second != commit)
        pushes.push_back({.repository = repository,
                          .ref = ref,
                          .before = old == before.end() ? "" : old->second,
                          .after = commit,
                          .login = entry.login});
    for (const auto& [ref, commit] : before)
      if (!after.contains(ref))
        pushes.push_back({.repository = repository, .ref = ref, .before = commit, .login = entry.login});
    if (fault.fault == Fault::kBadGateway) response.status = entry.status = 502;
    else if (fault.fault != Fault::kNone) Drop(request);
  }
  Append(std::move(entry));
}

GithubStandIn::GithubStandIn(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<GithubStandIn>> GithubStandIn::Start(StandInOptions options) {
  WW_ASSIGN(InterfaceRules rules, InterfaceRules::Load(options.rules));
  auto state = std::make_unique<State>(std::move(options), std::move(rules));
  AddPullRoutes(state->routes);
  AddIssueRoutes(state->routes);
  AddCheckRoutes(state->routes);
  AddAppRoutes(state->routes);
  httplib::Server& server = state->server;
  server.new_task_queue = [] { return new httplib::ThreadPool(32); };  // a persistent connection occupies a thread
  server.set_keep_alive_max_count(10'000);
  server.set_tcp_nodelay(true);
  State* const s = state.get();
  const auto api = [s](const httplib::Request& request, httplib::Response& response) {
    s->HandleApi(request, response);
  };
  const std::string everything = std::string(kBase) + "/.*", git = R"(/([^/]+/[^/]+)\.git/.*)";
  server.Get(everything, api).Post(everything, api).Patch(everything, api).Put(everything, api).Delete(everything, api);
  const auto smart = [s](const httplib::Request& request, httplib::Response& response) {
    s->HandleGit(request, response);
  };
  server.Get(git, smart).Post(git, smart);
  state->port = state->options.port != 0
                    ? (server.bind_to_port("127.0.0.1", state->options.port) ? state->options.port : -1)
                    : server.bind_to_any_port("127.0.0.1");
  if (state->port <= 0)
    return Fail(ErrorCode::kEnvironment, "the stand-in cannot listen on 127.0.0.1", "choose another port");
  state->hub.url = fmt::format("http://127.0.0.1:{}", state->port);
  state->thread = std::thread([s] { s->server.listen_after_bind(); });
  return std::unique_ptr<GithubStandIn>(new GithubStandIn(std::move(state)));
}

GithubStandIn::~GithubStandIn() {
  state_->stopping = true;
  while (!state_->server.is_running()) std::this_thread::sleep_for(milliseconds(1));  // an earlier stop() would be lost
  state_->server.stop();
  state_->thread.join();
}

int GithubStandIn::port() const { return state_->port; }
std::string GithubStandIn::url() const { return state_->hub.url; }
std::string GithubStandIn::api() const { return url() + std::string(kBase); }
std::string GithubStandIn::CloneUrl(const std::string& repository) const { return url() + "/" + repository + ".git"; }
fs::path GithubStandIn::GitFolder(const std::string& repository) const {
  return state_->options.repositories / (repository + ".git");
}

Status GithubStandIn::AddRepository(const std::string& name) {
  WW_TRY(MakeBareRepository(GitFolder(name)));
  const std::lock_guard guard(state_->mutex);
  Repo& repo = state_->hub.repos[name];
  repo.name = name;
  repo.git = GitFolder(name);
  return {};
}

void GithubStandIn::AddToken(const std::string& token, const std::string& login, bool app) {
  const std::lock_guard guard(state_->mutex);
  state_->hub.tokens[token] = {.login = login, .app = app};
}

void GithubStandIn::SetApp(const std::string& id, const std::string& slug, const std::string& public_key_pem,
                           std::chrono::seconds token_life) {
  const std::lock_guard guard(state_->mutex);
  state_->hub.app =
      App{.id = id, .slug = slug, .public_key_pem = public_key_pem, .installation = 77, .token_life = token_life};
}

void GithubStandIn::RevokeTokens() {
  const std::lock_guard guard(state_->mutex);
  std::erase_if(state_->hub.tokens, [](const auto& token) { return token.second.expires.has_value(); });
}

void GithubStandIn::AddPerson(const std::string& login, const std::string& repository, const std::string& role) {
  const std::lock_guard guard(state_->mutex);
  state_->hub.people.insert(login);
  if (!role.empty()) state_->hub.repos.at(repository).permissions[login] = role;
}

int64_t GithubStandIn::Comment(const std::string& repository, int64_t issue, const std::string& login,
                               const std::string& body) {
  const std::lock_guard guard(state_->mutex);
  return MakeComment(state_->hub, state_->hub.repos.at(repository), issue, login, body).at("id");
}

void GithubStandIn::SetPullRequestState(const std::string& repository, int64_t number, const std::string& to,
                                        const std::string& login, bool merged) {
  const std::lock_guard guard(state_->mutex);
  SetPullState(state_->hub, state_->hub.repos.at(repository), number, to, merged, login);
}

void GithubStandIn::EditBody(const std::string& repository, int64_t number,
                             const std::function<std::string(std::string)>& edit) {
  const std::lock_guard guard(state_->mutex);
  Repo& repo = state_->hub.repos.at(repository);
  json& issue = repo.issues.at(number);
  issue["body"] = edit(issue.at("body").get<std::string>());
  if (repo.pulls.contains(number)) repo.pulls.at(number)["body"] = issue.at("body");
}

void GithubStandIn::RemoveLabel(const std::string& repository, int64_t number, const std::string& label,
                                const std::string& login) {
  const std::lock_guard guard(state_->mutex);
  Repo& repo = state_->hub.repos.at(repository);
  json& labels = repo.issues.at(number).at("labels");
  for (size_t i = labels.size(); i-- > 0;)
    if (labels[i].at("name") == label) labels.erase(i);
  AddEvent(state_->hub, repo, number, "unlabeled", login, {{"label", {{"name", label}}}});
}

void GithubStandIn::SetFaults(FaultOptions options) {
  const std::lock_guard guard(state_->mutex);
  state_->faults = std::make_shared<FaultPlan>(std::move(options));
}

json GithubStandIn::Dump(const std::string& repository) const {
  const std::lock_guard guard(state_->mutex);
  Repo& repo = state_->hub.repos.at(repository);
  Refresh(state_->hub, repo);
  json all = {{"pulls", json::array()},  {"issues", json::array()},   {"comments", json::array()},
              {"checks", json::array()}, {"statuses", repo.statuses}, {"reactions", json::object()},
              {"events", json::object()}};
  for (const auto& [number, pull] : repo.pulls) {
    all["pulls"].push_back(pull);
    all["pulls"].back()["labels"] = repo.issues.at(number).at("labels");
  }
  for (const auto& [number, issue] : repo.issues)
    if (!repo.pulls.contains(number)) all["issues"].push_back(issue);
  for (const auto& [id, comment] : repo.comments) all["comments"].push_back(comment);
  for (const auto& [id, check] : repo.checks) all["checks"].push_back(check);
  for (const auto& [id, reactions] : repo.reactions) all["reactions"][std::to_string(id)] = reactions;
  for (const auto& [number, events] : repo.events) all["events"][std::to_string(number)] = events;
  return all;
}

std::vector<LoggedRequest> GithubStandIn::Log() const {
  const std::lock_guard guard(state_->mutex);
  return state_->log;
}
std::vector<Push> GithubStandIn::Pushes() const {
  const std::lock_guard guard(state_->mutex);
  return state_->pushes;
}
int GithubStandIn::minted_tokens() const {
  const std::lock_guard guard(state_->mutex);
  return state_->hub.minted_tokens;
}

namespace {
std::vector<std::string> Gather(const std::vector<LoggedRequest>& log, std::vector<std::string> LoggedRequest::* list) {
  std::vector<std::string> all;
  for (const LoggedRequest& entry : log)
    for (const std::string& line : entry.*list)
      all.push_back(fmt::format("{} ms {} {}: {}", entry.ms, entry.method, entry.path, line));
  return all;
}
}  // namespace
std::vector<std::string> GithubStandIn::Violations() const { return Gather(Log(), &LoggedRequest::violations); }
std::vector<std::string> GithubStandIn::Conduct() const { return Gather(Log(), &LoggedRequest::conduct); }

std::string WebhookSignature(const std::string& secret, const std::string& body) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(body.data()), body.size(), digest, &size);
  std::string text = "sha256=";
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

int SendWebhook(const WebhookDelivery& delivery) {
  const size_t path = delivery.url.find('/', delivery.url.find("://") + 3);
  httplib::Client client(delivery.url.substr(0, path));
  httplib::Headers headers = {{"User-Agent", "GitHub-Hookshot/stand-in"},
                              {"X-GitHub-Event", delivery.event},
                              {"X-GitHub-Delivery", delivery.id}};
  if (delivery.signature.empty())
    headers.emplace("X-Hub-Signature-256", WebhookSignature(delivery.secret, delivery.body));
  else if (delivery.signature != "none") headers.emplace("X-Hub-Signature-256", delivery.signature);
  const auto answer = client.Post(path == std::string::npos ? "/" : delivery.url.substr(path), headers, delivery.body,
                                  "application/json");
  return answer ? answer->status : 0;
}

}  // namespace warpwright
