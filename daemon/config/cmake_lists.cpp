// The commands of a CMakeLists.txt that say how a file is compiled, as far as they are literal.
#include <algorithm>
#include <optional>
#include <set>

#include "config/project_build.h"

namespace warpwright::config {
namespace {

struct Command {
  std::string name;  // in small letters
  std::vector<std::string> words;
};

class CMakeScanner {
 public:
  explicit CMakeScanner(std::string_view text) : text_(text) {}

  std::vector<Command> Run() {
    std::vector<Command> commands;
    while (at_ < text_.size() && words_ < kMaxBuildWords) {
      const size_t begin = at_;
      while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
      const std::string_view name = text_.substr(begin, at_ - begin);
      while (!name.empty() && at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
      if (!name.empty() && at_ < text_.size() && text_[at_] == '(') {
        ++at_;
        commands.push_back({Small(name), Words()});
      } else if (name.empty() && !SkipComment() && at_ < text_.size()) {
        ++at_;
      }
    }
    return commands;
  }

 private:
  static bool IsNamePart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  static std::string Small(std::string_view name) {
    std::string small(name);
    for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return small;
  }
  // "[[...]]" or "[==[...]==]"; nothing: none begins here.
  std::optional<std::string_view> Bracket() {
    size_t equals = at_ + 1;
    if (at_ >= text_.size() || text_[at_] != '[') return std::nullopt;
    while (equals < text_.size() && text_[equals] == '=') ++equals;
    if (equals >= text_.size() || text_[equals] != '[') return std::nullopt;
    const std::string close = "]" + std::string(equals - at_ - 1, '=') + "]";
    const size_t end = std::min(text_.find(close, equals), text_.size());
    const std::string_view inside = text_.substr(equals + 1, end - std::min(end, equals + 1));
    at_ = std::min(end + close.size(), text_.size());
    return inside;
  }
  bool SkipComment() {
    if (at_ >= text_.size() || text_[at_] != '#') return false;
    ++at_;
    if (!Bracket()) at_ = std::min(text_.find('\n', at_), text_.size());
    return true;
  }
  std::string Quoted() {
    std::string word;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      word += text_[at_];
    }
    at_ = std::min(at_ + 1, text_.size());
    return word;
  }
  // Up to the parenthesis that closes the command. Lists are several words.
  std::vector<std::string> Words() {
    std::vector<std::string> words;
    int depth = 1;
    while (at_ < text_.size() && words_ < kMaxBuildWords) {
      const char c = text_[at_];
      if (c == '(' || c == ')') {
        ++at_;
        depth += c == '(' ? 1 : -1;
        if (depth == 0) break;
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ';') {
        ++at_;
      } else if (SkipComment()) {
        continue;
      } else if (const auto bracket = Bracket()) {
        Add(words, std::string(*bracket));
      } else if (c == '"') {
        Add(words, Quoted());
      } else {
        const size_t end = std::min(text_.find_first_of(" \t\r\n();\"#", at_ + 1), text_.size());
        Add(words, std::string(text_.substr(at_, end - at_)));
        at_ = end;
      }
    }
    return words;
  }
  void Add(std::vector<std::string>& words, std::string word) {
    ++words_;
    words.push_back(std::move(word));
  }

  std::string_view text_;
  size_t at_ = 0, words_ = 0;
};

class CMakeBuild {
 public:
  CMakeBuild(const std::vector<Command>& commands, const BuildPlace& place, const std::string& file)
      : commands_(commands), place_(place), file_((place.root / file).lexically_normal()) {
    FindTargets();
  }

  core::BuildOptions Run() {
    int depth = 0;  // of blocks that run under a condition, several times or elsewhere
    for (const Command& command : commands_) {
      static const std::set<std::string_view> kOpen = {"if", "foreach", "while", "function", "macro"},
                                              kClose = {"endif", "endforeach", "endwhile", "endfunction", "endmacro"};
      if (kOpen.contains(command.name)) ++depth;
      else if (kClose.contains(command.name)) --depth;
      else Read(command, depth > 0);
    }
    return std::move(build_);
  }

 private:
  // The targets that name the file; none: a list that is not written out does, and all targets count.
  void FindTargets() {
    for (const Command& command : commands_) {
      static const std::set<std::string_view> kSources = {"add_executable", "add_library", "cuda_add_library",
                                                          "cuda_add_executable", "target_sources"};
      if (!kSources.contains(command.name) || command.words.empty()) continue;
      for (const std::string& word : command.words)
        if (const auto path = Literal(word); path && Absolute(*path) == file_) targets_.insert(command.words[0]);
    }
  }
  bool IsOurs(const std::string& target) const { return targets_.empty() || targets_.contains(target); }
  std::filesystem::path Absolute(const std::string& path) const {
    return (place_.root / place_.folder / path).lexically_normal();
  }

