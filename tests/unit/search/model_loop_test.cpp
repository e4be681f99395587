// The loop with agents that ask a language model: what waits, what goes on meanwhile, and that nothing is asked or
// judged twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "llm/journalled_model.h"
#include "memory/step_json.h"
#include "report/explain.h"
#include "tests/unit/search/scripted_loop.h"

namespace warpwright {
namespace {

std::string PlansOf(const std::vector<std::string>& methods) {
  std::string plans;
  for (const std::string& method : methods)
    plans +=
        (plans.empty() ? "" : ", ") + std::string(R"({"method": ")") + method +
        R"(", "why": "w", "kernels": [], "evidence": [{"field": "launches", "value": 1}], "expected": [], "instructions": "i"})";
  return R"({"none": "", "plans": [)" + plans + "]}";
}
std::string ChangeOf(const std::string& line) {
  return R"({"summary": "adds a line", "functions": [], "lines": [{"first": 2, "last": 1, "text": "// )" + line +
         R"("}], "parameters": []})";
}
std::string RepairOf(const std::string& line) {
  return R"({"quote": "off", "cause": "c", "abandon": "", "summary": "mends it", "functions": [], "lines": [{"first": 2, "last": 2, "text": "// )" +
         line + R"("}]})";
}

// A folder of answers as an exchange has it: by question, and only to those that were put into it.
class Desk final : public llm::LanguageModel {
 public:
  Result<llm::Answer> Ask(const llm::Question& question) override {
    const std::string id = llm::IdOf(question);
    ++times_asked[id];
    questions.emplace(id, question);
    if (outage) return llm::Answer(llm::Failed{.kind = *outage, .message = "m"});
    const auto answer = answers.find(id);
    if (answer == answers.end()) return llm::Answer(llm::Pending{id, ""});
    return llm::Answer(llm::Answered{answer->second, {}});
  }
  // Questions without an answer, in the order of their ids.
  std::vector<std::string> Open() const {
    std::vector<std::string> open;
    for (const auto& [id, question] : questions)
      if (answers.count(id) == 0) open.push_back(id);
    return open;
  }
  std::map<std::string, llm::Question> questions;
  std::map<std::string, std::string> answers;
  std::map<std::string, int> times_asked;
  std::optional<llm::FailureKind> outage;
};

class ModelLoop : public ::testing::Test {
 protected:
  ModelLoop() {
    loop.team = [this](memory::Journal& journal) -> Result<agents::Team> {
      const agents::Engine built_in{"built_in", nullptr, {}},
          model{"desk", std::make_shared<llm::JournalledModel>(desk, journal), {}};
      const agents::Engines both{.order = agents::AskOrder::kFirst, .engines = {built_in, model}};
      return agents::MakeTeam(
          {{core::AgentRole::kPlanner, both}, {core::AgentRole::kOptimizer, both}, {core::AgentRole::kRepairer, both}});
    };
    loop.task.policy.max_rounds = 3;
  }
  search::RefineResult Run() {
    auto refined = loop.Run();
    EXPECT_TRUE(refined) << refined.error().Format();
    return refined ? std::move(*refined) : search::RefineResult();
  }
  // Of this role everyone is asked; of the others the first that proposes something.
  void All(core::AgentRole all) {
    loop.team = [this, all](memory::Journal& journal) -> Result<agents::Team> {
      const agents::Engine built_in{"built_in", nullptr, {}},
          model{"desk", std::make_shared<llm::JournalledModel>(desk, journal), {}};
      std::map<core::AgentRole, agents::Engines> engines;
      for (const auto role : {core::AgentRole::kGenerator, core::AgentRole::kPlanner, core::AgentRole::kOptimizer})
        if (role == all) engines[role] = {.order = agents::AskOrder::kAll, .engines = {built_in, model}};
        else if (role == core::AgentRole::kOptimizer)
          engines[role] = {.order = agents::AskOrder::kFirst, .engines = {built_in, model}};
      return agents::MakeTeam(engines);
    };
  }
  // The only open question of a role whose prompt holds `text`.
  void Answer(core::AgentRole role, const std::string& text, const std::string& answer) {
    std::vector<std::string> found;
    for (const std::string& id : desk->Open()) {
      const llm::Question& question = desk->questions.at(id);
      if (question.role == role && llm::RenderPrompt(question).find(text) != std::string::npos) found.push_back(id);
    }
    ASSERT_EQ(found.size(), 1u) << Name(role) << " " << text;
    desk->answers[found.front()] = answer;
  }

  ScriptedLoop loop;
  std::shared_ptr<Desk> desk = std::make_shared<Desk>();
};

constexpr auto kPlanner = core::AgentRole::kPlanner;
constexpr auto kOptimizer = core::AgentRole::kOptimizer;
constexpr auto kRepairer = core::AgentRole::kRepairer;

