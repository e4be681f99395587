#include "config/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/fields.h"
#include "base/file.h"
#include "base/hash.h"
#include "config/build_reader.h"
#include "config/kernel_reader.h"
#include "config/remote_text.h"
#include "config/repository_path.h"

namespace warpwright::config {

namespace {

constexpr uint64_t kMaxManifestBytes = 256 << 10;

std::set<core::RequiredTool> ReadRequiredTools(const YamlNode& node, Diagnostics& diagnostics) {
  std::vector<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Last(core::RequiredTool{})); ++i)
    names.push_back(core::Name(static_cast<core::RequiredTool>(i)));
  std::set<core::RequiredTool> tools;
  if (!node.IsList()) {
    diagnostics.Add(node, "'require' must be a list", fmt::format("choose from [{}]", fmt::join(names, ", ")));
    return tools;
  }
  for (const YamlNode& item : node.items()) {
    if (const auto tool = base::ParseName<core::RequiredTool>(item.text())) tools.insert(*tool);
    else diagnostics.Add(UnknownName(item, "tool", item.text(), names));
  }
  return tools;
}

core::Policy ReadPolicy(const YamlNode& node, Diagnostics& diagnostics) {
  core::Policy policy;
  YamlObject map(node, "a policy", {"min_speedup", "max_rounds", "max_minutes", "max_repairs", "require"}, diagnostics);
  policy.min_speedup = map.DoubleOr("min_speedup", policy.min_speedup, 1, 1000);
  policy.max_rounds = static_cast<int>(map.IntegerOr("max_rounds", policy.max_rounds, 1, 10'000));
  policy.max_minutes = map.DoubleOr("max_minutes", policy.max_minutes, 0.01, 100'000);
  policy.max_repairs = static_cast<int>(map.IntegerOr("max_repairs", policy.max_repairs, 0, 100));
  if (const YamlNode* require = map.Find("require")) policy.require = ReadRequiredTools(*require, diagnostics);
  return policy;
}

// List items that are sent in requests to the forge.
template <typename Good>
void CheckNames(const YamlNode* list, const char* what, Good good, Diagnostics& diagnostics) {
  constexpr size_t kMaxNames = 50;
  if (!list || !list->IsList()) return;
  if (list->items().size() > kMaxNames) diagnostics.Add(*list, fmt::format("more than {} items", kMaxNames));
  for (const YamlNode& item : list->items())
    if (item.IsScalar() && (item.text().empty() || !good(item.text()))) diagnostics.Add(item, what);
}

core::PullRequestPolicy ReadPullRequests(const YamlNode& node, Diagnostics& diagnostics) {
  core::PullRequestPolicy policy;
  YamlObject map(node, "pull_requests", {"enabled", "draft", "labels", "reviewers", "max_open", "max_per_day"},
                 diagnostics);
  policy.enabled = map.BoolOr("enabled", policy.enabled);
  policy.draft = map.BoolOr("draft", policy.draft);
  policy.labels = map.StringsOr("labels", policy.labels);
  policy.reviewers = map.StringsOr("reviewers", policy.reviewers);
  policy.max_open = static_cast<int>(map.IntegerOr("max_open", policy.max_open, 0, 100));
  policy.max_per_day = static_cast<int>(map.IntegerOr("max_per_day", policy.max_per_day, 0, 1000));
  CheckNames(
      map.Find("labels"), "a label is a line of 1 to 50 characters",
      [](std::string_view label) {
        return label.size() <= 50 && std::none_of(label.begin(), label.end(),
                                                  [](unsigned char c) { return c < 0x20 || c == 0x7f || c == ','; });
      },
      diagnostics);
  CheckNames(
      map.Find("reviewers"), "a reviewer is a login without '@', or \"team:name\"",
      [](std::string_view name) {
        if (name.starts_with("team:")) name.remove_prefix(5);
        return !name.empty() && name.size() <= 100 && std::all_of(name.begin(), name.end(), [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                 c == '.';
        });
      },
      diagnostics);
  return policy;
}

core::NightlyPolicy ReadNightly(const YamlNode& node, Diagnostics& diagnostics) {
  core::NightlyPolicy policy;
  YamlObject map(node, "nightly", {"enabled", "threshold", "branch"}, diagnostics);
  policy.enabled = map.BoolOr("enabled", policy.enabled);
  policy.threshold = map.DoubleOr("threshold", policy.threshold, 1, 100);
  policy.branch = map.StringOr("branch", policy.branch);
  if (const YamlNode* branch = map.Find("branch"); branch && !policy.branch.empty()) {
    if (Status named = CheckBranchName(policy.branch); !named)
      diagnostics.Add(*branch, named.error().message, named.error().remedy);
    // Commits are created and pushed there without confirmation: it must not be a branch that warpwright does not own.
    if (!policy.branch.starts_with("warpwright-"))
      diagnostics.Add(*branch, "the history's branch must have a name that begins with warpwright-",
                      "call it warpwright-history");
  }
  return policy;
}

// A question mark is an indicator of YAML: as a value it is only text in quotes, which nobody writes around a question.
std::string QuoteQuestions(std::string_view text) {
  std::string out;
  char quote = 0;
  bool comment = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], before = i > 0 ? text[i - 1] : '\n', after = i + 1 < text.size() ? text[i + 1] : '\n';
    if (c == '\n') comment = false, quote = 0;
    else if (!comment && quote == 0 && c == '#' && (before == ' ' || before == '\n')) comment = true;
    else if (!comment && quote == 0 && (c == '"' || c == '\'')) quote = c;
    else if (!comment && c == quote) quote = 0;
    const bool alone = (before == ' ' || before == '[' || before == '{') &&
                       std::string_view(",]} \r\n").find(after) != std::string_view::npos;
    if (c == '?' && !comment && quote == 0 && alone) out += "\"?\"";
    else out += c;
  }
  return out;
}

// Example answers to the questions of `warpwright init`, by the key that they stand under, and by that key's parent.
std::string ExampleAnswer(std::string_view key, std::string_view parent) {
  if (parent == "args") return fmt::format("{0}: {{buffer: f32, shape: [N], role: in}}, or {0}: {{scalar: i32}}", key);
  if (key == "shape") return "shape: [rows, columns], in the names of integer arguments";
  if (key == "buffer" || key == "scalar") return fmt::format("{}: f32", key);
  if (key == "role") return "role: in, out or inout";
  if (key == "grid" || key == "block") return fmt::format("{}: [\"ceil_div(N, 256)\"]", key);
  return fmt::format("{}: 1024", key);
}

// The first question mark in a kernel, the key that it stands under, and that key's parent.
struct Question {
  const YamlNode* node;
  std::string_view key, parent;
};
std::optional<Question> FindQuestion(const YamlNode& node, std::string_view key, std::string_view parent) {
  if (node.IsScalar() && node.text() == "?") return Question{&node, key, parent};
  for (const YamlNode& item : node.items())
    if (auto found = FindQuestion(item, key, parent)) return found;
  for (const auto& [name, value] : node.entries())
    if (auto found = FindQuestion(value, name.text(), key)) return found;
  return std::nullopt;
}

void ReadKernels(const YamlNode& node, const core::BuildOptions& build, core::Manifest& manifest,
                 Diagnostics& diagnostics) {
  if (!node.IsList()) return diagnostics.Add(node, "'kernels' must be a list", "begin each kernel with '- name: ...'");
  std::set<std::string> names;
  for (const YamlNode& item : node.items()) {
    if (const auto question = FindQuestion(item, "", "")) {
      const YamlNode* name = item.Find("name");
      const std::string kernel = name != nullptr ? name->text() : "";
      manifest.unanswered.push_back(
          {kernel, question->node->ErrorHere(
                       fmt::format("kernel '{}' waits for an answer: '{}' is a question mark", kernel, question->key),
                       "for example " + ExampleAnswer(question->key, question->parent))});
      continue;
    }
    core::KernelSpec spec = ReadKernel(item, build, diagnostics);
    if (!spec.name.empty() && !names.insert(spec.name).second)
      diagnostics.Add(*item.Find("name"), fmt::format("a second kernel is called '{}'", spec.name),
                      "names must be unique");
    manifest.kernels.push_back(std::move(spec));
  }
}

}  // namespace

