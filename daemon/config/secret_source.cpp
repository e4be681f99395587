#include "config/secret_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/fd.h"
#include "config/remote_text.h"

namespace warpwright::config {
namespace {

constexpr size_t kMaxSecretBytes = 64 << 10;

bool IsVariableName(std::string_view text) {
  return !text.empty() && text.size() <= 100 && !(text[0] >= '0' && text[0] <= '9') && OnlyHas(text, "_");
}

Result<std::string> ReadSecretFile(const SecretSource& source, SecretReaders readers) {
  WW_ASSIGN(const std::filesystem::path path, SecretPath(source));
  const auto refuse = [&](std::string message, std::string remedy) {
    return Fail(Error{.code = ErrorCode::kEnvironment,
                      .message = std::move(message),
                      .file = path.string(),
                      .remedy = std::move(remedy)});
  };
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid())
    return refuse(fmt::format("the secret cannot be read: {}", std::strerror(errno)),
                  "put it there, readable only by the user that runs warpwright");
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return refuse("the secret is not in a regular file", "put it in a separate file");
  if ((facts.st_mode & (S_IROTH | S_IWOTH)) != 0)
    return refuse("everybody may read this secret", fmt::format("chmod 600 {}", path.string()));
  // systemd gives its credentials to a service by an access list, which shows as the group's permission.
  const bool credential = !source.file.is_absolute();
  if (readers == SecretReaders::kOwner && !credential && (facts.st_mode & (S_IRGRP | S_IWGRP)) != 0)
    return refuse("others than its owner may read this key", fmt::format("chmod 600 {}", path.string()));
  if (readers == SecretReaders::kOwner && !credential && facts.st_uid != ::geteuid())
    return refuse("this key belongs to another user", "give a copy that belongs to the user that runs warpwright");
  std::string text(kMaxSecretBytes + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refuse(fmt::format("the secret cannot be read: {}", std::strerror(errno)), "");
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size > kMaxSecretBytes) return refuse("the secret is larger than 64 KiB", "is this the right file?");
  text.resize(size);
  return text;
}

}  // namespace

Result<std::filesystem::path> SecretPath(const SecretSource& source) {
  if (source.file.is_absolute()) return source.file;
  const std::string name = source.file.string();
  const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
  if (folder == nullptr || *folder == 0 || name.empty())
    return Fail(ErrorCode::kEnvironment, fmt::format("the credential '{}' was not passed to this process", name),
                fmt::format("start it by systemd with LoadCredential={}:..., or give an absolute path", name));
  return std::filesystem::path(folder) / source.file;
}

Result<std::string> ReadSecret(const SecretSource& source, SecretReaders readers) {
  std::string secret, place;
  if (!source.environment.empty()) {
    const char* value = std::getenv(source.environment.c_str());
    place = "$" + source.environment;
    if (value == nullptr)
      return Fail(ErrorCode::kEnvironment, fmt::format("{} is not set", place),
                  fmt::format("export {} with the secret", source.environment));
    secret = value;
    if (secret.size() > kMaxSecretBytes)
      return Fail(ErrorCode::kEnvironment, fmt::format("the secret in {} is larger than 64 KiB", place));
  } else if (!source.file.empty()) {
    place = source.file.string();
    WW_ASSIGN(secret, ReadSecretFile(source, readers));
  } else {
    return Fail(ErrorCode::kEnvironment, "no place for this secret is configured");
  }
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (secret.empty())
    return Fail(ErrorCode::kEnvironment, fmt::format("the secret in {} is empty", place), "put it there");
  if (secret.find('\0') != std::string::npos)
    return Fail(ErrorCode::kEnvironment, fmt::format("the secret in {} is not text", place), "is this the right file?");
  return secret;
}

SecretSource ReadSecretSource(const YamlNode& node, std::string_view what, Diagnostics& diagnostics) {
  const auto note = [&](const YamlNode& at, std::string message, std::string remedy) {
    diagnostics.Add(at, std::move(message), std::move(remedy));
  };
  SecretSource source;
  constexpr std::string_view kRemedy = "write {file: /path} or {env: NAME}, and put the secret there";
  constexpr std::string_view kKeys[] = {"file", "env"};
  if (!node.IsMap()) {
    note(node, fmt::format("{} must not be in this file", what), std::string(kRemedy));
    return source;
  }
  for (const auto& [key, value] : node.entries())
    if (key.text() != "file" && key.text() != "env") {
      const auto nearest = NearestName(key.text(), kKeys);
      note(key, nearest ? fmt::format("unknown key; did you mean '{}'?", *nearest) : "unknown key",
           std::string(kRemedy));
    }
  const YamlNode *file = node.Find("file"), *environment = node.Find("env");
  if ((file != nullptr) == (environment != nullptr)) {
    note(node, fmt::format("{} needs one of 'file' and 'env'", what), std::string(kRemedy));
    return source;
  }
  if (environment != nullptr) {
    if (environment->IsScalar() && IsVariableName(environment->text())) source.environment = environment->text();
    else note(*environment, "'env' must be the name of an environment variable", std::string(kRemedy));
    return source;
  }
  source.file = file->IsScalar() ? std::filesystem::path(file->text()).lexically_normal() : std::filesystem::path();
  const bool climbs = !source.file.empty() && *source.file.begin() == "..";
  if (source.file.empty() || climbs || !(source.file.is_absolute() || OnlyHas(file->text(), "_.-")))
    note(*file, "'file' must be an absolute path, or the name of one of systemd's credentials", std::string(kRemedy));
  return source;
}

}  // namespace warpwright::config
