// Measured experience: what a method did to a kernel of this kind in this state. One JSON object per line, appended
// after every verdict, failures too; stores are joined by `cat` (equal entries are counted once). The format is
// described in memory/README.md.
//
// How experience ranks methods. The value of an attempt is y = max(0, log gain), 0 also for a failure and for a gain
// below twice its spread: the loop keeps its base then. A method's expected value is the posterior mean of a normal
// model with known relative precision,
//   E = (k0 * m0 + sum w_i y_i) / (k0 + sum w_i)
// (conjugate prior: Gelman et al., Bayesian Data Analysis, 2.5; the shrinkage of Efron and Morris, JASA 70, 1975). m0
// is the policy's expectation (RankedMethod::expected_log_gain), k0 the number of samples that it is worth, and w_i the
// weight of a sample by its MatchGrade: most for the same formula, then for the same class of shapes, then for the same
// chip and type, least for the operation alone. With no samples the order is the policy's; as they grow it becomes the
// measured one. The probability of success is Beta: (1 +
// sum w_i [y_i > 0]) / (2 + sum w_i). Optional exploration adds c * sigma / sqrt(k0 + sum w_i) (Auer et al., Machine
// Learning 47, 2002, with a fixed numerator).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/verdict.h"

namespace warpwright::memory {

struct ExperienceKey {
  std::string chip;       // "h200"
  std::string dtype;      // "f32"
  std::string operation;  // "row_normalization"
  std::string state;      // MatchResult::state: the bottleneck and coarse buckets
  std::string form;       // digest of what the entry computes, in whatever way; empty: not known
  std::string shape;      // core::ShapeClassOf() it; empty: not known
  bool operator==(const ExperienceKey&) const = default;
};

struct Experience {
  ExperienceKey key;
  std::string method;
  std::map<std::string, std::string> parameters;
  core::VerdictKind outcome = core::VerdictKind::kMeasured;
  double log_gain =
      0;  // ln(time before / time after) against the base that it was tried on; 0 if the outcome is not a measurement
  double spread = 0;      // standard error of log_gain; 0 on the simulator
  bool modelled = true;   // the times are modelled, not measured
  std::string kernel;     // name in the manifest
  std::string source;     // SHA-256 of the base's text: the same in every repository
  std::string toolchain;  // "nvrtc 13.0"
  std::string version;    // of warpwright
  std::string time;       // "2026-11-21T09:30:00Z"
  bool operator==(const Experience&) const = default;
};

// One line without its newline. A string that is too long is an Error, as is everything that ParseExperience would
// refuse.
Result<std::string> FormatExperience(const Experience& experience);
// kCorrupt with the reason; unknown keys are ignored, a newer format is refused.
Result<Experience> ParseExperience(std::string_view line);
// Content address: equal experiences from two stores have the same one.
std::string ExperienceId(const Experience& experience);

// How near a sample is, by what it shares with the question; each counts at least as much as the one before.
enum class MatchGrade {
  kNone,
  kOperation,    // the operation
  kSimilar,      // operation and state, on another chip or in another type
  kForm,         // the formula, in another state: another's implementation, or an earlier version of this one
  kExact,        // chip, type, operation and state
  kShape,        // these, and the class of shapes
  kFormExact,    // the formula, chip, type and state
  kFormAndShape  // all
};
std::string_view Name(MatchGrade grade);
MatchGrade GradeOf(const Experience& experience, const ExperienceKey& key);

struct GradedExperience {
  Experience experience;
  MatchGrade grade = MatchGrade::kNone;
};
struct ExperienceMatches {
  MatchGrade best = MatchGrade::kNone;
  std::vector<GradedExperience> samples;  // everything of the same operation or formula, in the order of the store
  std::vector<std::string> warnings;      // "path:line: reason" of lines that could not be read
};

class ExperienceStore {
 public:
  virtual ~ExperienceStore() = default;
  virtual Status Append(const Experience& experience) = 0;
  virtual Result<ExperienceMatches> Query(const ExperienceKey& key) = 0;
};

struct StoreContent {
  std::vector<Experience> experiences;  // each once, in the order of first appearance
  std::vector<std::string> warnings;
  size_t lines = 0, duplicates = 0, bad = 0;
};
// A missing file is an empty store. Bad lines become warnings.
Result<StoreContent> ReadStore(const std::filesystem::path& path);
// Joins stores into `output` (which may be one of them), sorted by time; atomic. Bad lines are dropped and listed in
// the warnings.
Result<StoreContent> MergeStores(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output);

// Appends to the first path and reads all of them, including what other processes add to them meanwhile.
class JsonLinesStore final : public ExperienceStore {
 public:
  explicit JsonLinesStore(std::filesystem::path path, std::vector<std::filesystem::path> read_only = {});
  Status Append(const Experience& experience) override;
  Result<ExperienceMatches> Query(const ExperienceKey& key) override;

 private:
  struct File {
    std::filesystem::path path;
    uint64_t device = 0, inode = 0, offset = 0;
    size_t line = 0;
    std::vector<Experience> experiences;
    std::vector<std::string> warnings;
  };
  Status Refresh(File& file);
  std::vector<File> files_;
};

}  // namespace warpwright::memory
