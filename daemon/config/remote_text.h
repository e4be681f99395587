// Addresses and branch names that stand in a configuration. What is accepted can become neither an option of a program,
// nor a credential in a log, nor a way around TLS.
#pragma once

#include <string_view>

#include "base/result.h"

namespace warpwright::config {

// ASCII letters, digits and the characters of `more`, and nothing else; true of an empty text.
bool OnlyHas(std::string_view text, std::string_view more);

enum class RemoteKind { kLocal, kHttp, kSsh };

// An absolute path or file://; https:// (http:// only on this machine, for tests and local servers); ssh:// or
// user@host:path. User and password have no place in an https address. Errors (kConfig) do not repeat the address,
// since people paste tokens into it.
Result<RemoteKind> CheckRemoteUrl(std::string_view url);

// https://host/path without user, query or fragment; http:// only on this machine.
Status CheckApiUrl(std::string_view url);

// As git-check-ref-format says, for the part after refs/heads/. At most 200 bytes.
Status CheckBranchName(std::string_view name);

}  // namespace warpwright::config
