#include "repo/remote_url.h"

#include <cctype>

namespace warpwright::repo {
namespace {

// "%20" to a blank. An incomplete escape is left as it is.
std::string Decode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && std::isxdigit(static_cast<unsigned char>(text[i + 1])) != 0 &&
        std::isxdigit(static_cast<unsigned char>(text[i + 2])) != 0) {
      decoded += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

SshTarget ParseSsh(std::string_view url) {
  SshTarget target;
  const bool scheme = url.starts_with("ssh://");
  if (scheme) url.remove_prefix(6);
  const size_t path = scheme ? url.find('/') : url.find(':');
  std::string_view authority = url.substr(0, path);
  target.path = scheme ? Decode(url.substr(path)) : std::string(url.substr(path + 1));
  // "/~user/x.git" is how an ssh address names a path below a home directory.
  if (scheme && target.path.starts_with("/~")) target.path.erase(0, 1);
  if (const size_t at = authority.rfind('@'); at != authority.npos) {
    target.user = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  const size_t bracket = authority.rfind(']');
  if (scheme) {
    const size_t colon = authority.find(':', bracket == authority.npos ? 0 : bracket);
    if (colon != authority.npos) target.port = authority.substr(colon + 1);
    authority = authority.substr(0, colon);
  }
  if (authority.starts_with('[') && authority.ends_with(']')) authority = authority.substr(1, authority.size() - 2);
  target.host = authority;
  return target;
}

}  // namespace

Result<RemoteUrl> ParseRemoteUrl(const std::string& url) {
  RemoteUrl place;
  WW_ASSIGN(place.kind, config::CheckRemoteUrl(url));
  place.url = url;
  if (place.kind == config::RemoteKind::kLocal && url.starts_with("file://"))
    place.url = Decode(std::string_view(url).substr(7));
  if (place.url.find('\0') != std::string::npos) return Fail(ErrorCode::kConfig, "the address holds a zero byte");
  if (place.kind == config::RemoteKind::kSsh) place.ssh = ParseSsh(url);
  return place;
}

std::filesystem::path LocalPath(const std::string& url) {
  const auto place = ParseRemoteUrl(url);
  return place && place->kind == config::RemoteKind::kLocal ? std::filesystem::path(place->url)
                                                            : std::filesystem::path();
}

}  // namespace warpwright::repo