// Who reads is asked once for a version, before anybody plans for it.
TEST_F(ModelLoop, AVersionIsReadBeforeItIsPlannedFor) {
  loop.team = [this](memory::Journal& journal) -> Result<agents::Team> {
    const agents::Engine model{"desk", std::make_shared<llm::JournalledModel>(desk, journal), {}};
    const agents::Engines alone{.order = agents::AskOrder::kFirst, .engines = {model}};
    return agents::MakeTeam({{core::AgentRole::kFeatureExtractor, alone}, {core::AgentRole::kPlanner, alone}});
  };
  loop.AddMethod("fast", {.gain = 2, .gain_of_case = {}, .fails = {}});
  EXPECT_EQ(Run().pending.size(), 1u);
  Answer(core::AgentRole::kFeatureExtractor, "# The code",
         R"({"operation": "scan", "corrections": [], "notes": ["the last trip is needed"]})");
  const search::RefineResult planning = Run();
  ASSERT_EQ(planning.pending.size(), 1u);
  Answer(kPlanner, "the last trip is needed", R"({"none": "nothing", "plans": []})");
  EXPECT_TRUE(Run().pending.empty());
  EXPECT_EQ(desk->questions.size(), 2u);
}

TEST_F(ModelLoop, TheBuiltInPlansComeFirstAndTheTaskWaitsForTheRest) {
  loop.AddMethod("fast", {.gain = 2, .gain_of_case = {}, .fails = {}});
  const search::RefineResult waiting = Run();
  EXPECT_EQ(waiting.result.outcome, core::TaskOutcome::kUnfinished);
  EXPECT_EQ(waiting.pending, desk->Open());
  ASSERT_EQ(waiting.pending.size(), 1u);
  EXPECT_EQ(waiting.result.message, "1 question waits for an answer: " + waiting.pending[0].substr(0, 12));
  const std::string prompt = llm::RenderPrompt(desk->questions.at(waiting.pending[0]));
  EXPECT_NE(prompt.find("// fast"), std::string::npos) << "the question is about the best version so far";
  EXPECT_NE(prompt.find("| original | fast |  | 2.00x |"), std::string::npos) << prompt;
  EXPECT_FALSE(loop.View().task.result);

  // Run again without an answer: nothing moves, nothing is judged.
  const size_t judged = loop.judge.quick.size();
  EXPECT_EQ(Run().pending, waiting.pending);
  EXPECT_EQ(loop.judge.quick.size(), judged);
}

// The task stays open, and the question is asked again when the model is back.
TEST_F(ModelLoop, AnOutageEndsNoTask) {
  loop.script["quick"].gain = 3;
  desk->outage = llm::FailureKind::kRateLimited;
  const auto out = Run();
  EXPECT_EQ(out.result.outcome, core::TaskOutcome::kUnfinished);
  EXPECT_EQ(out.pending.size(), 1u);
  EXPECT_NE(out.result.message.find("a model could not be asked (rate_limited: m): run again later"), std::string::npos)
      << out.result.message;
  EXPECT_FALSE(loop.View().task.result);
  desk->outage.reset();
  Run();
  Answer(kPlanner, "", PlansOf({"one_way"}));
  desk->outage = llm::FailureKind::kBudget;
  EXPECT_EQ(Run().result.outcome, core::TaskOutcome::kUnfinished) << "not: the plan was carried out in vain";
  desk->outage.reset();
  Run();
  Answer(kOptimizer, "Method: one_way", ChangeOf("quick"));
  Run();
  Answer(kPlanner, "adds a line", R"({"none": "nothing is left", "plans": []})");
  EXPECT_NEAR(Run().result.gain, 3, 1e-9);
}

// The best that is found so far is accepted, also where it is of the round that the outage broke off.
TEST_F(ModelLoop, AnOutageCostsNoGain) {
  loop.AddMethod("fast", {.gain = 2, .gain_of_case = {}, .fails = {}});
  loop.script["quick"].gain = 3;
  Run();
  Answer(kPlanner, "", PlansOf({"one_way", "other_way"}));
  Run();
  Answer(kOptimizer, "Method: one_way", ChangeOf("quick"));
  EXPECT_EQ(Run().result.outcome, core::TaskOutcome::kUnfinished) << "somebody is at the other plan";
  desk->outage = llm::FailureKind::kOverloaded;
  const auto done = Run();
  EXPECT_EQ(done.result.outcome, core::TaskOutcome::kImproved);
  EXPECT_NEAR(done.result.gain, 6, 1e-9);
}

TEST_F(ModelLoop, PlansCodeAndRepairsGoOnWhereTheyStopped) {
  loop.script["quick"].gain = 3;
  loop.script["wrong"].fails = core::WrongResult{core::Check::kComparison, "n", "out[3] is off"};
  loop.script["mended"].gain = 4;
  Run();
  Answer(kPlanner, "", PlansOf({"one_way", "other_way"}));
  const auto both = Run();
  EXPECT_EQ(both.pending.size(), 2u) << "both plans are asked for at once";
  Answer(kOptimizer, "Method: other_way", ChangeOf("wrong"));
  const auto one = Run();
  EXPECT_EQ(one.pending.size(), 2u) << "the repair of one, the code of the other";
  EXPECT_EQ(loop.judge.quick.size(), 1u);
  Answer(kRepairer, "out[3] is off", RepairOf("mended"));
  Run();
  EXPECT_EQ(loop.judge.quick.size(), 2u) << "the wrong one is not judged again";
  Answer(kOptimizer, "Method: one_way", ChangeOf("quick"));
  const auto next = Run();
  ASSERT_EQ(next.pending.size(), 1u) << "the next round's plan";
  EXPECT_EQ(loop.judge.quick.size(), 3u);
  Answer(kPlanner, "mends it", R"({"none": "nothing is left", "plans": []})");
  const auto done = Run();
  EXPECT_EQ(done.result.outcome, core::TaskOutcome::kImproved);
  EXPECT_NEAR(done.result.gain, 4, 1e-9);
  EXPECT_NE(done.text.find("// mended"), std::string::npos) << done.text;
  EXPECT_TRUE(done.pending.empty());
  EXPECT_EQ(loop.judge.quick.size(), 3u);
  EXPECT_TRUE(desk->Open().empty()) << "every question was worth its answer";
}

