// The variables of a Makefile that hold flags of nvcc, and its own calls of it, as far as they are literal.
#include <algorithm>

#include "config/project_build.h"

namespace warpwright::config {
namespace {

constexpr size_t kMaxLines = 20'000;

// With what backslashes join.
std::vector<std::string> LogicalLines(std::string_view text) {
  std::vector<std::string> lines(1);
  for (size_t at = 0; at < text.size() && lines.size() < kMaxLines;) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool joined = line.ends_with('\\');
    if (joined) line.remove_suffix(1);
    lines.back() += line;
    lines.back() += ' ';
    if (!joined) lines.emplace_back();
  }
  return lines;
}

bool Holds(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

// Words without make's variables; $(CURDIR) is the folder that the others are relative to anyway.
std::vector<std::string> LiteralWords(std::string_view text) {
  std::vector<std::string> words;
  for (std::string& word : SplitCommandLine(text.substr(0, text.find('#')))) {
    for (const std::string_view here : {"$(CURDIR)", "${CURDIR}"})
      if (const size_t at = word.find(here); at != std::string::npos) word.replace(at, here.size(), ".");
    if (word.find('$') == std::string::npos) words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

core::BuildOptions ReadMakefile(std::string_view text, const BuildPlace& place) {
  core::BuildOptions build;
  int depth = 0;  // of conditions
  for (const std::string& line : LogicalLines(text)) {
    const size_t first = std::min(line.find_first_not_of(" \t"), line.size());
    const std::string_view said = std::string_view(line).substr(first);
    if (said.starts_with("if")) ++depth;
    if (said.starts_with("endif")) --depth;
    core::BuildOptions found;
    if (line.starts_with('\t')) {  // a recipe
      if (Holds(said.substr(0, said.find(' ')), {"nvcc", "NVCC"})) AddCompilerWords(LiteralWords(said), place, found);
    } else if (const size_t equal = said.find('='); equal != std::string_view::npos) {
      std::string_view name = said.substr(0, equal);
      while (!name.empty() && std::string_view(" \t:+?").find(name.back()) != std::string_view::npos)
        name.remove_suffix(1);
      const bool of_nvcc = Holds(name, {"NV", "CU"});
      if (!of_nvcc && !Holds(name, {"INC", "CPPFLAGS", "DEF"})) continue;
      AddCompilerWords(LiteralWords(said.substr(equal + 1)), place, found);
      if (!of_nvcc) found.flags.clear();
      if (!of_nvcc) found.standard = core::CxxStandard::k17;
    }
    for (const std::string& folder : found.include) AddFolder((place.root / folder).generic_string(), place, build);
    if (depth > 0) continue;
    for (const auto& [name, value] : found.define) AddDefine(name + "=" + value, build);
    build.flags.insert(found.flags.begin(), found.flags.end());
    if (found.standard != core::CxxStandard::k17) build.standard = found.standard;
  }
  return build;
}

}  // namespace warpwright::config
