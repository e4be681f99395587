#include "config/project_build.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/fields.h"
#include "base/file_below.h"
#include "base/json.h"
#include "config/build_reader.h"
#include "config/repository_path.h"

namespace warpwright::config {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxCommandsBytes = 64 << 20, kMaxBuildFileBytes = 1 << 20;

std::string TextAt(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Words behind which another one stands that is not ours.
bool TakesAWord(std::string_view word) {
  static const std::set<std::string_view> kOthers = {"-o",
                                                     "-x",
                                                     "-include",
                                                     "-MF",
                                                     "-MT",
                                                     "-MQ",
                                                     "-ccbin",
                                                     "-Xptxas",
                                                     "-Xlinker",
                                                     "-Xcompiler",
                                                     "-Xcudafe",
                                                     "-Xnvlink",
                                                     "-Xarchive",
                                                     "-gencode",
                                                     "-arch",
                                                     "--compiler-options",
                                                     "--generate-code",
                                                     "--gpu-architecture",
                                                     "--compiler-bindir",
                                                     "-L",
                                                     "-l"};
  return kOthers.contains(word);
}

// The rest of `word` behind one of the spellings of an option, with "=" or without; or the next word.
bool TakeValue(std::span<const std::string> words, size_t& at, std::initializer_list<std::string_view> options,
               std::string& value) {
  const std::string_view word = words[at];
  for (const std::string_view option : options) {
    if (word == option) {
      if (at + 1 >= words.size()) return false;
      value = words[++at];
      return true;
    }
    if (!word.starts_with(option)) continue;
    std::string_view rest = word.substr(option.size());
    const bool joined = option == "-I" || option == "-D";
    if (!joined && !rest.starts_with('=')) continue;
    if (rest.starts_with('=')) rest.remove_prefix(1);
    value = rest;
    return true;
  }
  return false;
}

bool SaysAnything(const core::BuildOptions& build) { return !build.IsDefault(); }

}  // namespace

std::vector<std::string> SplitCommandLine(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  char quote = 0;
  for (size_t i = 0; i < line.size() && words.size() < kMaxBuildWords; ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
      inside = true;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
      else word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      inside = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (inside) words.push_back(std::move(word));
      word.clear();
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (inside && words.size() < kMaxBuildWords) words.push_back(std::move(word));
  return words;
}

void AddFolder(const std::string& word, const BuildPlace& place, core::BuildOptions& build) {
  if (word.empty() || build.include.size() >= kMaxBuildItems) return;
  const fs::path path = fs::path(word).is_absolute() ? fs::path(word) : place.root / place.folder / word;
  std::string below = path.lexically_normal().lexically_relative(place.root.lexically_normal()).generic_string();
  while (below.size() > 1 && below.ends_with('/')) below.pop_back();
  if (!IsIncludeFolder(below)) return;
  if (std::find(build.include.begin(), build.include.end(), below) == build.include.end())
    build.include.push_back(std::move(below));
}

void AddDefine(std::string_view word, core::BuildOptions& build) {
  const size_t equal = word.find('=');
  const std::string name(word.substr(0, equal));
  const std::string value(equal == std::string_view::npos ? "1" : word.substr(equal + 1));
  if (build.define.size() < kMaxBuildItems && IsDefine(name, value)) build.define[name] = value;
}

void AddStandard(std::string_view word, core::BuildOptions& build) {
  for (const std::string_view prefix : {"gnu++", "c++"})
    if (word.starts_with(prefix)) word.remove_prefix(prefix.size());
  if (const auto standard = base::ParseName<core::CxxStandard>("c++" + std::string(word))) build.standard = *standard;
}

// Code for several chips must compile for each of them.
bool NamesAnotherArchitecture(std::string_view word) {
  const bool named = word.find("sm_") != std::string_view::npos || word.find("compute_") != std::string_view::npos;
  return named && ParseBuildFlag(word) != core::BuildFlag::kHopperAlone;
}

void AddCompilerWords(std::span<const std::string> words, const BuildPlace& place, core::BuildOptions& build) {
  for (size_t i = 0; i < words.size(); ++i) {
    std::string value;
    if (TakesAWord(words[i])) ++i;
    else if (TakeValue(words, i, {"-I", "-isystem", "--include-path", "--system-include"}, value))
      AddFolder(value, place, build);
    else if (TakeValue(words, i, {"-D", "--define-macro"}, value)) AddDefine(value, build);
    else if (TakeValue(words, i, {"-std", "--std"}, value)) AddStandard(value, build);
    else if (const auto flag = ParseBuildFlag(words[i])) build.flags.insert(*flag);
  }
  if (std::any_of(words.begin(), words.end(), NamesAnotherArchitecture))
    build.flags.erase(core::BuildFlag::kHopperAlone);
}

core::BuildOptions ReadCompileCommands(std::string_view text, const BuildPlace& place, const std::string& file) {
  core::BuildOptions build;
  const auto commands = base::ParseJson(text, {.bytes = kMaxCommandsBytes, .depth = 8});
  if (!commands || !commands->is_array()) return build;
  const fs::path wanted = (place.root / file).lexically_normal();
  for (const nlohmann::json& command : *commands) {
    if (!command.is_object()) continue;
    const fs::path directory =
        place.root / place.folder / TextAt(command, "directory");  // an absolute one stands alone
    if ((directory / TextAt(command, "file")).lexically_normal() != wanted) continue;
    std::vector<std::string> words = SplitCommandLine(TextAt(command, "command"));
    if (const auto arguments = command.find("arguments"); arguments != command.end() && arguments->is_array())
      for (const nlohmann::json& argument : *arguments)
        if (argument.is_string() && words.size() < kMaxBuildWords) words.push_back(argument.get<std::string>());
    AddCompilerWords(words, {place.root, directory.lexically_relative(place.root)}, build);
    break;
  }
  return build;
}

ProjectBuild FindProjectBuild(const fs::path& given, const std::string& file) {
  std::error_code failed;
  const fs::path root = fs::canonical(given, failed);
  if (failed) return {};
  const auto existing = [&](core::BuildOptions build) {
    std::erase_if(build.include, [&](const std::string& folder) { return !CheckRepositoryFolder(root, folder); });
    return build;
  };
  for (const char* folder : {"", "build"}) {
    const std::string name = (fs::path(folder) / "compile_commands.json").generic_string();
    const auto text = base::ReadFileBelow(root, name, kMaxCommandsBytes);
    core::BuildOptions build = text ? existing(ReadCompileCommands(*text, {root, folder}, file)) : core::BuildOptions();
    if (SaysAnything(build)) return {std::move(build), name};
  }
  for (const bool cmake : {true, false})
    for (fs::path folder = fs::path(file).parent_path();; folder = folder.parent_path()) {
      for (const char* name :
           cmake ? std::vector{"CMakeLists.txt"} : std::vector{"GNUmakefile", "makefile", "Makefile"}) {
        const std::string path = (folder / name).generic_string();
        const auto text = base::ReadFileBelow(root, path, kMaxBuildFileBytes);
        if (!text) continue;
        core::BuildOptions build =
            existing(cmake ? ReadCMakeLists(*text, {root, folder}, file) : ReadMakefile(*text, {root, folder}));
        if (SaysAnything(build)) return {std::move(build), path};
      }
      if (folder.empty()) break;
    }
  return {};
}

}  // namespace warpwright::config
