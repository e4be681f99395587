// exchange list, show, answer, export, import: questions to a language model that wait in a folder.
#include "llm/exchange.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/named_paths.h"
#include "report/format.h"

namespace warpwright::cli {
namespace {

using nlohmann::json;

constexpr size_t kMaxBundleBytes = 512u << 20;

struct State {
  const char* name;
  std::string detail;
};
State StateOf(const llm::FoundAnswer& answer) {
  return std::visit(Overload{[](const llm::NoAnswer&) { return State{"pending", ""}; },
                             [](const llm::BadAnswer& bad) { return State{"bad", bad.reason}; },
                             [](const llm::GivenAnswer& given) { return State{"answered", given.model}; }},
                    answer);
}

// Exit code 75 while a question waits: the next run would stop there again.
Result<int> List(const llm::Exchange& exchange, bool as_json) {
  WW_ASSIGN(const auto entries, exchange.List());
  json questions = json::array();
  size_t waiting = 0;
  for (const llm::ExchangeEntry& entry : entries) {
    const State state = StateOf(entry.answer);
    waiting += !std::holds_alternative<llm::GivenAnswer>(entry.answer);
    questions.push_back({{"id", entry.id},
                         {"role", Name(entry.role)},
                         {"schema", entry.schema_name},
                         {"prompt_bytes", entry.prompt_bytes},
                         {"state", state.name},
                         {"detail", state.detail}});
    if (!as_json)
      fmt::print("{}  {:9} {:18} {:7} bytes  {}\n", entry.id.substr(0, 12), state.name, Name(entry.role),
                 entry.prompt_bytes, base::Printable(state.detail));
  }
  if (as_json) std::puts(base::DumpJson({{"waiting", waiting}, {"questions", questions}}, 2).c_str());
  else fmt::print("{}, {} without an answer\n", report::Plural(static_cast<int>(entries.size()), "question"), waiting);
  return waiting > 0 ? kExitPending : kExitDone;
}

Result<std::string> ReadInput(const std::string& file) {
  WW_TRY(CheckNamedFile("--file", file));
  if (!file.empty()) return base::ReadFile(file, llm::kMaxGivenBytes);
  std::string text;
  char piece[65536];
  while (std::cin.read(piece, sizeof piece), std::cin.gcount() > 0) {
    text.append(piece, static_cast<size_t>(std::cin.gcount()));
    if (text.size() > llm::kMaxGivenBytes)
      return Fail(ErrorCode::kUsage, fmt::format("an answer of more than {} bytes", llm::kMaxGivenBytes));
  }
  return text;
}

Result<int> GiveAnswer(llm::Exchange& exchange, const ExchangeOptions& options) {
  WW_ASSIGN(const llm::QuestionId id, exchange.Resolve(options.question));
  WW_ASSIGN(std::string text, ReadInput(options.file));
  const Status given = exchange.Give({.question = id,
                                      .text = base::ValidUtf8(text),
                                      .model = options.model,
                                      .tokens_in = options.tokens_in,
                                      .tokens_out = options.tokens_out,
                                      .cost_usd = options.dollars});
  if (!given && given.error().code == ErrorCode::kCorrupt)
    return Fail(ErrorCode::kUsage, fmt::format("question {}: {}", id.substr(0, 12), given.error().message),
                "mend the answer; nothing was stored");
  WW_TRY(given);
  fmt::print("{} is answered\n", id.substr(0, 12));
  return kExitDone;
}

Result<int> Import(llm::Exchange& exchange, const std::string& file) {
  WW_TRY(CheckNamedFile("bundle", file));
  WW_ASSIGN(const std::string text, base::ReadFile(file, kMaxBundleBytes));
  auto bundle = llm::DecodeBundle(text);
  if (!bundle) {
    bundle.error().file = file;
    return Fail(bundle.error());
  }
  WW_ASSIGN(const auto imported, exchange.Import(*bundle));
  for (const std::string& refused : imported.refused) fmt::print(stderr, "warpwright: {}\n", base::Printable(refused));
  fmt::print("{}, {}, {} refused\n", report::Plural(static_cast<int>(imported.questions), "new question"),
             report::Plural(static_cast<int>(imported.answers), "new answer"), imported.refused.size());
  return imported.refused.empty() ? kExitDone : kExitUnverified;
}

}  // namespace

Result<int> RunExchange(const ExchangeOptions& options) {
  std::error_code error;
  if (options.action != ExchangeAction::kImport && !std::filesystem::is_directory(options.folder, error))
    return Fail(ErrorCode::kUsage, fmt::format("there is no exchange in {}: no such folder", options.folder),
                "name the folder of --model offline:FOLDER; a run that asks makes it");
  llm::Exchange exchange(options.folder);
  switch (options.action) {
    case ExchangeAction::kList: return List(exchange, options.json);
    case ExchangeAction::kShow: {
      WW_ASSIGN(const llm::QuestionId id, exchange.Resolve(options.question));
      WW_ASSIGN(const llm::Question question, exchange.Get(id));
      const std::string shown = options.json ? llm::EncodeQuestionFile(question) : llm::RenderPrompt(question);
      std::fwrite(shown.data(), 1, shown.size(), stdout);
      return kExitDone;
    }
    case ExchangeAction::kAnswer: return GiveAnswer(exchange, options);
    case ExchangeAction::kExport: {
      WW_TRY(CheckNamedOutput("bundle", options.file));
      WW_ASSIGN(const llm::ExchangeBundle bundle, exchange.Export());
      WW_TRY(base::WriteFileAtomically(options.file, llm::EncodeBundle(bundle)));
      fmt::print("{}, {}\n", report::Plural(static_cast<int>(bundle.questions.size()), "question"),
                 report::Plural(static_cast<int>(bundle.answers.size()), "answer"));
      return kExitDone;
    }
    case ExchangeAction::kImport: return Import(exchange, options.file);
  }
  return kExitUsage;
}

}  // namespace warpwright::cli
