// What was asked and answered, as files that can be played back: exact, deterministic, without a model. One file for
// each question, <id>.transcript.json: {"question": {...}, "answer": {...}}.
#pragma once

#include <filesystem>
#include <memory>

#include "llm/language_model.h"

namespace warpwright::llm {

struct Transcript {
  Question question;
  Answer answer;
};
// kCorrupt: not such a file, or of another question than its name says.
Result<Transcript> DecodeTranscript(std::string_view text, std::string_view id);
std::string EncodeTranscript(const Transcript& transcript);

// Writes down what any other model answers. A later answer to the same question replaces an earlier one; Pending is no
// answer.
class RecordingModel final : public LanguageModel {
 public:
  RecordingModel(std::unique_ptr<LanguageModel> inner, std::filesystem::path folder)
      : inner_(std::move(inner)), folder_(std::move(folder)) {}
  Result<Answer> Ask(const Question& question) override;

 private:
  std::unique_ptr<LanguageModel> inner_;
  const std::filesystem::path folder_;
};

// Answers from the folder alone; kNotRecorded otherwise.
class ReplayModel final : public LanguageModel {
 public:
  explicit ReplayModel(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Result<Answer> Ask(const Question& question) override;

 private:
  const std::filesystem::path folder_;
};

}  // namespace warpwright::llm
