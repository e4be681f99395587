#include "config/remote_text.h"

#include <algorithm>
#include <string>

namespace warpwright::config {
namespace {

constexpr size_t kMaxUrlBytes = 2048, kMaxBranchBytes = 200;

tl::unexpected<Error> RefuseText(std::string message, std::string remedy) {
  return Fail(ErrorCode::kConfig, std::move(message), std::move(remedy));
}

// host, host:port or [::1]:port.
struct Authority {
  std::string_view host;
  bool good = false;
};
Authority ReadAuthority(std::string_view text) {
  Authority authority;
  size_t end = text.starts_with('[') ? text.find(']') : text.find(':');
  if (text.starts_with('[')) end = end == text.npos ? end : end + 1;
  authority.host = text.substr(0, end);
  const std::string_view rest = end == text.npos ? std::string_view() : text.substr(end);
  const bool port = rest.empty() || (rest.size() > 1 && rest.size() <= 6 && rest[0] == ':' &&
                                     rest.substr(1).find_first_not_of("0123456789") == rest.npos);
  const bool host = !authority.host.empty() && authority.host[0] != '-' && authority.host[0] != '.' &&
                    OnlyHas(authority.host, authority.host.starts_with('[') ? "[]:." : "-.");
  authority.good = port && host;
  return authority;
}
bool IsThisMachine(std::string_view host) { return host == "127.0.0.1" || host == "localhost" || host == "[::1]"; }

// Checks scheme://authority/path, where the scheme is http or https.
Status CheckWeb(std::string_view url, bool secure) {
  const std::string_view rest = url.substr(secure ? 8 : 7);
  const std::string_view authority = rest.substr(0, rest.find('/'));
  if (authority.find('@') != authority.npos)
    return RefuseText("the address holds a user or a password",
                      "write it without; the token is configured under 'github'");
  if (rest.find_first_of("?#") != rest.npos)
    return RefuseText("the address has a query or a fragment", "end it after the path");
  const Authority parts = ReadAuthority(authority);
  if (!parts.good) return RefuseText("the address names no host", "write https://host/path");
  if (!secure && !IsThisMachine(parts.host))
    return RefuseText("http:// is accepted on this machine only", "write https://");
  return {};
}

}  // namespace

bool OnlyHas(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || more.find(c) != more.npos;
  });
}

Result<RemoteKind> CheckRemoteUrl(std::string_view url) {
  if (url.size() > kMaxUrlBytes || url.empty())
    return RefuseText("the address is empty or longer than 2048 bytes", "write https://host/owner/name.git");
  if (std::any_of(url.begin(), url.end(),
                  [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '\\'; }))
    return RefuseText("the address has a space, a control character or a backslash", "write it percent-encoded");
  if (url.starts_with("/")) return RemoteKind::kLocal;
  if (url.starts_with("file:///")) return RemoteKind::kLocal;
  if (url.starts_with("https://") || url.starts_with("http://")) {
    WW_TRY(CheckWeb(url, url.starts_with("https://")));
    return RemoteKind::kHttp;
  }
  constexpr std::string_view kRemedy =
      "write https://host/owner/name.git, ssh://git@host/owner/name.git, git@host:owner/name.git, file:///path or "
      "/path";
  if (url.starts_with("ssh://")) {
    std::string_view authority = url.substr(6, url.substr(6).find('/'));
    if (const size_t at = authority.rfind('@'); at != authority.npos) {
      if (at == 0 || !OnlyHas(authority.substr(0, at), "_-.") || authority[0] == '-')
        return RefuseText("the user in the address is not a plain name", std::string(kRemedy));
      authority = authority.substr(at + 1);
    }
    if (!ReadAuthority(authority).good || url.substr(6).find('/') == url.npos)
      return RefuseText("the address names no host or no path", std::string(kRemedy));
    return RemoteKind::kSsh;
  }
  const size_t at = url.find('@'), colon = url.find(':');
  if (at != url.npos && colon != url.npos && at > 0 && at < colon && colon + 1 < url.size() && url[0] != '-' &&
      OnlyHas(url.substr(0, at), "_-.") && url[at + 1] != '-' && colon > at + 1 &&
      OnlyHas(url.substr(at + 1, colon - at - 1), "-.") && !url.substr(colon).starts_with("://"))
    return RemoteKind::kSsh;
  return RefuseText("this is not a repository address", std::string(kRemedy));
}

Status CheckApiUrl(std::string_view url) {
  const bool secure = url.starts_with("https://");
  const bool plain = std::none_of(
      url.begin(), url.end(), [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '\\'; });
  if ((!secure && !url.starts_with("http://")) || url.size() > kMaxUrlBytes || !plain)
    return RefuseText("this is not an interface address",
                      "write https://api.github.com, or https://HOST/api/v3 for GitHub Enterprise");
  return CheckWeb(url, secure);
}

Status CheckBranchName(std::string_view name) {
  const auto refuse = [] {
    return RefuseText("this is not a branch name", "write it as git shows it, without refs/heads/");
  };
  if (name.empty() || name.size() > kMaxBranchBytes || name == "@" || name == "HEAD" || name.starts_with("-") ||
      name.starts_with("refs/"))
    return refuse();
  if (name.find("..") != name.npos || name.find("@{") != name.npos || name.find("//") != name.npos ||
      name.starts_with("/") || name.ends_with("/") || name.ends_with("."))
    return refuse();
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part.starts_with(".") || part.ends_with(".lock")) return refuse();
    begin = end + 1;
  }
  const bool bad = std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f ||
           std::string_view("~^:?*[\\").find(c) != std::string_view::npos;
  });
  return bad ? Status(refuse()) : Status();
}

}  // namespace warpwright::config
