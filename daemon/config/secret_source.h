// Where a secret is. Configuration holds no secret itself, and no error repeats a value in the position of one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/yaml_reader.h"

namespace warpwright::config {

struct SecretSource {
  std::filesystem::path file;  // absolute, or the name of one of systemd's credentials ($CREDENTIALS_DIRECTORY/name)
  std::string environment;
  bool given() const { return !file.empty() || !environment.empty(); }
};
// {file: /path} or {env: NAME}. `what` names it in messages: "the token".
SecretSource ReadSecretSource(const YamlNode& node, std::string_view what, Diagnostics& diagnostics);

// The file of a source that has one, with systemd credentials resolved; kEnvironment if they were not passed to this
// process.
Result<std::filesystem::path> SecretPath(const SecretSource& source);

enum class SecretReaders { kGroup, kOwner };  // who may be able to read its file
// The secret without its trailing newline; kEnvironment, with the location where it should be, if it is missing. At
// most 64 KiB; a file that others may read is refused.
Result<std::string> ReadSecret(const SecretSource& source, SecretReaders readers = SecretReaders::kGroup);

}  // namespace warpwright::config