memory::GradedExperience Known(const std::string& method, double gain) {
  memory::GradedExperience sample{.experience = {}, .grade = memory::MatchGrade::kExact};
  sample.experience.method = method;
  sample.experience.log_gain = std::log(gain);
  return sample;
}

// Experience grows while an answer is waited for, by other tasks; the question stays the one that is waited for.
TEST_F(ModelLoop, WhatExperienceSaidIsPartOfTheQuestion) {
  loop.script["quick"].gain = 3;
  loop.experience.answer.samples = {Known("tile_it", 2)};
  const auto asked = Run();
  ASSERT_EQ(asked.pending.size(), 1u);
  EXPECT_NE(llm::RenderPrompt(desk->questions.at(asked.pending[0])).find("| \"tile_it\" | 1 | 1 | 2.00 |"),
            std::string::npos);
  loop.experience.answer.samples.push_back(Known("other", 5));
  EXPECT_EQ(Run().pending, asked.pending);
  Answer(kPlanner, "", PlansOf({"one_way"}));
  EXPECT_EQ(Run().pending.size(), 1u);
  Answer(kOptimizer, "Method: one_way", ChangeOf("quick"));
  const auto next = Run();
  ASSERT_EQ(next.pending.size(), 1u);
  EXPECT_NE(llm::RenderPrompt(desk->questions.at(next.pending[0])).find("| \"other\" | 1 | 1 | 5.00 |"),
            std::string::npos)
      << "the next question is asked with what is known by now";
}

// Written from the original, before anything is planned; on the next run from the trajectory, without another question.
TEST_F(ModelLoop, AVersionOfTheGeneratorIsASeed) {
  loop.script["quick"].gain = 3;
  loop.team = [this](memory::Journal& journal) -> Result<agents::Team> {
    const agents::Engine built_in{"built_in", nullptr, {}},
        model{"desk", std::make_shared<llm::JournalledModel>(desk, journal), {}};
    return agents::MakeTeam(
        {{core::AgentRole::kGenerator, {.order = agents::AskOrder::kAll, .engines = {built_in, model}}}});
  };
  EXPECT_EQ(Run().pending.size(), 1u);
  Answer(
      core::AgentRole::kGenerator, "",
      R"({"method": "rewrite", "why": "w", "kernels": [], "evidence": [{"field": "launches", "value": 1}], "expected": [], "summary": "adds a line",
            "functions": [], "lines": [{"first": 2, "last": 1, "text": "// @WHAT@"}], "parameters": [{"name": "WHAT", "values": ["quick", "slow"]}]})");
  DieAfter(loop.path(), 6);
  const auto killed = loop.Run();
  Revive(loop.path());
  const auto done = Run();
  EXPECT_EQ(done.result.outcome, core::TaskOutcome::kImproved);
  EXPECT_NEAR(done.result.gain, 3, 1e-9);
  const auto story = loop.Story();
  EXPECT_EQ(std::count(story.begin(), story.end(), "0 evaluate rewrite WHAT=quick: measured 3.00"), 1) << story.size();
  EXPECT_EQ(std::count(story.begin(), story.end(), "0 evaluate rewrite WHAT=slow: measured 1.00"), 1);
  EXPECT_EQ(desk->questions.size(), 1u);
}

std::string VersionsOf(const std::string& values) {
  return R"({"summary": "adds a line", "functions": [], "lines": [{"first": 2, "last": 1, "text": "// @WHAT@"}], "parameters": [{"name": "WHAT", "values": [)" +
         values + "]}]}";
}

TEST_F(ModelLoop, AVersionThatFailedIsMendedAlsoWhereAnotherPassed) {
  loop.script["quick"].gain = 3;
  loop.script["wrong"].fails = core::WrongResult{core::Check::kComparison, "n", "out[3] is off"};
  loop.script["mended"].gain = 4;
  Run();
  Answer(kPlanner, "", PlansOf({"one_way"}));
  Run();
  Answer(kOptimizer, "Method: one_way", VersionsOf(R"("quick", "wrong")"));
  Run();
  Answer(kRepairer, "out[3] is off", RepairOf("mended"));
  Run();
  Answer(kPlanner, "mends it", R"({"none": "nothing is left", "plans": []})");
  EXPECT_NEAR(Run().result.gain, 4, 1e-9);
}

