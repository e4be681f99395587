// Identity: GitHub Apps, their installations and tokens; users and their permissions.
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

#include "base/clock.h"
#include "base/hash.h"
#include "tests/support/github_stand_in/hub.h"

namespace warpwright::stand_in {
namespace {

// Base64 for URLs, without padding.
std::optional<std::string> Decode(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    int value = 0;
    if (c >= 'A' && c <= 'Z') value = c - 'A';
    else if (c >= 'a' && c <= 'z') value = c - 'a' + 26;
    else if (c >= '0' && c <= '9') value = c - '0' + 52;
    else if (c == '-') value = 62;
    else if (c == '_') value = 63;
    else return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) out += static_cast<char>(bits >> (count -= 8));
  }
  return out;
}

bool SignatureHolds(const std::string& pem, std::string_view text, const std::string& signature) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                                      BIO_free);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  return key && EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
}

// For routes that accept only a JWT.
std::optional<Answer> NoJwt(const Hub& hub, const Call& call) {
  if (!hub.app) return Refuse(404, "Integration not found");
  if (auto problem = JwtProblem(*hub.app, call.authorization.starts_with("Bearer ") ? call.authorization.substr(7) : "",
                                hub.Now()))
    return Refuse(401, *problem);
  return std::nullopt;
}

json AllowedPermissions() {
  return {{"metadata", "read"},
          {"contents", "write"},
          {"pull_requests", "write"},
          {"issues", "write"},
          {"checks", "write"}};
}

Answer ReadApp(Hub& hub, const Call& call) {
  if (auto refused = NoJwt(hub, call)) return *refused;
  return {200,
          {{"id", 1},
           {"slug", hub.app->slug},
           {"client_id", hub.app->id},
           {"name", hub.app->slug},
           {"permissions", AllowedPermissions()}},
          {}};
}

Answer Installation(Hub& hub, const Call& call) {
  if (auto refused = NoJwt(hub, call)) return *refused;
  if (call.repo == nullptr) return Refuse(404, "Not Found");
  return {200,
          {{"id", hub.app->installation},
           {"app_slug", hub.app->slug},
           {"repository_selection", "selected"},
           {"permissions", AllowedPermissions()},
           {"events", json::array()}},
          {}};
}

Answer MakeToken(Hub& hub, const Call& call) {
  if (auto refused = NoJwt(hub, call)) return *refused;
  if (call.Number("installation_id") != hub.app->installation) return Refuse(404, "Not Found");
  Token token;
  token.login = hub.app->slug + "[bot]";
  token.app = true;
  json repositories = json::array();
  for (const json& name : call.body.value("repositories", json::array())) {
    std::string full;
    for (const auto& [known, repo] : hub.repos)
      if (known.ends_with("/" + name.get<std::string>())) full = known;
    if (full.empty())
      return Refuse(
          422, "There is at least one repository that does not exist or is not accessible to the parent installation.");
    token.repositories.insert(full);
    repositories.push_back({{"name", name}, {"full_name", full}});
  }
  const json allowed = AllowedPermissions(), asked = call.body.value("permissions", allowed);
  for (const auto& [permission, level] : asked.items()) {
    if (!allowed.contains(permission) || (level == "write" && allowed.at(permission) != "write"))
      return Refuse(422, "The permissions requested are not granted to this installation.");
    token.permissions[permission] = level;
  }
  token.permissions["metadata"] = "read";
  token.expires = hub.Now() + hub.app->token_life;
  const std::string text = "ghs_" + base::Sha256(fmt::format("{} {}", hub.url, ++hub.minted_tokens)).substr(0, 36);
  hub.tokens[text] = token;
  Answer answer{
      201, {{"token", text}, {"expires_at", base::FormatUtc(*token.expires)}, {"permissions", token.permissions}}, {}};
  if (!repositories.empty()) answer.body["repositories"] = repositories;
  answer.body["repository_selection"] = repositories.empty() ? "all" : "selected";
  return answer;
}

