#include "memory/experience.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <map>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/fd.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json_codec.h"
#include "base/text_check.h"
#include "memory/experience_fields.h"

namespace warpwright::memory {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;
constexpr size_t kMaxLineBytes = 16 << 10, kMaxStringBytes = 512, kMaxParameters = 32, kMaxWarnings = 100;
constexpr uint64_t kMaxStoreBytes = 256u << 20;
constexpr double kMaxLogGain = 20;  // e^20: no real gain is larger

tl::unexpected<Error> Bad(std::string message) { return Fail(ErrorCode::kCorrupt, std::move(message)); }

bool IsSha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Status CheckValues(const Experience& e) {
  WW_TRY(base::CheckTexts(e, kMaxStringBytes));
  if (!e.key.form.empty() && !IsSha256(e.key.form)) return Bad("'form' must be a SHA-256 in hexadecimal digits");
  if (e.parameters.size() > kMaxParameters) return Bad(fmt::format("more than {} parameters", kMaxParameters));
  for (const auto& [name, value] : e.parameters) {
    WW_TRY(base::CheckText("parameters", name, kMaxStringBytes, true));
    WW_TRY(base::CheckText("parameters", value, kMaxStringBytes, false));
  }
  if (!(std::abs(e.log_gain) <= kMaxLogGain))
    return Bad(fmt::format("'log_gain' must lie from -{0} to {0}", kMaxLogGain));
  if (!(e.spread >= 0 && e.spread <= kMaxLogGain)) return Bad("'spread' must not be negative");
  if (e.outcome != core::VerdictKind::kMeasured && e.log_gain != 0)
    return Bad(fmt::format("outcome '{}' cannot have a gain", Name(e.outcome)));
  return {};
}

// The fields, along with the version of the format.
std::string Line(const Experience& e) {
  Json json = base::ToJson(e);
  json["v"] = kFormat;
  return base::DumpJson(json);
}

// Reads the lines of `text` into `experiences`; `line` continues from its present value.
void ReadLines(std::string_view text, const std::string& path, size_t& line, std::vector<Experience>& experiences,
               std::vector<std::string>& warnings, size_t& bad) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view current = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++line;
    if (current.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto experience = ParseExperience(current);
    if (experience) {
      experiences.push_back(std::move(*experience));
    } else {
      ++bad;
      if (warnings.size() < kMaxWarnings)
        warnings.push_back(fmt::format("{}:{}: {}", path, line, experience.error().message));
    }
  }
}

}  // namespace

Result<std::string> FormatExperience(const Experience& experience) {
  WW_TRY(CheckValues(experience));
  std::string line = Line(experience);
  if (line.size() > kMaxLineBytes) return Bad(fmt::format("the line has more than {} bytes", kMaxLineBytes));
  return line;
}

Result<Experience> ParseExperience(std::string_view line) {
  if (line.size() > kMaxLineBytes) return Bad(fmt::format("the line has more than {} bytes", kMaxLineBytes));
  WW_ASSIGN(const Json json, base::ParseJson(line));
  if (!json.is_object()) return Bad("not an object");
  const auto version = json.find("v");
  if (version == json.end() || !version->is_number_integer()) return Bad("'v', the version of the format, is missing");
  if (*version != kFormat)
    return Bad(
        fmt::format("format {} is not known to this version, which writes {}", base::DumpJson(*version), kFormat));
  WW_ASSIGN(Experience experience, base::FromJson<Experience>(json));
  WW_TRY(CheckValues(experience));
  return experience;
}

std::string ExperienceId(const Experience& experience) { return base::Sha256(Line(experience)); }

std::string_view Name(MatchGrade grade) {
  switch (grade) {
    case MatchGrade::kNone: return "none";
    case MatchGrade::kOperation: return "same operation";
    case MatchGrade::kSimilar: return "same operation and state";
    case MatchGrade::kForm: return "same formula";
    case MatchGrade::kExact: return "same kind of kernel";
    case MatchGrade::kShape: return "same kind of kernel and sizes";
    case MatchGrade::kFormExact: return "same formula and kind of kernel";
    case MatchGrade::kFormAndShape: return "same formula, kind of kernel and sizes";
  }
  return "?";
}

MatchGrade GradeOf(const Experience& experience, const ExperienceKey& key) {
  const ExperienceKey& own = experience.key;
  const bool form = !key.form.empty() && own.form == key.form;
  const bool operation = own.operation == key.operation, state = own.state == key.state;
  if (operation && state && own.chip == key.chip && own.dtype == key.dtype) {
    const bool shape = !key.shape.empty() && own.shape == key.shape;
    if (form) return shape ? MatchGrade::kFormAndShape : MatchGrade::kFormExact;
    return shape ? MatchGrade::kShape : MatchGrade::kExact;
  }
  if (form) return MatchGrade::kForm;
  if (!operation) return MatchGrade::kNone;
  return state ? MatchGrade::kSimilar : MatchGrade::kOperation;
}

Result<StoreContent> ReadStore(const std::filesystem::path& path) {
  StoreContent content;
  std::error_code code;
  if (!std::filesystem::exists(path, code) && !code) return content;
  WW_ASSIGN(const std::string text, base::ReadFile(path, kMaxStoreBytes));
  std::vector<Experience> all;
  ReadLines(text, path.string(), content.lines, all, content.warnings, content.bad);
  std::set<std::string> seen;
  for (Experience& e : all) {
    if (seen.insert(ExperienceId(e)).second) {
      content.experiences.push_back(std::move(e));
    } else {
      ++content.duplicates;
    }
  }
  return content;
}