// One of each kind: what they have in common is mended once.
TEST_F(ModelLoop, EachKindOfFailureIsMended) {
  const core::WrongResult wrong{core::Check::kComparison, "n", "out[3] is off"};
  loop.script["wrong"].fails = loop.script["as wrong"].fails = wrong;
  loop.script["broken"].fails = core::CompileFailed{"k.cu(2): error: what is off"};
  loop.script["mended"].gain = 4;
  Run();
  Answer(kPlanner, "", PlansOf({"one_way"}));
  Run();
  Answer(kOptimizer, "Method: one_way", VersionsOf(R"("wrong", "as wrong", "broken")"));
  Run();
  Answer(kRepairer, "out[3] is off",
         R"({"quote": "off", "cause": "c", "abandon": "no", "summary": "s", "functions": [], "lines": []})");
  Run();
  Answer(kRepairer, "what is off", RepairOf("mended"));
  Run();
  Answer(kPlanner, "mends it", R"({"none": "nothing is left", "plans": []})");
  EXPECT_NEAR(Run().result.gain, 4, 1e-9);
  const auto repairs = [&] {
    const auto of_role = [](const auto& asked) { return asked.second.role == kRepairer; };
    return std::count_if(desk->questions.begin(), desk->questions.end(), of_role);
  };
  EXPECT_EQ(repairs(), 2);
  const auto story = loop.Story();
  const std::string first = base::Sha256(loop.judge.quick.at(0)).substr(0, 10);
  EXPECT_EQ(std::count(story.begin(), story.end(),
                       "1 repair one_way WHAT=as wrong: not mended: the same failure as " + first),
            1);
}

// What is left as it is has its reason in the record.
TEST_F(ModelLoop, TheRecordSaysWhyAFailedVersionIsNotMended) {
  const auto abandon =
      R"({"quote": "off", "cause": "c", "abandon": "no", "summary": "s", "functions": [], "lines": []})";
  loop.script["a"].fails = core::WrongResult{core::Check::kComparison, "n", "out[3] is off"};
  loop.script["b"].fails = core::CompileFailed{"k.cu(2): error: b is off"};
  loop.script["c"].fails = core::Refused{core::Check::kEquivalence, "c is off"};
  loop.script["d"].fails = core::Faulted{{}, "n"};
  loop.task.policy.max_repairs = 1;
  loop.task.policy.max_rounds = 1;
  Run();
  Answer(kPlanner, "", PlansOf({"one_way"}));
  Run();
  Answer(kOptimizer, "Method: one_way", VersionsOf(R"("a", "b", "c", "d")"));
  Run();
  loop.script["as wrong"].fails = core::WrongResult{core::Check::kComparison, "n", "out[4] is off"};
  Answer(kRepairer, "out[3] is off", RepairOf("as wrong"));
  for (int mended = 0; mended < 2; ++mended) {
    Run();
    ASSERT_EQ(desk->Open().size(), 1u);
    desk->answers[desk->Open().front()] = abandon;
  }
  Run();
  const auto story = loop.Story();
  for (const char* reason : {": not mended: the limit of 1 repair is reached",
                             " WHAT=d: not mended: 3 other failures of this plan's versions come before"})
    EXPECT_EQ(std::count_if(story.begin(), story.end(), [&](const auto& step) { return step.ends_with(reason); }), 1)
        << reason;
}

// What only the full judge finds goes back to whoever wrote it.
TEST_F(ModelLoop, WhatTheFullJudgeRejectsIsMended) {
  loop.script["quick"].gain = 3;
  loop.script["sound"].gain = 2.5;
  loop.judge.full_verdicts.emplace("quick", core::WrongResult{core::Check::kSpecialValues, "n", "out[3] is off"});
  Run();
  Answer(kPlanner, "", PlansOf({"one_way"}));
  Run();
  Answer(kOptimizer, "Method: one_way", ChangeOf("quick"));
  Run();
  Answer(kPlanner, "adds a line", R"({"none": "nothing is left", "plans": []})");
  const auto rejected = Run();
  ASSERT_EQ(rejected.pending.size(), 1u);
  EXPECT_NE(llm::RenderPrompt(desk->questions.at(rejected.pending[0])).find("special-values"), std::string::npos);
  Answer(kRepairer, "out[3] is off", RepairOf("sound"));
  const auto done = Run();
  EXPECT_EQ(done.result.outcome, core::TaskOutcome::kImproved);
  EXPECT_NEAR(done.result.gain, 2.5, 1e-9);
  EXPECT_EQ(loop.judge.full.size(), 2u) << "the first is not judged again";
  EXPECT_EQ(Run().result.best_hash, done.result.best_hash);
}

// After a fall-back the older version is what is told of, measured against, and mended.
TEST_F(ModelLoop, WhatIsMendedIsTheVersionThatWasRejected) {
  loop.script["quick"].gain = 3;
  loop.script["more"].gain = 2;
  loop.judge.full_verdicts.emplace("quick", core::WrongResult{core::Check::kSpecialValues, "n", "out[3] is off"});
  const std::string abandons =
      R"({"quote": "off", "cause": "c", "abandon": "no", "summary": "s", "functions": [], "lines": []})";
  Run();
  Answer(kPlanner, "", PlansOf({"one_way"}));
  Run();
  Answer(kOptimizer, "Method: one_way", ChangeOf("quick"));
  Run();
  Answer(kPlanner, "adds a line", PlansOf({"other_way"}));
  Run();
  Answer(kOptimizer, "Method: other_way", ChangeOf("more"));
  Run();
  Answer(kPlanner, "| 2.00x |", R"({"none": "nothing is left", "plans": []})");
  Run();
  Answer(kRepairer, "// more", abandons);
  Run();
  Answer(kRepairer, "// quick", abandons);
  EXPECT_EQ(Run().result.outcome, core::TaskOutcome::kUnchanged);
  int repairs = 0;
  for (const memory::StepView& step : loop.View().steps) {
    if (step.record.kind != memory::StepKind::kRepair) continue;
    ++repairs;
    EXPECT_EQ(step.record.base, step.record.candidate);
  }
  EXPECT_EQ(repairs, 2);
}

