// Addresses and branch names in a configuration. An accepted one can become neither a program option, nor a credential
// in a log, nor a way around TLS.
#pragma once

#include <string_view>

#include "base/result.h"

namespace warpwright::config {

// Whether `text` consists only of ASCII letters, digits and the characters of `more`; true for an empty text.
bool OnlyHas(std::string_view text, std::string_view more);

enum class RemoteKind { kLocal, kHttp, kSsh };

// An absolute path or file://; https:// (http:// only on this machine, for tests and local servers); ssh:// or
// user@host:path. An https address must not contain a user or password. Errors (kConfig) do not repeat the address,
// since users paste tokens into it.
Result<RemoteKind> CheckRemoteUrl(std::string_view url);

// https://host/path without user, query or fragment; http:// only on this machine.
Status CheckApiUrl(std::string_view url);

// By the rules of git-check-ref-format, for the part after refs/heads/. At most 200 bytes.
Status CheckBranchName(std::string_view name);

}  // namespace warpwright::config