std::vector<LearnedMethod> LearnedMethods(const std::vector<Experience>& experiences) {
  struct Sum {
    size_t tries = 0, faster = 0;
    double log_gain = 0;
  };
  std::map<std::string, Sum> sums;
  for (const Experience& experience : experiences) {
    Sum& sum = sums[experience.method];
    ++sum.tries;
    if (experience.log_gain <= 2 * experience.spread || experience.log_gain <= 0) continue;
    ++sum.faster;
    sum.log_gain += experience.log_gain;
  }
  std::vector<LearnedMethod> learned;
  for (const auto& [method, sum] : sums)
    learned.push_back({method, sum.tries, sum.faster,
                       sum.faster == 0 ? 1 : std::exp(sum.log_gain / static_cast<double>(sum.faster))});
  std::stable_sort(learned.begin(), learned.end(), [](const auto& a, const auto& b) { return a.faster > b.faster; });
  return learned;
}

Result<StoreContent> MergeStores(const std::vector<std::filesystem::path>& inputs,
                                 const std::filesystem::path& output) {
  StoreContent merged;
  std::set<std::string> seen;
  for (const auto& path : inputs) {
    if (!std::filesystem::exists(path)) return Fail(ErrorCode::kUsage, fmt::format("{} does not exist", path.string()));
    WW_ASSIGN(StoreContent content, ReadStore(path));
    merged.lines += content.lines;
    merged.bad += content.bad;
    merged.duplicates += content.duplicates;
    merged.warnings.insert(merged.warnings.end(), content.warnings.begin(), content.warnings.end());
    for (Experience& e : content.experiences) {
      if (seen.insert(ExperienceId(e)).second) {
        merged.experiences.push_back(std::move(e));
      } else {
        ++merged.duplicates;
      }
    }
  }
  std::stable_sort(merged.experiences.begin(), merged.experiences.end(), [](const Experience& a, const Experience& b) {
    return a.time != b.time ? a.time < b.time : ExperienceId(a) < ExperienceId(b);
  });
  std::string text;
  for (const Experience& e : merged.experiences) {
    WW_ASSIGN(const std::string line, FormatExperience(e));
    text += line + "\n";
  }
  WW_TRY(base::WriteFileAtomically(output, text));
  return merged;
}

JsonLinesStore::JsonLinesStore(std::filesystem::path path, std::vector<std::filesystem::path> read_only) {
  files_.resize(1 + read_only.size());
  files_[0].path = std::move(path);
  for (size_t i = 0; i < read_only.size(); ++i) files_[i + 1].path = std::move(read_only[i]);
}

Status JsonLinesStore::Append(const Experience& experience) {
  WW_ASSIGN(std::string line, FormatExperience(experience));
  const std::filesystem::path& path = files_[0].path;
  // A writer that was killed may have left half a line, which must not be joined with this one.
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char last = '\n';
  if (const off_t size = fd.valid() ? ::lseek(fd.get(), 0, SEEK_END) : 0;
      size > 0 && ::pread(fd.get(), &last, 1, size - 1) != 1)
    return FailErrno("read " + path.string());
  if (last != '\n') line.insert(0, "\n");
  std::error_code code;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), code);
  return base::AppendLine(path, line);
}

// Reads what was added since the last time; from the beginning if the file was replaced.
Status JsonLinesStore::Refresh(File& file) {
  const base::Fd fd(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno != ENOENT) return FailErrno("open " + file.path.string());
    file = File{file.path};
    return {};
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return FailErrno("stat " + file.path.string());
  const auto size = static_cast<uint64_t>(status.st_size);
  if (status.st_dev != file.device || status.st_ino != file.inode || size < file.offset) {
    file = File{file.path};
    file.device = status.st_dev;
    file.inode = status.st_ino;
  }
  if (size > kMaxStoreBytes)
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{} has {} bytes; at most {} are read", file.path.string(), size, kMaxStoreBytes),
                "start a new store, or merge with fewer inputs");
  std::string text(size - file.offset, '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t got =
        ::pread(fd.get(), text.data() + have, text.size() - have, static_cast<off_t>(file.offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailErrno("read " + file.path.string());
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  text.resize(have);
  const size_t end = text.rfind('\n');  // a line without its end is still being written
  if (end == std::string::npos) return {};
  size_t bad = 0;
  ReadLines(std::string_view(text).substr(0, end + 1), file.path.string(), file.line, file.experiences, file.warnings,
            bad);
  file.offset += end + 1;
  return {};
}

Result<ExperienceMatches> JsonLinesStore::Query(const ExperienceKey& key) {
  ExperienceMatches answer;
  std::set<std::string> seen;
  for (File& file : files_) {
    WW_TRY(Refresh(file));
    answer.warnings.insert(answer.warnings.end(), file.warnings.begin(), file.warnings.end());
    for (const Experience& e : file.experiences) {
      const MatchGrade grade = GradeOf(e, key);
      if (grade == MatchGrade::kNone || !seen.insert(ExperienceId(e)).second) continue;
      answer.best = std::max(answer.best, grade);
      answer.samples.push_back({e, grade});
    }
  }
  return answer;
}

}  // namespace warpwright::memory