  // Without "$<BUILD_INTERFACE:...>" and "$<$<COMPILE_LANGUAGE:CUDA>:...>" around it, with the folders that everybody
  // names by variables; nothing if more of it is not literal.
  std::optional<std::string> Literal(std::string word) const {
    for (const std::string_view open : {"$<BUILD_INTERFACE:", "$<$<COMPILE_LANGUAGE:CUDA>:"})
      if (word.starts_with(open) && word.ends_with('>')) word = word.substr(open.size(), word.size() - open.size() - 1);
    const std::string here = (place_.root / place_.folder).lexically_normal().generic_string();
    const std::pair<std::string_view, std::string> known[] = {{"${CMAKE_CURRENT_SOURCE_DIR}", here},
                                                              {"${CMAKE_CURRENT_LIST_DIR}", here},
                                                              {"${PROJECT_SOURCE_DIR}", place_.root.generic_string()},
                                                              {"${CMAKE_SOURCE_DIR}", place_.root.generic_string()}};
    for (const auto& [name, value] : known)
      if (word.starts_with(name)) word.replace(0, name.size(), value);
    return word.find('$') == std::string::npos ? std::optional(word) : std::nullopt;
  }

  void Read(const Command& command, bool conditional) {
    const std::string& name = command.name;
    const std::vector<std::string>& words = command.words;
    const bool of_target = name.starts_with("target_");
    if (words.empty() || (of_target && !IsOurs(words[0]))) return;
    if (name == "include_directories" || name == "target_include_directories" || name == "cuda_include_directories")
      return Folders(words, of_target ? 1 : 0);
    if (conditional) return;
    if (name == "add_compile_definitions" || name == "target_compile_definitions")
      return Definitions(words, of_target ? 1 : 0);
    if (name == "add_definitions" || name == "add_compile_options" || name == "target_compile_options")
      return Options(words, of_target ? 1 : 0);
    if (name == "set" && words.size() >= 2) return Set(words[0], words);
    if (name == "string" && words.size() >= 3 && words[0] == "APPEND") return Set(words[1], words);
    if (name == "set_property" || name == "set_target_properties") Standard(words);
  }
  static bool IsKeyword(const std::string& word) {
    static const std::set<std::string_view> kWords = {"PUBLIC", "PRIVATE", "INTERFACE", "SYSTEM", "BEFORE", "AFTER"};
    return kWords.contains(word);
  }
  void Folders(const std::vector<std::string>& words, size_t first) {
    for (size_t i = first; i < words.size(); ++i)
      if (const auto word = Literal(words[i]); word && !IsKeyword(words[i])) AddFolder(*word, place_, build_);
  }
  void Definitions(const std::vector<std::string>& words, size_t first) {
    for (size_t i = first; i < words.size(); ++i)
      if (const auto word = Literal(words[i]); word && !IsKeyword(words[i]))
        AddDefine(std::string_view(*word).substr(word->starts_with("-D") ? 2 : 0), build_);
  }
  void Options(const std::vector<std::string>& words, size_t first) {
    std::vector<std::string> literal;
    for (size_t i = first; i < words.size(); ++i)
      if (const auto word = Literal(words[i]))
        for (std::string& part : SplitCommandLine(*word)) literal.push_back(std::move(part));
    AddCompilerWords(literal, place_, build_);
  }
  void Set(const std::string& variable, const std::vector<std::string>& words) {
    if (variable == "CMAKE_CUDA_STANDARD") AddStandard(words[1], build_);
    if (variable == "CMAKE_CUDA_FLAGS" || variable == "CUDA_NVCC_FLAGS") Flags(words);
  }
  // set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} --use_fast_math")
  void Flags(const std::vector<std::string>& words) {
    std::vector<std::string> literal;
    for (const std::string& word : words)
      for (std::string& part : SplitCommandLine(word))
        if (part.find('$') == std::string::npos) literal.push_back(std::move(part));
    AddCompilerWords(literal, place_, build_);
  }
  // set_target_properties(a b PROPERTIES CUDA_STANDARD 20), set_property(TARGET a PROPERTY CUDA_STANDARD 20)
  void Standard(const std::vector<std::string>& words) {
    const auto said = std::find(words.begin(), words.end(), "CUDA_STANDARD");
    if (said == words.end() || said + 1 == words.end()) return;
    if (std::any_of(words.begin(), said, [&](const std::string& word) { return IsOurs(word); }))
      AddStandard(said[1], build_);
  }

  const std::vector<Command>& commands_;
  const BuildPlace& place_;
  const std::filesystem::path file_;
  std::set<std::string> targets_;
  core::BuildOptions build_;
};

}  // namespace

core::BuildOptions ReadCMakeLists(std::string_view text, const BuildPlace& place, const std::string& file) {
  return CMakeBuild(CMakeScanner(text).Run(), place, file).Run();
}

}  // namespace warpwright::config