TEST_F(ModelLoop, ACriticMayRefuseBeforeAnythingRuns) {
  for (const bool refuses : {true, false}) {
    ScriptedLoop fresh;
    fresh.script["quick"].gain = 3;
    fresh.task.policy.max_rounds = 3;
    fresh.team = [this](memory::Journal& journal) -> Result<agents::Team> {
      const agents::Engines model{.order = agents::AskOrder::kFirst,
                                  .engines = {{"desk", std::make_shared<llm::JournalledModel>(desk, journal), {}}}};
      return agents::MakeTeam({{core::AgentRole::kPlanner, model},
                               {core::AgentRole::kOptimizer, model},
                               {core::AgentRole::kCritic, model}});
    };
    desk->questions.clear();
    desk->answers.clear();
    const auto run = [&] { ASSERT_TRUE(fresh.Run()); };
    run();
    Answer(kPlanner, "", PlansOf({"one_way"}));
    run();
    Answer(kOptimizer, "Method: one_way", ChangeOf("quick"));
    run();
    EXPECT_TRUE(fresh.judge.quick.empty()) << "it waits for the critic";
    Answer(
        core::AgentRole::kCritic, "",
        std::string(R"({"refuse": )") + (refuses ? "true" : "false") + R"(, "reason": "line 2 writes past the end"})");
    run();
    EXPECT_EQ(fresh.judge.quick.size(), refuses ? 0u : 1u);
    const auto story = fresh.Story();
    EXPECT_EQ(
        std::count(story.begin(), story.end(), "1 rewrite one_way: refused by the critic: line 2 writes past the end"),
        refuses ? 1 : 0);
  }
}

// What one critic was asked holds up no other version: all are asked about at once, and those with an answer are
// judged.
TEST_F(ModelLoop, AVersionThatWaitsForItsCriticHoldsUpNoOther) {
  loop.script["quick"].gain = 3;
  loop.script["wrong"].fails = core::WrongResult{core::Check::kComparison, "n", "out[3] is off"};
  loop.team = [this](memory::Journal& journal) -> Result<agents::Team> {
    const agents::Engines model{.order = agents::AskOrder::kFirst,
                                .engines = {{"desk", std::make_shared<llm::JournalledModel>(desk, journal), {}}}};
    return agents::MakeTeam({{core::AgentRole::kPlanner, model},
                             {core::AgentRole::kOptimizer, model},
                             {core::AgentRole::kRepairer, model},
                             {core::AgentRole::kCritic, model}});
  };
  constexpr auto kCritic = core::AgentRole::kCritic;
  const std::string passes = R"({"refuse": false, "reason": ""})";
  Run();
  Answer(kPlanner, "", PlansOf({"one_way"}));
  Run();
  Answer(kOptimizer, "Method: one_way", VersionsOf(R"("slow", "wrong", "quick")"));
  EXPECT_EQ(Run().pending.size(), 3u) << "one trip for all versions";
  Answer(kCritic, "// wrong", passes);
  Answer(kCritic, "// quick", passes);
  EXPECT_EQ(Run().pending.size(), 1u) << "no repair before the question about the first version has its answer";
  EXPECT_EQ(loop.judge.quick.size(), 2u);
  Answer(kCritic, "// slow", passes);
  Run();
  EXPECT_EQ(loop.judge.quick.size(), 3u) << "no version is judged again";
  Answer(kRepairer, "out[3] is off",
         R"({"quote": "off", "cause": "c", "abandon": "no", "summary": "s", "functions": [], "lines": []})");
  Run();
  Answer(kPlanner, "adds a line", R"({"none": "nothing is left", "plans": []})");
  EXPECT_NEAR(Run().result.gain, 3, 1e-9);
}

// Where everyone is asked, what is there goes on while others are waited for, and stays what it was: experience grows
// meanwhile, by that too.
TEST_F(ModelLoop, ABuiltInPlanGoesOnWhileTheOneOfAModelIsWaitedFor) {
  loop.AddMethod("fast", {.gain = 2, .gain_of_case = {}, .fails = {}});
  loop.AddMethod("other", {.gain = 1.5, .gain_of_case = {}, .fails = {}});
  loop.script["quick"].gain = 3;
  All(kPlanner);
  EXPECT_EQ(Run().pending.size(), 1u);
  EXPECT_EQ(loop.judge.quick, std::vector<std::string>{"float x;\n// fast\n"});
  loop.experience.answer.samples = {Known("other", 50), Known("other", 50)};
  EXPECT_EQ(Run().pending.size(), 1u);
  Answer(kPlanner, "", PlansOf({"one_way"}));
  Run();
  EXPECT_EQ(loop.judge.quick.size(), 1u) << "no other plan came in its place";
  Answer(kOptimizer, "Method: one_way", ChangeOf("quick"));
  Run();
  const auto story = loop.Story();
  for (const char* step : {"1 evaluate fast: measured 2.00", "1 evaluate one_way: measured 3.00"})
    EXPECT_EQ(std::count(story.begin(), story.end(), step), 1) << step;
  EXPECT_EQ(std::count(story.begin(), story.end(), "1 evaluate other: measured 1.50"), 0);
  EXPECT_EQ(std::count(story.begin(), story.end(), "1 accept one_way: new base, 3.00x over the one before"), 1);
}

