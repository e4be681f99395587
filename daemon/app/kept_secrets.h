// What a judge draws so that no candidate can know it, kept beside the transcripts of a run: a replay elsewhere draws
// the same, so that its messages, which may name drawn sizes, lead to the same questions.
//
// secrets.json: {"<digest of an evaluation>": "<16 hexadecimal digits>"}. The number of a full evaluation is drawn when
// the candidate has run already, and belongs to its text alone: who reads the file learns nothing about the next one.
// Quick evaluations of a task share one number, which a model with access to the folder may read; no acceptance uses
// it. A replay believes the folder, numbers and answers alike: a folder of somebody else's is no witness of its
// results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"

namespace warpwright::app {

class KeptSecrets {
 public:
  // `replayed`: where an earlier run kept its own; `kept`: where this one's go, and may lie already. Empty: none.
  // kCorrupt, with the file: it is none of these.
  static Result<std::shared_ptr<KeptSecrets>> Open(const std::filesystem::path& replayed, std::filesystem::path kept);
  // Drawn at the first call with `of`.
  Result<uint64_t> Draw(const std::string& of);

 private:
  explicit KeptSecrets(std::filesystem::path kept) : kept_(std::move(kept)) {}
  Status Load(const std::filesystem::path& folder);

  const std::filesystem::path kept_;
  std::map<std::string, std::string> secrets_;
};

}  // namespace warpwright::app
