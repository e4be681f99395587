#include "skills/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "base/file.h"
#include "base/utf8.h"
#include "config/yaml_text.h"

namespace warpwright::skills::embedded {
const std::map<std::string_view, std::string_view>& SkillFiles();
}

namespace warpwright::skills {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxBytes = 256 << 10;
constexpr size_t kMaxText = 3'000, kMaxLines = 80;
constexpr std::string_view kFallback = "\nfallback:\n";

std::string Quoted(std::string_view text) { return config::QuotedYaml(base::CleanText(text, kMaxText)); }

// Below `sketch: |2`: nothing in an indented line ends it.
std::string Block(std::string_view text) {
  std::istringstream lines(base::CleanText(text, 4 * kMaxText, true));
  std::string out;
  size_t count = 0;
  for (std::string line; std::getline(lines, line) && count < kMaxLines; ++count) {
    std::replace(line.begin(), line.end(), '\t', ' ');
    out += "  " + line + "\n";
  }
  return out.empty() ? "  // see the mechanism\n" : out;
}

std::string Title(std::string id) {
  std::replace(id.begin(), id.end(), '_', ' ');
  if (!id.empty() && id.front() >= 'a' && id.front() <= 'z') id.front() = static_cast<char>(id.front() - 'a' + 'A');
  return id;
}

std::string Call(const std::string& id) {
  return fmt::format(
      "  - {{method: {}, weight: 0.2, reason: \"it worked on another kernel; accepted from a draft\"}}\n", id);
}

Status MakeFolder(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / "policy.yml", error)) return {};
  for (const auto& [name, text] : embedded::SkillFiles()) {
    const fs::path file = folder / name;
    fs::create_directories(file.parent_path(), error);
    if (error) return Fail(ErrorCode::kEnvironment, "create " + file.parent_path().string() + ": " + error.message());
    WW_TRY(base::WriteFileAtomically(file, text));
  }
  return {};
}

}  // namespace

std::string DraftCard(const MethodDraft& draft) {
  const double high = std::clamp(draft.gain, 1.1, 1000.0), typical = std::max(1.05, std::sqrt(high));
  std::string card = fmt::format(
      "# A draft, by a language model's account. Read it, correct it, narrow its preconditions, and then:\n"
      "#   warpwright skills accept THIS-FILE --skills FOLDER\n"
      "id: {}\ntitle: {}\nintent: {}\n"
      "expected_gain: {{low: 0.9, typical: {:.2f}, high: {:.2f}}}\n"
      "architectures: {{min: 80}}\n",
      draft.id, Quoted(Title(draft.id)), Quoted(draft.why), typical, high);
  if (!draft.operation.empty() && draft.operation != "unknown")
    card += fmt::format("preconditions:\n  - {{operation: [{}], reason: \"it was carried out there alone\"}}\n",
                        draft.operation);
  card += fmt::format("mechanism: {}\nsketch: |2\n{}expected:\n", Quoted(draft.instructions), Block(draft.added));
  for (const ExpectedChange& change : draft.expected)
    card += fmt::format("  - {{name: {}, direction: {}, factor: {:.3g}}}\n", change.name, change.up ? "up" : "down",
                        change.factor);
  if (draft.expected.empty())
    card += fmt::format("  - {{name: kernel_time_us, direction: down, factor: {:.3g}}}\n", 1 / high);
  return card + fmt::format(
                    "forbidden:\n  - \"alignment, sizes or values that callers do not promise\"\n"
                    "failures:\n  - {{symptom: \"no gain on another kernel\", cause: \"it is known from one\", remedy: "
                    "\"narrow the preconditions\"}}\n"
                    "sources:\n  - {{title: {}, url: \"https://localhost/this-repository\"}}\n",
                    Quoted(draft.origin));
}

Result<SkillLibrary> AcceptDraft(const fs::path& card, const fs::path& folder) {
  WW_ASSIGN(const std::string text, base::ReadFile(card, kMaxBytes));
  const std::string id = card.stem().string();
  const fs::path added = folder / "methods" / (id + ".yml"), policy_file = folder / "policy.yml";
  WW_TRY(MakeFolder(folder));
  std::error_code error;
  if (fs::exists(added, error))
    return Fail(ErrorCode::kUsage, added.string() + " exists already",
                "correct it there, or give the draft another name");
  WW_ASSIGN(const std::string policy, base::ReadFile(policy_file, kMaxBytes));
  const size_t fallback = policy.find(kFallback);
  if (fallback == std::string::npos)
    return Fail(ErrorCode::kConfig, policy_file.string() + ": there is no list `fallback:` to add the method to");
  std::string called = policy;
  called.insert(fallback + kFallback.size(), Call(id));
  WW_TRY(base::WriteFileAtomically(added, text));
  WW_TRY(base::WriteFileAtomically(policy_file, called));
  auto library = LoadSkills(folder);
  if (library) return library;
  fs::remove(added, error);
  WW_TRY(base::WriteFileAtomically(policy_file, policy));
  return library;
}

}  // namespace warpwright::skills