Answer ReadUser(Hub& hub, const Call& call) {
  if (call.token->app) return Refuse(403, "Resource not accessible by integration");
  return {200, hub.User(call.token->login), {}};
}

Answer ReadAccount(Hub& hub, const Call& call) {
  const std::string login = call.parameters.at("username");
  const bool app = hub.app && login == hub.app->slug + "[bot]";
  if (!app && !hub.people.contains(login)) return Refuse(404, "Not Found");
  return {200, hub.User(login), {}};
}

Answer RateLimit(Hub&, const Call&) { return {200, {{"resources", json::object()}, {"rate", json::object()}}, {}}; }

Answer ReadRepository(Hub& hub, const Call& call) {
  return {200,
          {{"full_name", call.repo->name},
           {"name", call.repo->name.substr(call.repo->name.find('/') + 1)},
           {"private", false},
           {"fork", false},
           {"default_branch", call.repo->default_branch},
           {"clone_url", fmt::format("{}/{}.git", hub.url, call.repo->name)}},
          {}};
}

// The repository is public: every existing user may read it.
Answer PermissionOf(Hub& hub, const Call& call) {
  const std::string login = call.parameters.at("username");
  if (!hub.people.contains(login)) return Refuse(404, login + " is not a user");
  const auto found = call.repo->permissions.find(login);
  const std::string role = found == call.repo->permissions.end() ? "read" : found->second;
  const std::string basic = role == "maintain" ? "write" : role == "triage" ? "read" : role;
  return {200, {{"permission", basic}, {"role_name", role}, {"user", hub.User(login)}}, {}};
}

}  // namespace

std::optional<std::string> JwtProblem(const App& app, const std::string& jwt, Time now) {
  const char* const kUndecodable = "A JSON web token could not be decoded";
  const size_t first = jwt.find('.'), last = jwt.rfind('.');
  if (first == std::string::npos || first == last) return kUndecodable;
  const auto head_text = Decode(std::string_view(jwt).substr(0, first)),
             body_text = Decode(std::string_view(jwt).substr(first + 1, last - first - 1));
  const auto signature = Decode(std::string_view(jwt).substr(last + 1));
  if (!head_text || !body_text || !signature) return kUndecodable;
  const json head = json::parse(*head_text, nullptr, false), body = json::parse(*body_text, nullptr, false);
  if (!head.is_object() || !body.is_object() || head.value("alg", "") != "RS256") return kUndecodable;
  if (!SignatureHolds(app.public_key_pem, std::string_view(jwt).substr(0, last), *signature)) return kUndecodable;
  const int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  if (!body.contains("iat") || !body.at("iat").is_number_integer())
    return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
  if (body.at("iat") > seconds) return "'Issued at' claim ('iat') must be an Integer representing a time in the past";
  if (!body.contains("exp") || !body.at("exp").is_number_integer() || body.at("exp") <= seconds)
    return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the "
           "assertion expires";
  if (body.at("exp") > seconds + 600) return "'Expiration time' claim ('exp') is too far in the future";
  const json issuer = body.value("iss", json());
  if (issuer != json(app.id) && !(issuer.is_number() && issuer.dump() == app.id))
    return "'Issuer' claim ('iss') must be an Integer or a client ID";
  return std::nullopt;
}

void AddAppRoutes(RouteTable& routes) {
  routes["GET /app"] = ReadApp;
  routes["POST /app/installations/{installation_id}/access_tokens"] = MakeToken;
  routes["GET /user"] = ReadUser;
  routes["GET /users/{username}"] = ReadAccount;
  routes["GET /rate_limit"] = RateLimit;
  routes["GET /repos/{owner}/{repo}"] = ReadRepository;
  routes["GET /repos/{owner}/{repo}/installation"] = Installation;
  routes["GET /repos/{owner}/{repo}/collaborators/{username}/permission"] = PermissionOf;
}

}  // namespace warpwright::stand_in
