#include "forge/github_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "forge/github_state.h"
#include "forge/json_text.h"

namespace warpwright::forge {
namespace {

constexpr size_t kMaxNotices = 1000;
constexpr size_t kMaxUserBytes = 1u << 20;

std::string Normalised(std::string_view text) {
  std::string normal;
  normal.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') normal += text[i];
    else if (i + 1 == text.size() || text[i + 1] != '\n') normal += '\n';
  }
  while (!normal.empty() && (normal.back() == '\n' || normal.back() == ' ' || normal.back() == '\t')) normal.pop_back();
  return normal;
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

}  // namespace

std::string RepositoryPath(const RepositoryName& repository, std::string_view path) {
  return fmt::format("/repos/{}/{}{}", PercentEncoded(repository.owner), PercentEncoded(repository.name), path);
}

bool SameText(std::string_view a, std::string_view b) { return Normalised(a) == Normalised(b); }

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return Lower(x) == Lower(y); });
}

Status CheckBody(std::string_view body) {
  if (base::CodePoints(body) > kMaxBodyCodePoints)
    return Fail(ErrorCode::kUnsupported,
                fmt::format("a text of more than {} characters, which GitHub refuses", kMaxBodyCodePoints));
  return {};
}

GithubClient::GithubClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
GithubClient::~GithubClient() = default;

Result<std::unique_ptr<GithubClient>> GithubClient::Create(GithubOptions options, http::Client& http,
                                                           const base::Clock& clock) {
  auto state = std::make_unique<State>();
  WW_ASSIGN(state->transport, GithubTransport::Create(options, http, clock));
  state->options = std::move(options);
  return std::unique_ptr<GithubClient>(new GithubClient(std::move(state)));
}

void GithubClient::State::Say(const std::string& text) {
  if (!options.warn) return;
  {
    const std::lock_guard lock(mutex);
    if (said.size() >= kMaxNotices || !said.insert(text).second) return;
  }
  options.warn(text);
}

Result<std::string> GithubClient::State::Login(const RepositoryName& repository, RetryBudget& patience) {
  {
    const std::lock_guard lock(mutex);
    if (login) return *login;
  }
  std::string name;
  if (options.login) {
    WW_ASSIGN(name, options.login());
  }
  if (name.empty()) {
    WW_ASSIGN(const GithubResponse answer, transport->Get(repository, "/user", patience));
    if (answer.status == 200) {
      WW_ASSIGN(name, DecodeLogin(answer.body));
    } else if (answer.status != 403 && answer.status != 404) {  // those two: an installation token, which has no user
      return Fail(transport->Refusal(answer, "GET /user"));
    }
  }
  const std::lock_guard lock(mutex);
  login = name;
  return name;
}

Result<GithubClient::Author> GithubClient::OwnAuthor(const RepositoryName& repository) {
  RetryBudget patience = state_->transport->Begin();
  WW_ASSIGN(const std::string login, state_->Login(repository, patience));
  if (login.empty()) return Fail(ErrorCode::kUnsupported, "the token belongs to no account");
  WW_ASSIGN(const GithubResponse answer,
            state_->transport->Get(repository, "/users/" + PercentEncoded(login), patience));
  if (answer.status != 200) return Fail(state_->transport->Refusal(answer, "ask for the account " + login));
  WW_ASSIGN(const nlohmann::json user, ParseForeignJson(answer.body, kMaxUserBytes));
  const int64_t id = IntegerAt(user, {"id"});
  if (id <= 0) return Fail(ErrorCode::kCorrupt, "the account " + login + " has no id");
  const std::string& api = state_->options.api;
  std::string host = api.substr(api.find("://") + 3);
  host = host.substr(0, host.find_first_of(":/"));
  if (host == "api.github.com") host = "github.com";
  return Author{login, fmt::format("{}+{}@users.noreply.{}", id, login, host)};
}

bool GithubClient::State::IsOurs(const GithubAuthor& author, const std::string& login) {
  return login.empty() ? author.type == "Bot" : SameIgnoringCase(author.login, login);
}

}  // namespace warpwright::forge
