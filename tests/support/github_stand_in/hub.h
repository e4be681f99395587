// The state of the stand-in, and how its routes read and change it. Included only by the stand-in's sources.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warpwright::stand_in {

using nlohmann::json;
using Time = std::chrono::system_clock::time_point;

struct Token {
  std::string login;                               // "warpwright[bot]"
  bool app = false;                                // made by a GitHub App (or an Action): may write check runs
  std::set<std::string> repositories;              // full names; empty: all
  std::map<std::string, std::string> permissions;  // empty: all
  std::optional<Time> expires;
};

struct App {
  std::string id, slug, public_key_pem;
  int64_t installation = 1;
  std::chrono::seconds token_life{3600};
};

// Documents in the form of responses; pull requests and issues share their numbers, as on GitHub.
struct Repo {
  std::string name;  // "acme/kernels"
  std::filesystem::path git;
  std::string default_branch = "main";
  int64_t next_number = 1;
  std::map<int64_t, json> pulls, issues;  // a pull request is in both
  std::map<int64_t, json> comments, checks;
  std::map<int64_t, std::vector<json>> events, reactions;
  std::map<std::string, std::vector<json>> statuses;  // newest first
  std::map<std::string, std::string> permissions;     // by login
};

struct Hub {
  std::string url;  // "http://127.0.0.1:1234"
  std::map<std::string, Repo> repos;
  std::map<std::string, Token> tokens;
  std::optional<App> app;
  std::set<std::string> people;  // logins that exist
  int64_t next_id = 1001;
  int minted_tokens = 0;

  Time Now() const { return std::chrono::system_clock::now(); }
  std::string NowText() const;  // ISO 8601
  json User(const std::string& login) const;
};

struct Call {
  std::string method, path;  // below the API's base
  std::map<std::string, std::string> parameters;
  std::multimap<std::string, std::string> query;
  json body;  // null: none
  std::string authorization;
  const Token* token = nullptr;  // null: a JWT, or nothing
  Repo* repo = nullptr;
  std::string Query(const std::string& name, const std::string& otherwise) const;
  int64_t Number(const std::string& parameter) const;  // 0: not a number
};
struct Answer {
  int status = 200;
  json body;
  std::map<std::string, std::string> headers;
};
using Route = std::function<Answer(Hub&, const Call&)>;
using RouteTable = std::map<std::string, Route>;  // by operation

Answer Refuse(int status, const std::string& message);
// 422 with one error in GitHub's wording.
Answer Invalid(const std::string& resource, const std::string& field, const std::string& code,
               const std::string& message = {});
// A page of `all`, with a Link header.
Answer Page(const Hub& hub, const Call& call, const std::vector<json>& all);
// The limit for a body, title or comment.
inline constexpr size_t kMaxBodyCodePoints = 65'536;
std::optional<Answer> TooLong(const Call& call, const std::string& resource, const std::string& field);

void AddEvent(Hub& hub, Repo& repo, int64_t number, const std::string& event, const std::string& actor,
              const json& more = json::object());
// Updates open pull requests from their branches: a moved head, a deleted branch.
void Refresh(Hub& hub, Repo& repo);
void SetPullState(Hub& hub, Repo& repo, int64_t number, const std::string& state, bool merged,
                  const std::string& actor);
json MakeComment(Hub& hub, Repo& repo, int64_t issue, const std::string& login, const std::string& body);

void AddPullRoutes(RouteTable& routes);
void AddIssueRoutes(RouteTable& routes);
void AddCheckRoutes(RouteTable& routes);
void AddAppRoutes(RouteTable& routes);

// nullopt if a JWT is valid, else GitHub's message about it.
std::optional<std::string> JwtProblem(const App& app, const std::string& jwt, Time now);

}  // namespace warpwright::stand_in
