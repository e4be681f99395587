#include <fmt/format.h>

#include <filesystem>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/profile.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/named_paths.h"
#include "skills/draft.h"
#include "skills/match.h"

namespace warpwright::cli {
namespace {

using nlohmann::json;

int List(const skills::SkillLibrary& library, bool as_json) {
  json list = json::array();
  for (const auto& [id, card] : library.methods) {
    list.push_back({{"id", id},
                    {"title", card.title},
                    {"intent", card.intent},
                    {"transform", card.transform.empty() ? json(nullptr) : json(card.transform)}});
    if (!as_json) fmt::print("{:32} {:9} {}\n", id, card.transform.empty() ? "" : "built in", card.title);
  }
  if (as_json) std::puts(json({{"origin", library.origin}, {"methods", list}}).dump(2).c_str());
  else
    fmt::print("{} methods ({}); those marked \"built in\" have a transformation.\n", library.methods.size(),
               library.origin);
  return kExitDone;
}

Result<int> Show(const skills::SkillLibrary& library, const std::string& id, bool as_json) {
  const skills::MethodCard* card = library.Find(id);
  if (card == nullptr) return Fail(ErrorCode::kUsage, "no method '" + id + "'", "`warpwright skills list` lists them");
  json parameters = json::array(), expected = json::array(), failures = json::array(), sources = json::array();
  for (const auto& p : card->parameters)
    parameters.push_back({{"name", p.name}, {"values", p.values}, {"meaning", p.meaning}});
  for (const auto& e : card->expected)
    expected.push_back({{"name", e.name}, {"direction", e.up ? "up" : "down"}, {"factor", e.factor}});
  for (const auto& f : card->failures)
    failures.push_back({{"symptom", f.symptom}, {"cause", f.cause}, {"remedy", f.remedy}});
  for (const auto& s : card->sources) sources.push_back({{"title", s.title}, {"url", s.url}});
  if (as_json) {
    std::puts(json({{"id", card->id},
                    {"title", card->title},
                    {"intent", card->intent},
                    {"mechanism", card->mechanism},
                    {"sketch", card->sketch},
                    {"example", card->example},
                    {"transform", card->transform},
                    {"parameters", parameters},
                    {"expected", expected},
                    {"forbidden", card->forbidden},
                    {"failures", failures},
                    {"sources", sources}})
                  .dump(2)
                  .c_str());
    return kExitDone;
  }
  fmt::print("{}: {}\n\n{}\n\n{}\n\n{}\n", card->id, card->title, card->intent, card->mechanism,
             card->example.empty() ? card->sketch : card->example);
  for (const auto& p : card->parameters)
    fmt::print("parameter {} = {}: {}\n", p.name, fmt::join(p.values, " | "), p.meaning);
  for (const auto& e : card->expected)
    fmt::print("expects {} {} (about x{:g})\n", e.name, e.up ? "up" : "down", e.factor);
  for (const auto& f : card->forbidden) fmt::print("never: {}\n", f);
  for (const auto& f : card->failures)
    fmt::print("fails as: {}; because {}; remedy: {}\n", f.symptom, f.cause, f.remedy);
  for (const auto& s : card->sources) fmt::print("source: {} {}\n", s.title, s.url);
  return kExitDone;
}

// {"evidence": {"field": number}, "operation": "...", "dtype": "f32", "chip": "h200"}, as `profile --json` prints it.
Result<core::Evidence> ReadEvidence(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Fail(ErrorCode::kUsage, path + " does not exist");
  WW_ASSIGN(const std::string text, base::ReadFile(path, 1u << 20));
  const auto parsed = base::ParseJson(text);
  if (!parsed)
    return Fail(Error{.code = ErrorCode::kUsage,
                      .message = parsed.error().message,
                      .file = path,
                      .remedy = "give the output of `warpwright profile --json`"});
  try {
    const json& document = *parsed;
    const json& entry = document.contains("kernels") ? document.at("kernels").at(0) : document;
    core::Evidence evidence;
    for (const auto& [name, value] : entry.at("evidence").items()) {
      if (core::FindEvidenceField(name) == nullptr)
        return Fail(Error{.code = ErrorCode::kUsage, .message = "unknown evidence field '" + name + "'", .file = path});
      evidence.Set(name, value.get<double>());
    }
    evidence.dtype = entry.value("dtype", "f32");
    evidence.chip = entry.value("chip", "h200");
    for (const core::OperationClass operation : core::kAllOperationClasses)
      if (entry.value("operation", "unknown") == core::Name(operation)) evidence.operation = operation;
    return evidence;
  } catch (const json::exception& e) {
    return Fail(Error{.code = ErrorCode::kUsage,
                      .message = e.what(),
                      .file = path,
                      .remedy = "give the output of `warpwright profile --json`"});
  }
}

Result<core::Evidence> MeasureEvidence(const CommonOptions& options) {
  WW_ASSIGN(const Session session, Session::Open(options));
  WW_ASSIGN(const core::Manifest manifest, session.workspace().ManifestOfWorkingTree());
  if (manifest.kernels.size() != 1)
    return Fail(ErrorCode::kUsage, "name one kernel with --kernel, or a file of evidence");
  worker::WorkerEvaluator worker = session.MakeWorker();
  WW_ASSIGN(app::ProfiledKernel profiled,
            app::ProfileKernel(session.workspace(), manifest, manifest.kernels.front(), "", worker));
  if (!profiled.features) return Fail(ErrorCode::kUnsupported, core::VerdictMessage(profiled.original));
  return std::move(profiled.features->evidence);
}

Result<int> ShowMatch(const skills::SkillLibrary& library, const SkillsOptions& options) {
  WW_ASSIGN(const core::Evidence evidence,
            options.argument.empty() ? MeasureEvidence(options.common) : ReadEvidence(options.argument));
  const skills::MatchResult match = skills::Match(library, evidence, {});
  if (options.common.json) {
    json bottlenecks = json::array(), methods = json::array(), vetoed = json::array();
    for (const auto& b : match.bottlenecks)
      bottlenecks.push_back(
          {{"id", b.id}, {"title", b.title}, {"weight", b.weight}, {"certain", b.certain}, {"evidence", b.evidence}});
    for (const auto& m : match.methods)
      methods.push_back({{"method", m.card->id},
                         {"score", m.score},
                         {"expected_gain", std::exp(m.expected_log_gain)},
                         {"reasons", m.reasons},
                         {"built_in", !m.card->transform.empty()}});
    for (const auto& v : match.vetoed)
      vetoed.push_back({{"method", v.method}, {"kind", skills::Name(v.kind)}, {"reason", v.reason}});
    std::puts(json({{"position", match.position},
                    {"at_roofline", match.at_roofline ? json(match.at_roofline->message) : json(nullptr)},
                    {"bottlenecks", bottlenecks},
                    {"methods", methods},
                    {"vetoed", vetoed}})
                  .dump(2)
                  .c_str());
    return kExitDone;
  }
  fmt::print("{}\n", match.position);
  if (match.at_roofline) fmt::print("{}\n", match.at_roofline->message);
  for (const auto& b : match.bottlenecks)
    if (b.certain) fmt::print("bottleneck {:24} {:.2f}  {}\n", b.id, b.weight, b.evidence);
  for (const auto& m : match.methods)
    fmt::print("method     {:24} {:.2f}  {}{}\n", m.card->id, m.score, m.card->transform.empty() ? "" : "(built in) ",
               fmt::join(m.reasons, "; "));
  return kExitDone;
}

}  // namespace

Result<int> RunSkills(const SkillsOptions& options) {
  if (options.action == SkillsAction::kCheck) {
    std::error_code error;
    if (!options.argument.empty() && !std::filesystem::exists(options.argument, error))
      return Fail(ErrorCode::kUsage, options.argument + " does not exist");
    WW_ASSIGN(const skills::SkillLibrary library,
              options.argument.empty() ? LoadSkillsOf(options.common) : skills::LoadSkills(options.argument));
    fmt::print("{} methods and the policy are fine ({}).\n", library.methods.size(), library.origin);
    return kExitDone;
  }
  if (options.action == SkillsAction::kAccept) {
    if (options.argument.empty() || options.common.skills.empty())
      return Fail(ErrorCode::kUsage, "name the draft, and the folder of your skills by --skills",
                  "drafts lie in the folder `drafts` of the state");
    WW_TRY(CheckNamedFile("draft", options.argument));
    WW_ASSIGN(const skills::SkillLibrary library, skills::AcceptDraft(options.argument, options.common.skills));
    fmt::print("accepted into {}, which has {} methods now. Use it with --skills.\n", library.origin,
               library.methods.size());
    return kExitDone;
  }
  WW_ASSIGN(const skills::SkillLibrary library, LoadSkillsOf(options.common));
  if (options.action == SkillsAction::kList) return List(library, options.common.json);
  if (options.action == SkillsAction::kShow) return Show(library, options.argument, options.common.json);
  return ShowMatch(library, options);
}

}  // namespace warpwright::cli
