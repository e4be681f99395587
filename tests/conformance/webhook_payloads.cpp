// webhook_payloads FOLDER: every EVENT--NUMBER.json through the webhook parser. Each must be an event for us or ignored
// with a reason.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "forge/webhook.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: webhook_payloads FOLDER\n");
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::map<std::string, int> counts;
  int failed = 0;
  for (const auto& file : files) {
    const std::string name = file.filename().string(), event = name.substr(0, name.find("--"));
    const auto body = warpwright::base::ReadFile(file);
    const auto parsed =
        body ? warpwright::forge::ParseWebhook(event, *body) : tl::unexpected<warpwright::Error>(body.error());
    if (!parsed) {
      ++failed;
      std::printf("%s: %s\n", name.c_str(), parsed.error().Format().c_str());
      continue;
    }
    const auto* ignored = std::get_if<warpwright::forge::IgnoredEvent>(&*parsed);
    if (ignored != nullptr && ignored->reason.empty()) {
      ++failed;
      std::printf("%s: ignored without a reason\n", name.c_str());
    }
    ++counts[ignored != nullptr ? "ignored" : event];
  }
  for (const auto& [what, count] : counts) std::printf("%s %d  ", what.c_str(), count);
  std::printf("of %zu payloads\n", files.size());
  return failed > 0 || files.empty() ? 1 : 0;
}
