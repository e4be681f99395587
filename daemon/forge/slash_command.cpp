#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "config/yaml_reader.h"
#include "forge/json_text.h"
#include "forge/webhook.h"

namespace warpwright::forge {
namespace {

constexpr std::string_view kWord = "/warpwright";
constexpr std::array<std::string_view, 5> kVerbs = {"optimize", "retry", "explain", "ignore",
                                                    "stop"};  // in the order of SlashVerb
constexpr size_t kMaxKernelBytes = 64;                        // as in a manifest (config/kernel_reader.cpp)
constexpr const char* kUsage = "/warpwright optimize|retry|explain|ignore|stop [kernel]";

bool IsSpace(char c) { return c == ' ' || c == '\t'; }

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const auto end = std::find_if(line.begin(), line.end(), IsSpace);
    const size_t length = static_cast<size_t>(end - line.begin());
    if (length > 0) words.push_back(line.substr(0, length));
    line.remove_prefix(std::min(line.size(), length + 1));
  }
  return words;
}

bool IsKernelName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxKernelBytes && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  });
}

// A stranger's words in our reply: short, and without anything that is active there.
std::string Quoted(std::string_view text) {
  std::string quoted;
  for (const unsigned char c : text.substr(0, 40))
    quoted +=
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'
            ? static_cast<char>(c)
            : '?';
  return quoted + (text.size() > 40 ? "..." : "");
}

}  // namespace

std::string_view Name(SlashVerb verb) { return kVerbs[static_cast<size_t>(verb)]; }

Result<std::optional<SlashCommand>> ParseSlashCommand(std::string_view comment) {
  std::string_view line = comment.substr(0, comment.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!line.starts_with(kWord)) return std::nullopt;
  const std::string_view rest = line.substr(kWord.size());
  if (!rest.empty() && !IsSpace(rest.front())) return std::nullopt;  // "/warpwrights"

  const std::vector<std::string_view> words = Words(rest);
  if (words.empty()) return Fail(ErrorCode::kUsage, "a command is missing", fmt::format("write {}", kUsage));
  const auto verb = std::find(kVerbs.begin(), kVerbs.end(), words[0]);
  if (verb == kVerbs.end()) {
    const auto nearest = config::NearestName(words[0].substr(0, 40), kVerbs);
    return Fail(ErrorCode::kUsage,
                fmt::format("unknown command '{}'{}", Quoted(words[0]),
                            nearest ? fmt::format("; did you mean '{}'?", *nearest) : ""),
                fmt::format("write {}", kUsage));
  }
  SlashCommand command;
  command.verb = static_cast<SlashVerb>(verb - kVerbs.begin());
  if (words.size() > 2)
    return Fail(ErrorCode::kUsage, fmt::format("'{}' takes at most one kernel", *verb),
                fmt::format("write {}", kUsage));
  if (words.size() == 2) {
    if (!IsKernelName(words[1]))
      return Fail(ErrorCode::kUsage, fmt::format("'{}' cannot be a kernel's name", Quoted(words[1])),
                  "write the kernel's name as in .warpwright.yml");
    command.kernel = std::string(words[1]);
  }
  return command;
}

}  // namespace warpwright::forge
