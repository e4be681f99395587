#include "skills/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/file.h"
#include "base/hash.h"
#include "skills/library_reader.h"
#include "skills/reachability.h"

namespace warpwright::skills::embedded {
const std::map<std::string_view, std::string_view>& SkillFiles();
}

namespace warpwright::skills {
namespace {

constexpr uint64_t kMaxFileBytes = 256 << 10;
constexpr size_t kMaxMethods = 1000;
constexpr std::string_view kExamples = "examples/";
constexpr char kBuiltIn[] = "built in";  // the origin of the skills in this program

Error LibraryError(const SkillLibrary& library, std::string file, std::string message, std::string remedy = {}) {
  if (library.origin != kBuiltIn) file = library.origin + "/" + file;
  return {
      .code = ErrorCode::kConfig, .message = std::move(message), .file = std::move(file), .remedy = std::move(remedy)};
}

void CheckReferences(const SkillLibrary& library, const MethodReferences& references,
                     config::Diagnostics& diagnostics) {
  std::vector<std::string_view> ids;
  for (const auto& [id, card] : library.methods) ids.push_back(id);
  for (const auto& [node, name] : references)
    if (library.Find(name) == nullptr) diagnostics.Add(config::UnknownName(node, "method", name, ids));
}

// `after` must be a partial order: a depth-first search that reaches a method on its own path has found a cycle.
void CheckOrder(const SkillLibrary& library, config::Diagnostics& diagnostics) {
  std::map<std::string, int> state;  // 1: on the path, 2: done
  std::vector<std::string> path;
  const std::function<bool(const std::string&)> visit = [&](const std::string& id) {
    const MethodCard* card = library.Find(id);
    if (card == nullptr || state[id] == 2) return true;
    path.push_back(id);
    if (state[id] == 1) {
      diagnostics.Add(LibraryError(library, "methods/" + id + ".yml",
                                   fmt::format("the order goes in a circle: {}", fmt::join(path, " after "))));
      return false;
    }
    state[id] = 1;
    for (const std::string& other : card->after)
      if (!visit(other)) return false;
    state[id] = 2;
    path.pop_back();
    return true;
  };
  for (const auto& [id, card] : library.methods)
    if (!visit(id)) return;
}

// One fallback without a condition makes the coverage complete, whatever the rest of the policy contains.
void CheckCoverage(const SkillLibrary& library, config::Diagnostics& diagnostics) {
  for (const MethodProposal& call : library.policy.fallback) {
    const MethodCard* card = library.Find(call.method);
    const bool vetoed = std::any_of(library.policy.vetoes.begin(), library.policy.vetoes.end(), [&](const Veto& veto) {
      return std::find(veto.methods.begin(), veto.methods.end(), call.method) != veto.methods.end();
    });
    // Evidence starts at compute capability 80, so a lower or equal minimum excludes nothing.
    if (card != nullptr && !vetoed && card->preconditions.empty() && !card->already_applied && card->needs.empty() &&
        card->conflicts.empty() && card->min_capability <= 80 && card->max_capability == 0 && !card->transform.empty())
      return;
  }
  diagnostics.Add(LibraryError(
      library, "policy.yml", "some evidence is left without a method: no fallback is unconditional",
      "list a method under 'fallback' that has a transformation and no preconditions, needs, conflicts, vetoes or "
      "already_applied"));
}

void CheckReachability(const SkillLibrary& library, config::Diagnostics& diagnostics) {
  for (const auto& [id, card] : library.methods)
    if (!FindWitness(library, card))
      diagnostics.Add(
          LibraryError(library, "methods/" + id + ".yml", fmt::format("no evidence leads to the method '{}'", id),
                       "let a bottleneck of policy.yml call for it, and see that its preconditions, the vetoes and "
                       "already_applied do not exclude each other"));
}

using Files = std::map<std::string, std::string>;

Status ReadFiles(const std::filesystem::path& folder, const std::string& name, const char* extension, Files& files) {
  std::error_code code;
  std::filesystem::directory_iterator entries(folder / name, code), end;
  for (size_t count = 0; !code && entries != end; entries.increment(code)) {
    if (entries->path().extension() != extension) continue;
    if (++count > kMaxMethods)
      return Fail(ErrorCode::kConfig, fmt::format("more than {} {} in {}", kMaxMethods, name, folder.string()));
    WW_ASSIGN(files[name + "/" + entries->path().filename().string()], base::ReadFile(entries->path(), kMaxFileBytes));
  }
  if (code)
    return Fail(ErrorCode::kConfig, fmt::format("cannot list {}: {}", (folder / name).string(), code.message()),
                "a skills folder holds policy.yml and methods/*.yml");
  return {};
}

Result<Files> ReadFolder(const std::filesystem::path& folder) {
  Files files;
  WW_ASSIGN(files["policy.yml"], base::ReadFile(folder / "policy.yml", kMaxFileBytes));
  WW_TRY(ReadFiles(folder, "methods", ".yml", files));
  std::error_code ignored;
  if (std::filesystem::exists(folder / "examples", ignored)) WW_TRY(ReadFiles(folder, "examples", ".cu", files));
  return files;
}

// Files of a method's name, which stand in prompts.
void AttachExamples(const std::map<std::string, std::string>& files, SkillLibrary& library,
                    config::Diagnostics& diagnostics) {
  constexpr size_t kMaxExampleBytes = 8'000;
  for (const auto& [name, text] : files) {
    if (!name.starts_with(kExamples)) continue;
    const auto method = library.methods.find(std::filesystem::path(name).stem().string());
    if (method == library.methods.end())
      diagnostics.Add(LibraryError(library, name, "an example of no method", "name it like a method's card"));
    else if (text.size() > kMaxExampleBytes)
      diagnostics.Add(LibraryError(library, name, fmt::format("an example of more than {} bytes", kMaxExampleBytes)));
    else method->second.example = text;
  }
}

}  // namespace

const MethodCard* SkillLibrary::Find(std::string_view id) const {
  const auto found = methods.find(id);
  return found == methods.end() ? nullptr : &found->second;
}

Result<SkillLibrary> ParseSkills(const std::map<std::string, std::string>& files, const std::string& origin) {
  SkillLibrary library;
  library.origin = origin;
  config::Diagnostics diagnostics;
  MethodReferences references;
  base::Hasher hasher;
  std::map<std::string, std::vector<std::string>> before;
  for (const auto& [name, text] : files) {
    hasher.Add(name).Add(text);
    if (name.starts_with(kExamples)) continue;
    const auto root =
        diagnostics.Take(config::ParseYaml(text, origin == kBuiltIn ? "skills/" + name : origin + "/" + name));
    if (!root) continue;
    if (name == "policy.yml") {
      library.policy = ReadPolicy(*root, references, diagnostics);
      continue;
    }
    const std::string stem = std::filesystem::path(name).stem().string();
    MethodCard card = ReadCard(*root, stem, references, before[stem], diagnostics);
    library.methods.insert_or_assign(stem, std::move(card));
  }
  if (files.count("policy.yml") == 0) diagnostics.Add(LibraryError(library, "policy.yml", "the policy is missing"));
  library.digest = hasher.Finish();
  AttachExamples(files, library, diagnostics);
  CheckReferences(library, references, diagnostics);
  WW_TRY(diagnostics.ToStatus());

  for (const auto& [id, others] : before)
    for (const std::string& other : others) library.methods.at(other).after.push_back(id);
  for (const auto& [id, card] : library.methods)
    for (const std::string& other : card.conflicts) {
      auto& back = library.methods.at(other).conflicts;
      if (std::find(back.begin(), back.end(), id) == back.end()) back.push_back(id);
    }
  CheckOrder(library, diagnostics);
  WW_TRY(diagnostics.ToStatus());  // matching, which reachability runs, relies on the order
  CheckCoverage(library, diagnostics);
  CheckReachability(library, diagnostics);
  WW_TRY(diagnostics.ToStatus());
  return library;
}

Result<SkillLibrary> LoadSkills(const std::filesystem::path& folder) {
  WW_ASSIGN(const auto files, ReadFolder(folder));
  return ParseSkills(files, folder.string());
}

Result<SkillLibrary> LoadBuiltInSkills() {
  std::map<std::string, std::string> files;
  for (const auto& [name, text] : embedded::SkillFiles()) files.emplace(name, text);
  return ParseSkills(files, kBuiltIn);
}

}  // namespace warpwright::skills