// Whoever else plans: what is not worth its time is not tried beside the others' plans either.
TEST_F(ModelLoop, APlanThatIsNotWorthItsTimeIsDroppedByItself) {
  loop.AddMethod("first", {.gain = 1.5, .gain_of_case = {}, .fails = {}});
  loop.AddMethod("late", {.gain = 1.5, .gain_of_case = {}, .fails = {}});
  loop.library.methods["late"].gain_typical = 1.0001;
  loop.script["quick"].gain = 3;
  loop.judge.per_review = std::chrono::seconds(20);
  All(kPlanner);
  Run();
  Answer(kPlanner, "", R"({"none": "nothing", "plans": []})");
  Run();
  Answer(kPlanner, "", PlansOf({"vain_way"}));
  Run();
  Answer(kOptimizer, "Method: vain_way", ChangeOf("vain"));
  Run();
  Answer(kPlanner, "| vain_way |", PlansOf({"one_way"}));
  Run();
  Answer(kOptimizer, "Method: one_way", ChangeOf("quick"));
  Run();
  const auto story = loop.Story();
  EXPECT_EQ(std::count(story.begin(), story.end(), "3 evaluate one_way: measured 3.00"), 1);
  const auto is_late = [](const std::string& step) { return step.find(" evaluate late") != step.npos; };
  EXPECT_EQ(std::count_if(story.begin(), story.end(), is_late), 0);
}

TEST_F(ModelLoop, VersionsOfATransformationGoOnWhileThoseOfAModelAreWaitedFor) {
  loop.AddMethod("fast", {.gain = 2, .gain_of_case = {}, .fails = {}});
  loop.script["quick"].gain = 3;
  loop.task.policy.max_rounds = 1;
  All(kOptimizer);
  EXPECT_EQ(Run().pending.size(), 1u);
  EXPECT_EQ(loop.judge.quick.size(), 1u);
  Answer(kOptimizer, "Method: fast", ChangeOf("quick"));
  Run();
  EXPECT_EQ(loop.judge.quick.size(), 2u);
  const auto story = loop.Story();
  EXPECT_EQ(std::count(story.begin(), story.end(), "1 accept fast: new base, 3.00x over the one before"), 1);
}

TEST_F(ModelLoop, SeedsOfExperienceGoOnWhileTheGeneratorIsWaitedFor) {
  loop.AddCard("wide", {{"width", {"2"}, ""}});
  loop.script["wide width=2"].gain = 2;
  loop.script["quick"].gain = 3;
  loop.task.policy.max_rounds = 0;
  memory::GradedExperience sample = Known("wide", 2);
  sample.experience.parameters = {{"width", "2"}};
  sample.experience.outcome = core::VerdictKind::kMeasured;
  loop.experience.answer.samples = {sample, sample};
  All(core::AgentRole::kGenerator);
  EXPECT_EQ(Run().pending.size(), 1u);
  EXPECT_EQ(loop.judge.quick.size(), 1u);
  loop.experience.answer.samples.clear();
  Answer(
      core::AgentRole::kGenerator, "",
      R"({"method": "rewrite", "why": "w", "kernels": [], "evidence": [{"field": "launches", "value": 1}], "expected": [], "summary": "adds a line",
            "functions": [], "lines": [{"first": 2, "last": 1, "text": "// quick"}], "parameters": []})");
  EXPECT_NEAR(Run().result.gain, 3, 1e-9);
  EXPECT_EQ(loop.judge.quick.size(), 2u);
  const auto story = loop.Story();
  EXPECT_EQ(std::count(story.begin(), story.end(), "0 evaluate wide width=2: measured 2.00"), 1);
  EXPECT_EQ(std::count(story.begin(), story.end(),
                       "0 plan: 1 methods worked on kernels of this kind; 1 versions were written"),
            1);
}

TEST_F(ModelLoop, NobodyIsAskedAtTheRoofline) {
  loop.library.policy.roofline_at_least = 0;
  const auto result = Run();
  EXPECT_EQ(result.result.outcome, core::TaskOutcome::kUnchanged);
  EXPECT_TRUE(desk->questions.empty());
}

TEST_F(ModelLoop, TheSameTokensAreJudgedOnce) {
  loop.script["quick"].gain = 3;
  Run();
  Answer(kPlanner, "", PlansOf({"one_way", "other_way"}));
  Run();
  Answer(kOptimizer, "Method: one_way", ChangeOf("quick"));
  Answer(kOptimizer, "Method: other_way", ChangeOf("quick\\n   "));
  Run();
  EXPECT_EQ(loop.judge.quick.size(), 1u);
  const auto story = loop.Story();
  EXPECT_EQ(std::count(story.begin(), story.end(), "1 evaluate other_way: measured 3.00"), 1);
}