Result<core::Manifest> ParseManifest(std::string_view text, std::string path, Unanswered all) {
  WW_ASSIGN(YamlNode root, ParseYaml(QuoteQuestions(text), path));
  core::Manifest manifest;
  manifest.path = std::move(path);
  manifest.digest = base::Sha256(text);
  Diagnostics diagnostics;
  YamlObject map(root, "a manifest", {"version", "build", "kernels", "policy", "pull_requests", "nightly"},
                 diagnostics);
  if (root.IsMap()) {
    map.Integer("version", 1, 1);
    core::BuildOptions build;
    if (const YamlNode* node = map.Find("build")) build = ReadBuild(*node, build, diagnostics);
    if (const YamlNode* kernels = map.Require("kernels")) ReadKernels(*kernels, build, manifest, diagnostics);
    if (const YamlNode* policy = map.Find("policy")) manifest.policy = ReadPolicy(*policy, diagnostics);
    if (const YamlNode* policy = map.Find("pull_requests"))
      manifest.pull_requests = ReadPullRequests(*policy, diagnostics);
    if (const YamlNode* policy = map.Find("nightly")) manifest.nightly = ReadNightly(*policy, diagnostics);
  }
  WW_TRY(diagnostics.ToStatus());
  if (all == Unanswered::kFail && manifest.kernels.empty() && !manifest.unanswered.empty())
    return Fail(manifest.unanswered.front().question);
  return manifest;
}

