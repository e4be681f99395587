// The operator's file. Whatever it contains: no crash, an error has its code and a text, and what was accepted is fit
// for use.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/operator_file.h"
#include "config/remote_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = warpwright::config::ParseOperatorConfig(text, "fuzz.yml");
  if (!config) {
    if (config.error().code != warpwright::ErrorCode::kConfig || config.error().message.empty()) std::abort();
    return 0;
  }
  if (config->devices.empty() || config->repositories.empty() || !config->state.is_absolute() ||
      config->poll_every > config->poll_at_most)
    std::abort();
  if (!config->listen_webhooks.empty() && !config->github->webhook_secret.given()) std::abort();
  for (const auto& repository : config->repositories) {
    if (!warpwright::config::CheckRemoteUrl(repository.url)) std::abort();
    if (repository.publish == warpwright::config::PublishTo::kPullRequest && !config->github) std::abort();
  }
  return 0;
}
