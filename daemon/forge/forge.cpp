#include "forge/forge.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpwright::forge {
namespace {

constexpr size_t kMaxNameBytes = 100;

bool IsName(std::string_view text) {
  if (text.empty() || text.size() > kMaxNameBytes || text == "." || text == "..") return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}
// What follows the host; empty if this is not a URL with a host.
std::string_view PathOf(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) {  // scp's syntax, git@host:owner/name
    const size_t colon = url.find(':');
    if (colon == std::string_view::npos || url.substr(0, colon).find('/') != std::string_view::npos) return {};
    return url.substr(colon + 1);
  }
  const std::string_view name = url.substr(0, scheme);
  if (name != "https" && name != "http" && name != "ssh" && name != "git+ssh") return {};
  const std::string_view rest = url.substr(scheme + 3);
  const size_t slash = rest.find('/');
  return slash == std::string_view::npos || slash == 0 ? std::string_view() : rest.substr(slash + 1);
}

}  // namespace

Result<RepositoryName> RepositoryName::Parse(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || !IsName(text.substr(0, slash)) || !IsName(text.substr(slash + 1)))
    return Fail(ErrorCode::kUsage, "not the name of a repository; expected owner/name");
  return RepositoryName{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

Result<RepositoryName> RepositoryName::FromUrl(std::string_view url) {
  std::string_view path = PathOf(url);
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path.ends_with(".git")) path.remove_suffix(4);
  auto name = Parse(path);
  // The URL is not repeated: it may contain a password.
  if (!name)
    return Fail(ErrorCode::kUsage, "the URL does not name a repository of a forge",
                "use https://HOST/OWNER/NAME.git or git@HOST:OWNER/NAME.git");
  return name;
}

std::string_view Name(Operation operation) {
  switch (operation) {
    case Operation::kCreated: return "created";
    case Operation::kUpdated: return "updated";
    case Operation::kUnchanged: return "unchanged";
  }
  return "unchanged";
}

std::string_view Name(Conclusion conclusion) {
  switch (conclusion) {
    case Conclusion::kSuccess: return "success";
    case Conclusion::kNeutral: return "neutral";
    case Conclusion::kFailure: return "failure";
  }
  return "neutral";
}

std::string_view Name(Permission permission) {
  switch (permission) {
    case Permission::kNone: return "none";
    case Permission::kRead: return "read";
    case Permission::kTriage: return "triage";
    case Permission::kWrite: return "write";
    case Permission::kMaintain: return "maintain";
    case Permission::kAdmin: return "admin";
  }
  return "none";
}

}  // namespace warpwright::forge