// Nor what only the original's or a transformation's text has in other words.
TEST_F(ModelLoop, TheTokensOfTheOriginalAndOfBuiltInVersionsAreNotJudgedAgain) {
  loop.AddMethod("fast", {.gain = 2, .gain_of_case = {}, .fails = {}});
  loop.AddMethod("slow", {.gain = 0.5, .gain_of_case = {}, .fails = {}});
  loop.worker.refuses["slow"] = "not here";
  loop.selector = nullptr;
  Run();
  const size_t judged = loop.judge.quick.size();
  Answer(kPlanner, "", PlansOf({"one_way", "other_way"}));
  Run();
  // Back to the original, and the present version again, each with another space.
  Answer(
      kOptimizer, "Method: one_way",
      R"({"summary": "s", "functions": [], "lines": [{"first": 1, "last": 2, "text": "float  x;"}], "parameters": []})");
  Answer(
      kOptimizer, "Method: other_way",
      R"({"summary": "s", "functions": [], "lines": [{"first": 1, "last": 1, "text": "float  x;"}], "parameters": []})");
  Run();
  EXPECT_EQ(loop.judge.quick.size(), judged);
  const auto story = loop.Story();
  EXPECT_EQ(std::count(story.begin(), story.end(), "2 evaluate one_way: measured 0.50"), 1);
  EXPECT_EQ(std::count(story.begin(), story.end(), "2 evaluate other_way: measured 1.00"), 1);
}

// What a model's plan foretells is compared like what a card says.
TEST_F(ModelLoop, ThePredictionsOfAPlanAreChecked) {
  loop.script["quick"].gain = 3;
  Run();
  Answer(
      kPlanner, "",
      R"({"none": "", "plans": [{"method": "one_way", "why": "w", "kernels": [], "evidence": [{"field": "launches", "value": 1}], "expected": [{"field": "kernel_time_us", "direction": "down"}, {"field": "launches", "direction": "down"}], "instructions": "i"}]})");
  Run();
  Answer(kOptimizer, "Method: one_way", ChangeOf("quick"));
  Run();
  for (const memory::StepView& step : loop.View().steps) {
    if (step.record.kind != memory::StepKind::kEvaluate) continue;
    ASSERT_EQ(step.record.prediction.size(), 2u);
    ASSERT_TRUE(step.outcome);
    ASSERT_EQ(step.outcome->prediction.size(), 2u);
    EXPECT_EQ(step.outcome->prediction[0].name, "kernel_time_us");
    EXPECT_TRUE(step.outcome->prediction[0].held);
    EXPECT_FALSE(step.outcome->prediction[1].held) << "still one launch";
  }
}

// No card speaks for such a method: its figures are measured, its words are whose they are, in every form of the
// result.
TEST_F(ModelLoop, WhatNobodyCheckedIsToldAsTheModelsAccount) {
  loop.script["quick"].gain = 3;
  Run();
  Answer(
      kPlanner, "",
      R"({"none": "", "plans": [{"method": "one_way", "why": "the loads are late", "kernels": ["k"], "evidence": [{"field": "launches", "value": 1}], "expected": [], "instructions": "i"}]})");
  Run();
  Answer(kOptimizer, "Method: one_way", ChangeOf("quick"));
  Run();
  Answer(kPlanner, "adds a line", R"({"none": "nothing is left", "plans": []})");
  ASSERT_EQ(Run().result.outcome, core::TaskOutcome::kImproved);
  const report::Explanation e = report::Explain(loop.View(), {});
  ASSERT_EQ(e.plans.size(), 1u);
  EXPECT_EQ(e.plans[0], "round 1, one_way: by the account of desk: of k: the loads are late [1] launches = 1 count");
  ASSERT_EQ(e.steps.size(), 1u);
  EXPECT_EQ(e.steps[0].does, "adds a line (by the model's account)");
  EXPECT_TRUE(e.steps[0].causes.empty()) << "no card says why";
  for (const std::string& text : {report::RenderText(e), report::RenderMarkdown(e), report::RenderHtml(e)}) {
    EXPECT_NE(text.find("by the account of desk: of k: the loads are late"), std::string::npos) << text;
    EXPECT_EQ(text.find("adds a line"), text.find("adds a line (by the model")) << text;
  }
  const std::string commit = report::RenderCommitMessage(e);
  EXPECT_NE(commit.find("adds a line (by the model's account)"), std::string::npos) << commit;
  EXPECT_EQ(commit.find("the loads are late"), std::string::npos) << commit;
}

// Two plans of a round know nothing of each other: what is asked does not depend on who answers first.
TEST_F(ModelLoop, TheOrderOfAnswersChangesNoQuestion) {
  loop.script["a"].gain = 3;
  loop.script["b"].gain = 2;
  std::map<std::string, llm::Question> questions;
  for (const bool first : {true, false}) {
    ScriptedLoop fresh;
    fresh.script = loop.script;
    fresh.team = loop.team;
    fresh.task.policy = loop.task.policy;
    desk->answers.clear();
    desk->questions.clear();
    const auto run = [&] { ASSERT_TRUE(fresh.Run()); };
    run();
    Answer(kPlanner, "", PlansOf({"one_way", "other_way"}));
    run();
    const std::string names[] = {"one_way", "other_way"}, lines[] = {"a", "b"};
    for (const size_t i : {size_t{first ? 0u : 1u}, size_t{first ? 1u : 0u}}) {
      Answer(kOptimizer, "Method: " + names[i], ChangeOf(lines[i]));
      run();
    }
    std::set<std::string> ids;
    for (const auto& [id, question] : desk->questions) ids.insert(id);
    if (first) questions = desk->questions;
    EXPECT_EQ(ids.size(), questions.size());
    for (const auto& [id, question] : questions) EXPECT_EQ(ids.count(id), 1u);
  }
}

