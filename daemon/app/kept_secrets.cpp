#include "app/kept_secrets.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_codec.h"
#include "base/random.h"

namespace warpwright::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "secrets.json";
constexpr size_t kMostBytes = 4u << 20;
constexpr base::JsonLimits kLimits{.bytes = kMostBytes, .depth = 2, .values = 40'000, .text = kMostBytes};

std::optional<uint64_t> Number(const std::string& text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, 16);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace

Status KeptSecrets::Load(const fs::path& folder) {
  std::error_code ignored;
  const fs::path file = folder / kFile;
  if (folder.empty() || !fs::exists(file, ignored)) return {};
  WW_ASSIGN(const std::string text, base::ReadFile(file, kMostBytes));
  auto secrets = base::DecodeJson<std::map<std::string, std::string>>(text, kLimits);
  bool valid = secrets.has_value();
  if (valid)
    for (const auto& [of, number] : *secrets) valid &= Number(number).has_value();
  if (!valid)
    return Fail(Error{.code = ErrorCode::kCorrupt,
                      .message = "no object of hexadecimal numbers",
                      .file = file.string(),
                      .remedy = "record the run again"});
  secrets_.merge(std::move(*secrets));
  return {};
}

Result<std::shared_ptr<KeptSecrets>> KeptSecrets::Open(const fs::path& replayed, fs::path kept) {
  std::shared_ptr<KeptSecrets> secrets(new KeptSecrets(std::move(kept)));
  WW_TRY(secrets->Load(secrets->kept_));
  WW_TRY(secrets->Load(replayed));
  return secrets;
}

Result<uint64_t> KeptSecrets::Draw(const std::string& of) {
  const auto [drawn, is_new] = secrets_.try_emplace(of);
  if (is_new) drawn->second = fmt::format("{:016x}", base::SecretSeed());
  // Also what was replayed: who records a replay can replay it.
  if (!kept_.empty())
    WW_TRY(base::WriteFileAtomically(kept_ / kFile, base::DumpJson(base::ToJson(secrets_), 1) + "\n"));
  return *Number(drawn->second);
}

}  // namespace warpwright::app