Result<core::Manifest> LoadManifest(const std::filesystem::path& repository_root, Unanswered all) {
  const std::filesystem::path path = repository_root / kManifestName;
  std::error_code code;
  const auto status = std::filesystem::symlink_status(path, code);
  if (!std::filesystem::exists(status))
    return Fail(Error{.code = ErrorCode::kConfig,
                      .message = fmt::format("there is no {} in {}", kManifestName, repository_root.string()),
                      .remedy = "run 'warpwright init' to write a first one"});
  if (!std::filesystem::is_regular_file(status))
    return Fail(Error{.code = ErrorCode::kConfig,
                      .message = "the manifest is not a regular file",
                      .file = path.string(),
                      .remedy = "replace it by a file"});
  if (const auto bytes = std::filesystem::file_size(path, code); !code && bytes > kMaxManifestBytes)
    return Fail(Error{.code = ErrorCode::kConfig,
                      .message = fmt::format("the manifest has {} bytes, more than the {} that one may have", bytes,
                                             kMaxManifestBytes),
                      .file = path.string(),
                      .remedy = "leave out what it need not say"});
  WW_ASSIGN(std::string text, base::ReadFile(path, kMaxManifestBytes));
  WW_ASSIGN(core::Manifest manifest, ParseManifest(text, path.string(), all));
  Diagnostics diagnostics;
  auto check = [&](Status found, int line) {
    if (!found)
      diagnostics.Add(Error{.code = ErrorCode::kConfig,
                            .message = found.error().message,
                            .file = path.string(),
                            .line = line,
                            .remedy = found.error().remedy});
  };
  std::set<std::pair<std::string, int>> folders;
  for (const core::KernelSpec& spec : manifest.kernels) {
    check(CheckRepositoryFile(repository_root, spec.file), spec.line);
    for (const std::string& folder : spec.build.include)
      if (folders.emplace(folder, spec.build.line).second)  // kernels share those of the whole manifest
        check(CheckRepositoryFolder(repository_root, folder), spec.build.line);
    for (const core::Argument& argument : spec.args)
      if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
          buffer && buffer->init.kind == core::Init::Kind::kFile)
        check(CheckRepositoryFile(repository_root, buffer->init.path), argument.line);
  }
  WW_TRY(diagnostics.ToStatus());
  return manifest;
}

}  // namespace warpwright::config