TEST_F(ModelLoop, AModelThatFindsNothingIsNotAskedForEver) {
  loop.task.policy.max_rounds = 20;
  int rounds = 0;
  for (; rounds < 20; ++rounds) {
    const auto result = Run();
    if (result.pending.empty()) break;
    for (const std::string& id : desk->Open()) {
      const llm::Question& question = desk->questions.at(id);
      const std::string line = "useless " + std::to_string(rounds);
      desk->answers[id] = question.role == kPlanner ? PlansOf({"way_" + std::to_string(rounds)}) : ChangeOf(line);
    }
  }
  EXPECT_EQ(rounds, 4) << "two rounds, each a plan and its code";
  EXPECT_EQ(loop.View().task.result->outcome, core::TaskOutcome::kUnchanged);
}

// Each version that a model wrote is from a question that was asked in this task; the transformations' are from none.
void ExpectOrigins(const memory::TrajectoryView& view, size_t written) {
  std::map<std::string, std::string> asked;  // question -> who
  for (const memory::StepView& step : view.steps)
    if (step.record.kind == memory::StepKind::kAsk && step.outcome) asked[step.record.candidate] = step.record.method;
  std::set<std::string> questions;
  for (const auto& [hash, version] : view.candidates) {
    EXPECT_EQ(version.origin.has_value(), hash != view.task.key.base_hash) << version.method;
    if (!version.origin || version.method == "fast") continue;
    EXPECT_EQ(asked[version.origin->question], core::Name(version.origin->agent)) << version.method;
    questions.insert(version.origin->question);
  }
  EXPECT_EQ(questions.size(), written);
}

TEST_F(ModelLoop, EachVersionHasItsOrigin) {
  loop.AddMethod("fast", {.gain = 2, .gain_of_case = {}, .fails = {}});
  loop.script["quick"].gain = 3;
  Run();
  Answer(kPlanner, "", PlansOf({"one_way"}));
  Run();
  Answer(kOptimizer, "Method: one_way", "{}");
  Run();
  ASSERT_EQ(desk->Open().size(), 1u) << "asked again with what is wrong, which is another question";
  desk->answers[desk->Open().front()] = ChangeOf("quick");
  Run();
  const memory::TrajectoryView view = loop.View();
  ExpectOrigins(view, 1);
  for (const auto& [hash, version] : view.candidates)
    if (version.method == "fast") {
      EXPECT_EQ(version.origin, (core::Origin{core::AgentRole::kOptimizer, ""}));
    }
}

// The process ends at any write of a run whose answers are all there; the next goes on, asks nothing that was answered,
// and judges nothing again.
TEST_F(ModelLoop, KilledAnywhereItEndsTheSame) {
  loop.script["quick"].gain = 3;
  loop.script["wrong"].fails = core::WrongResult{core::Check::kComparison, "n", "out[3] is off"};
  loop.script["mended"].gain = 4;
  Run();
  Answer(kPlanner, "", PlansOf({"one_way", "other_way"}));
  Run();
  Answer(kOptimizer, "Method: other_way", ChangeOf("wrong"));
  Answer(kOptimizer, "Method: one_way", ChangeOf("quick"));
  Run();
  Answer(kRepairer, "out[3] is off", RepairOf("mended"));
  Run();
  Answer(kPlanner, "mends it", R"({"none": "nothing is left", "plans": []})");
  const auto expected = Run();
  ASSERT_EQ(expected.result.outcome, core::TaskOutcome::kImproved);
  const size_t questions = desk->questions.size();

  bool killed = true;
  for (int writes = 0; killed; ++writes) {
    SCOPED_TRACE("killed after write " + std::to_string(writes));
    ScriptedLoop again;
    again.script = loop.script;
    again.team = loop.team;
    again.task.policy = loop.task.policy;
    desk->times_asked.clear();
    DieAfter(again.path(), writes);
    killed = !again.Run();
    std::set<std::string> stored;
    for (const memory::StepView& step : again.View().steps)
      if (step.record.kind == memory::StepKind::kEvaluate && step.outcome) stored.insert(step.record.candidate);
    const size_t before = again.judge.quick.size();
    Revive(again.path());
    const auto resumed = again.Run();
    ASSERT_TRUE(resumed) << resumed.error().Format();
    EXPECT_EQ(resumed->result.best_hash, expected.result.best_hash);
    EXPECT_EQ(resumed->result.gain, expected.result.gain);
    EXPECT_EQ(desk->questions.size(), questions) << "no other question is asked";
    ExpectOrigins(again.View(), 3);
    int twice = 0;
    for (const auto& [id, times] : desk->times_asked) twice += times - 1;
    EXPECT_LE(twice, 1) << "at most the one whose answer was not stored yet";
    for (size_t i = before; i < again.judge.quick.size(); ++i)
      EXPECT_EQ(stored.count(base::Sha256(again.judge.quick[i])), 0u) << "judged again";
  }
}

}  // namespace
}  // namespace warpwright
