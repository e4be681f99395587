// What agents ask a model, and what they take from its answers.
#include "agents/model_agents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "agents/briefing.h"

#include "tests/support/golden.h"
#include "tests/unit/agents/model_kit.h"

namespace warpwright {
namespace {

constexpr const char* kChange =
    R"({"summary": "s", "functions": [{"name": "softmax", "text": "__global__ void softmax(float* out, const float* in, int N, int C) {}"}], "lines": [], "parameters": []})";

// The whole prompt as a person reads it. A prompt that grows says so here, in bytes.
TEST(ModelAgents, Prompts) {
  ModelKit kit;
  kit.AskAll();
  ASSERT_EQ(kit.model->asked.size(), 7u);
  std::string lengths;
  for (const llm::Question& question : kit.model->asked) {
    const std::string name(Name(question.role));
    const std::string text = llm::RenderPrompt(question);
    ExpectGolden("prompts/" + name + ".md", text);
    lengths += name + " " + std::to_string(text.size()) + "\n";
    EXPECT_LT(text.size(), 20'000u) << name;
    EXPECT_TRUE(question.system.front().cache) << name;
  }
  ExpectGolden("prompts/lengths.txt", lengths);
}

// The details of a method are for whoever writes the code; whoever plans needs to know what it is.
TEST(ModelAgents, WorkedExamplesAreForThoseWhoWrite) {
  ModelKit kit;
  kit.AskAll();
  for (const llm::Question& question : kit.model->asked) {
    const bool writes = question.role == core::AgentRole::kGenerator || question.role == core::AgentRole::kOptimizer;
    const std::string text = llm::RenderPrompt(question);
    EXPECT_EQ(text.find("// a warp for each row, whole") != std::string::npos, writes) << Name(question.role);
    EXPECT_EQ(text.find("sum += x[j];") != std::string::npos, question.role == core::AgentRole::kPlanner)
        << Name(question.role);
  }
}

TEST(ModelAgents, AnUnansweredQuestionIsWaitedFor) {
  ModelKit kit;
  const auto plan = kit.Plan();
  ASSERT_TRUE(plan) << plan.error().message;
  const auto* waiting = std::get_if<agents::Waiting>(&*plan);
  ASSERT_NE(waiting, nullptr);
  EXPECT_EQ(waiting->questions, std::vector<std::string>{llm::IdOf(kit.model->asked.front())});
}

TEST(ModelAgents, EqualSituationsAskEqualQuestions) {
  ModelKit a, b;
  a.AskAll();
  b.AskAll();
  for (size_t i = 0; i < a.model->asked.size(); ++i)
    EXPECT_EQ(llm::IdOf(a.model->asked[i]), llm::IdOf(b.model->asked[i]));
}

// Each a question of its own, whose answers are kept apart; all of them are asked at once.
TEST(ModelAgents, SeveralAnswersOfAModelAreSeveralCandidates) {
  ModelKit kit;
  const agents::Team team = agents::MakeTeam({{core::AgentRole::kOptimizer, {.samples = 2, .engines = {kit.Desk()}}}});
  const auto waits = team.optimizer->Propose({kit.At(), kit.plan});
  ASSERT_TRUE(waits) << waits.error().message;
  ASSERT_EQ(kit.model->asked.size(), 2u);
  EXPECT_EQ(std::get<agents::Waiting>(*waits).questions.size(), 2u);
  EXPECT_NE(llm::IdOf(kit.model->asked[0]), llm::IdOf(kit.model->asked[1]));
  EXPECT_EQ(llm::RenderPrompt(kit.model->asked[0]), llm::RenderPrompt(kit.model->asked[1]));
  kit.model->asked.clear();
  kit.model->Answer(kChange);
  kit.model->Answer(std::string(kChange).replace(std::string(kChange).find("{}\""), 2, "{ }"));
  const auto attempts = team.optimizer->Propose({kit.At(), kit.plan});
  ASSERT_TRUE(attempts) << attempts.error().message;
  EXPECT_EQ(std::get<std::vector<agents::Attempt>>(*attempts).size(), 2u);
}

// What came of a question stands in the prompts of later ones. A replay, or another folder, is another engine, and must
// ask the same.
TEST(ModelAgents, WhatCameOfAQuestionDoesNotSayWhoWasAsked) {
  std::set<std::string> reasons;
  for (const char* name : {"offline", "replay"}) {
    ModelKit kit;
    for (const char* unusable : {"{}", "{}"}) kit.model->Answer(unusable);
    const auto attempts = agents::MakeModelOptimizer({name, kit.model, {}})->Propose({kit.At(), kit.plan});
    ASSERT_TRUE(attempts) << attempts.error().message;
    reasons.insert(std::get<agents::NoProposal>(*attempts).reason);
  }
  EXPECT_EQ(reasons.size(), 1u) << *reasons.begin();
}

TEST(ModelAgents, PlansCiteWhatIsThere) {
  struct Row {
    const char *evidence, *fault;
  };
  const Row rows[] = {
      {R"([{"field": "load_sectors_per_request", "value": 31.94}])", nullptr},
      {R"([{"field": "one_thread_per_row", "value": 1}, {"field": "uses_shared", "value": 0}])", nullptr},
      {R"([{"field": "load_sectors_per_request", "value": 8}])", "evidence: load_sectors_per_request is 31.94, not 8"},
      {R"([{"field": "dram_throughput_pct", "value": 8}])",
       "evidence: 'dram_throughput_pct' is not in the list of evidence"},
      {R"([{"field": "luck", "value": 8}])", "evidence: 'luck' is not in the list of evidence"},
  };
  for (const Row& row : rows) {
    ModelKit kit;
    const std::string answer =
        std::string(R"({"none": "", "plans": [{"method": "Warp Shuffles!", "why": "w", "kernels": [], "evidence": )") +
        row.evidence + R"(, "expected": [{"field": "loops", "direction": "down"}], "instructions": "i"}]})";
    kit.model->Answer(answer);
    kit.model->Answer(answer);
    const auto plans = kit.Plan();
    ASSERT_TRUE(plans) << plans.error().message;
    if (row.fault == nullptr) {
      const auto& plan = std::get<std::vector<core::Plan>>(*plans).front();
      EXPECT_EQ(plan.method, "warp_shuffles");
      EXPECT_EQ(plan.author, "desk");
      EXPECT_EQ(plan.expected, (std::vector<core::Prediction>{{"loops", -1, 0}}));
      continue;
    }
    // Returned once with the reason, and then dropped.
    ASSERT_EQ(kit.model->asked.size(), 2u);
    EXPECT_EQ(kit.model->asked[1].corrections.at(0).fault, llm::CorrectionOf("", row.fault).fault);
    EXPECT_EQ(std::get<agents::NoProposal>(*plans).reason,
              std::string("the model: the answer cannot be used: ") + row.fault);
  }
}

// Who writes for halves should know how far away tensor cores are, and what the manifest says of special values.
TEST(ModelAgents, TheFloorOfHalvesIsToldWithTensorCoresToo) {
  for (const core::DType dtype : {core::DType::kF16, core::DType::kF32}) {
    ModelKit kit;
    kit.chip.tensor_fma_per_cycle = 1024;
    kit.features.roofline = {.min_bytes = 8e5, .flops = 1e9, .memory_us = 0.2, .compute_us = 15, .floor_us = 17.9};
    for (core::Argument& argument : kit.spec.args)
      if (auto* buffer = std::get_if<core::BufferArgument>(&argument.kind)) buffer->dtype = dtype;
    kit.spec.special = core::SpecialInputs::kFinite;
    ASSERT_TRUE(kit.Plan());
    const std::string prompt = llm::RenderPrompt(kit.model->asked.at(0));
    EXPECT_NE(prompt.find("17.9 us, set by operations (800 kB to move once, 1e+09 flop"), std::string::npos);
    EXPECT_EQ(prompt.find("on tensor cores (mma.sync): 4.768 us") != std::string::npos, dtype == core::DType::kF16);
    EXPECT_NE(prompt.find("infinities and NaN are not tried"), std::string::npos);
  }
}

TEST(ModelAgents, APlanNamesKernelsThatAreLaunched) {
  const struct {
    const char *kernels, *outcome;
  } rows[] = {
      {"[]", ""},
      {R"(["softmax", "sums", "softmax"])", "softmax, sums"},
      {R"(["sums<float, 4>"])", "sums<float, 4>"},
      {R"(["sum"])", "kernels: 'sum' is not among the launches"},
      {R"(["softmax_forward"])", "kernels: 'softmax_forward' is not among the launches"},
      {R"([""])", "kernels: '' is not among the launches"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.kernels);
    ModelKit kit;
    kit.measured.cases[0].launches.push_back(kit.measured.cases[0].launches[0]);
    kit.measured.cases[0].launches[1].kernel = "sums<float, 4>";
    const std::string answer =
        std::string(R"({"none": "", "plans": [{"method": "one_pass", "why": "w", "kernels": )") + row.kernels +
        R"(, "evidence": [{"field": "loops", "value": 3}], "expected": [], "instructions": "i"}]})";
    for (int i = 0; i < 2; ++i) kit.model->Answer(answer);
    const auto proposal = kit.Plan();
    ASSERT_TRUE(proposal) << proposal.error().message;
    if (const auto* none = std::get_if<agents::NoProposal>(&*proposal)) {
      EXPECT_NE(none->reason.find(row.outcome), std::string::npos) << none->reason;
      EXPECT_EQ(kit.model->asked.size(), 2u) << "once more, with the reason";
      continue;
    }
    const core::Plan& plan = std::get<std::vector<core::Plan>>(*proposal).front();
    EXPECT_EQ(fmt::format("{}", fmt::join(plan.kernels, ", ")), row.outcome);
    EXPECT_EQ(plan.kernel, "softmax") << "the hottest, for transformations";
    const std::string text = agents::PlanText(plan);
    for (const std::string& kernel : plan.kernels)
      EXPECT_NE(text.find("- changes the kernel: \"" + kernel + "\"\n"), std::string::npos) << text;
  }
}

// A reader mends what rules read off the source, and no number; its notes are an account.
TEST(ModelAgents, AReadingMendsWhatWasReadAndCountsNothing) {
  struct Row {
    const char *answer, *fault;
    double one_thread_per_row;
    core::OperationClass operation;
  };
  using enum core::OperationClass;
  const Row rows[] = {
      {R"({"operation": "scan", "corrections": [], "notes": ["n"]})", nullptr, 1, kRowNormalization},
      {R"({"operation": "scan", "corrections": [{"field": "one_thread_per_row", "holds": false, "line": 3}], "notes": ["n"]})",
       nullptr, 0, kRowNormalization},
      {R"({"operation": "scan", "corrections": [{"field": "one_thread_per_row", "holds": false, "line": 300}], "notes": []})",
       "corrections: one_thread_per_row: the file has no line 300", 1, kRowNormalization}};
  for (const Row& row : rows) {
    ModelKit kit;
    for (int i = 0; i < 2; ++i) kit.model->Answer(row.answer);
    const auto reading = kit.Extract();
    ASSERT_TRUE(reading) << reading.error().message;
    if (row.fault != nullptr) {
      EXPECT_EQ(kit.model->asked.at(1).corrections.at(0).fault, llm::CorrectionOf("", row.fault).fault);
      continue;
    }
    const auto& features = std::get<std::vector<agents::ExtractedFeatures>>(*reading).at(0);
    EXPECT_EQ(features.evidence.GetOr("one_thread_per_row", -1), row.one_thread_per_row);
    EXPECT_EQ(features.evidence.operation, row.operation) << "what is known stays";
    EXPECT_EQ(features.notes, std::vector<std::string>{"n"});
  }
  ModelKit unknown;
  unknown.features.evidence.SetOperation(kUnknown);
  unknown.model->Answer(rows[0].answer);
  EXPECT_EQ(std::get<std::vector<agents::ExtractedFeatures>>(*unknown.Extract()).at(0).evidence.operation, kScan);
  // No field that was counted may be named.
  ModelKit counted;
  for (int i = 0; i < 2; ++i)
    counted.model->Answer(
        R"({"operation": "scan", "corrections": [{"field": "dram_throughput_pct", "holds": true, "line": 1}], "notes": []})");
  EXPECT_TRUE(std::holds_alternative<agents::NoProposal>(*counted.Extract()));
}

TEST(ModelAgents, NotesOfAReadingStandInLaterPromptsAsAnAccount) {
  ModelKit kit;
  kit.features.notes = {"sixteen lanes share a channel"};
  ASSERT_TRUE(kit.Plan());
  EXPECT_NE(llm::RenderPrompt(kit.model->asked.at(0))
                .find("By the account of the Feature Extractor, a model that read the code:\n- \"sixteen lanes"),
            std::string::npos);
}

TEST(ModelAgents, AChangeIsSplicedAndBecomesACandidate) {
  ModelKit kit;
  kit.model->Answer(kChange);
  const auto attempts = kit.Optimize();
  ASSERT_TRUE(attempts) << attempts.error().message;
  const auto& attempt = std::get<std::vector<agents::Attempt>>(*attempts).at(0);
  const auto& candidate = std::get<core::Candidate>(attempt.outcome);
  EXPECT_TRUE(
      candidate.text.starts_with("__global__ void softmax(float* out, const float* in, int N, int C) {}\n\nvoid"))
      << candidate.text;
  EXPECT_EQ(candidate.method, "row_parallel");
  EXPECT_EQ(candidate.hash, base::Sha256(candidate.text));
  EXPECT_EQ(kit.worker.splices, 1);
}

// The splicer's words go back once; then the plan is not carried out.
TEST(ModelAgents, AnEditOutsideTheEntryIsRefusedBeforeAnythingRuns) {
  ModelKit kit;
  const std::string outside =
      R"({"summary": "s", "functions": [], "lines": [{"first": 9, "last": 8, "text": "void other_entry() {}"}], "parameters": []})";
  kit.model->Answer(outside);
  kit.model->Answer(outside);
  const auto attempts = kit.Optimize();
  ASSERT_TRUE(attempts) << attempts.error().message;
  EXPECT_NE(kit.model->asked.at(1).corrections.at(0).fault.find(
                "the edit changes other_entry, which softmax_forward does not use (line 9 of the changed file)"),
            std::string::npos);
  EXPECT_TRUE(std::holds_alternative<agents::NoProposal>(*attempts));
}

TEST(ModelAgents, ADiagnosisQuotesTheVerdict) {
  for (const bool honest : {true, false}) {
    ModelKit kit;
    const std::string quote = honest ? "out-of-bounds write of 4 bytes" : "misaligned address";
    const std::string answer =
        R"({"quote": ")" + quote + R"(", "cause": "out of bounds", "root_cause": "r", "fix": "f", "confidence": 0.9})";
    kit.model->Answer(answer);
    kit.model->Answer(answer);
    const auto diagnosis = kit.Diagnose();
    ASSERT_TRUE(diagnosis) << diagnosis.error().message;
    EXPECT_EQ(std::holds_alternative<std::vector<core::Diagnosis>>(*diagnosis), honest);
    if (honest) {
      EXPECT_EQ(std::get<std::vector<core::Diagnosis>>(*diagnosis).at(0).cause, core::Diagnosis::Cause::kOutOfBounds);
    }
  }
}

// What stands in the prompt may be quoted as it stands there, and nothing else.
TEST(ModelAgents, AQuoteIsOfTheVerdictAsItIsShown) {
  struct Row {
    const char* quote;
    bool stands;
  };
  const core::Verdict fault = core::Faulted{{.kind = core::Fault::Kind::kOutOfBounds,
                                             .message = "out-of-bounds write of 4 bytes at out[1024]",
                                             .kernel = "softmax",
                                             .block = {3, 0, 0},
                                             .thread = {17, 0, 0}},
                                            "small"};
  const core::Verdict log = core::CompileFailed{"k.cu(3): error: x\tis undefined\n    y = x;\n1 error\n"};
  const std::pair<core::Verdict, std::vector<Row>> tables[] = {
      {fault,
       {{"block (3, 0, 0), thread (17, 0, 0)", true},
        {"in kernel softmax", true},
        {"block (4, 0, 0)", false},
        {"", false},
        {" \\n| ", false}}},
      {log,
       {{"x    is undefined", true},
        {"x is undefined", true},
        {"| k.cu(3): error: x    is undefined\\n|     y = x;", true},
        {"is undefined\\n    y = x;\\n1 error", true},
        {"is undefined 1 error", false}}}};
  for (const auto& [verdict, rows] : tables)
    for (const Row& row : rows) {
      ModelKit kit;
      kit.verdict = verdict;
      const std::string quote = std::string(R"({"quote": ")") + row.quote;
      for (int i = 0; i < 2; ++i)
        kit.model->Answer(
            quote +
            R"(", "cause": "c", "abandon": "", "summary": "s", "functions": [], "lines": [{"first": 2, "last": 2, "text": "x;"}]})");
      const auto repair = kit.Repair();
      ASSERT_TRUE(repair) << repair.error().message;
      EXPECT_EQ(std::holds_alternative<std::vector<core::Candidate>>(*repair), row.stands) << row.quote;
      kit.model->asked.clear();
      kit.model->answers.clear();
      for (int i = 0; i < 2; ++i)
        kit.model->Answer(quote + R"(", "cause": "out of bounds", "root_cause": "r", "fix": "f", "confidence": 0.9})");
      const auto diagnosis = kit.Diagnose();
      ASSERT_TRUE(diagnosis) << diagnosis.error().message;
      EXPECT_EQ(std::holds_alternative<std::vector<core::Diagnosis>>(*diagnosis), row.stands) << row.quote;
    }
}

TEST(ModelAgents, ARepairMayBeAbandoned) {
  ModelKit kit;
  kit.model->Answer(
      R"({"quote": "", "cause": "c", "abandon": "it cannot be right", "summary": "s", "functions": [], "lines": []})");
  const auto repair = kit.Repair();
  ASSERT_TRUE(repair) << repair.error().message;
  EXPECT_EQ(std::get<agents::NoProposal>(*repair).reason, "the model: it cannot be right");
}

TEST(ModelAgents, AFailureOfTheModelIsNoProposal) {
  ModelKit kit;
  kit.model->answers = {
      llm::Failed{.kind = llm::FailureKind::kTaskBudget, .message = "limits.models.task.dollars is reached"},
      llm::Refused{"no", {}}, llm::Truncated{"{", {}}};
  EXPECT_EQ(std::get<agents::NoProposal>(*kit.Plan()).reason,
            "the model: task_budget: limits.models.task.dollars is reached");
  EXPECT_EQ(std::get<agents::NoProposal>(*kit.Plan()).reason, "the model: declined: no");
  EXPECT_EQ(std::get<agents::NoProposal>(*kit.Plan()).reason, "the model: the answer was longer than it may be");
}

// What a later run may have an answer to is not the end of the task.
TEST(ModelAgents, AModelThatCannotBeAskedIsWaitedFor) {
  using enum llm::FailureKind;
  for (const auto kind : {kUnreachable, kTimeout, kStalled, kCutOff, kRateLimited, kOverloaded, kServerFault,
                          kSpendLimit, kUnauthorized, kBudget, kCancelled}) {
    ModelKit kit;
    kit.model->answers = {llm::Failed{.kind = kind, .message = "m"}};
    const auto plan = kit.Plan();
    ASSERT_TRUE(plan) << plan.error().message;
    const auto* waiting = std::get_if<agents::Waiting>(&*plan);
    ASSERT_NE(waiting, nullptr) << Name(kind);
    EXPECT_EQ(waiting->questions, std::vector<std::string>{llm::IdOf(kit.model->asked.front())});
    EXPECT_EQ(waiting->failures, std::vector<std::string>{std::string(Name(kind)) + ": m"});
  }
}

// Where all are asked, what is there is a part of the proposal; where the first is, it is all of it.
TEST(ModelAgents, WhoWaitsHoldsUpNobodyElse) {
  struct Row {
    agents::AskOrder order;
    bool built_in_first;
    size_t proposed, questions;
  };
  using enum agents::AskOrder;
  for (const Row& row :
       {Row{kAll, true, 1, 1}, Row{kAll, false, 1, 1}, Row{kFirst, true, 1, 0}, Row{kFirst, false, 0, 1}}) {
    ModelKit kit;
    std::vector<agents::Engine> engines = {{"built_in", nullptr, {}}, kit.Desk()};
    if (!row.built_in_first) std::swap(engines[0], engines[1]);
    const agents::Team team =
        agents::MakeTeam({{core::AgentRole::kDiagnoser, {.order = row.order, .engines = engines}}});
    const core::Verdict verdict = core::CompileFailed{"k.cu(2): error: what is off"};
    auto proposal = team.diagnoser->Propose({kit.At(), kit.At().base, verdict});
    ASSERT_TRUE(proposal) << proposal.error().message;
    const auto* proposed = agents::ProposedIn(*proposal);
    EXPECT_EQ(proposed == nullptr ? 0 : proposed->size(), row.proposed);
    const auto* waiting = agents::WaitingFor(*proposal);
    EXPECT_EQ(waiting == nullptr ? 0 : waiting->questions.size(), row.questions);
  }
}

// In an order of two, the second is asked, and its proposal needs nobody else.
TEST(ModelAgents, AnotherModelAnswersForOneThatCannotBeAsked) {
  for (const auto order : {agents::AskOrder::kFirst, agents::AskOrder::kAll}) {
    ModelKit kit;
    const auto out = std::make_shared<ListedModel>();
    out->answers = {llm::Failed{.kind = llm::FailureKind::kOverloaded, .message = "m"}};
    kit.model->Answer(
        R"({"none": "", "plans": [{"method": "one_way", "why": "w", "kernels": [], "evidence": [{"field": "loops", "value": 3}], "expected": [], "instructions": "i"}]})");
    const agents::Team team = agents::MakeTeam(
        {{core::AgentRole::kPlanner, {.order = order, .engines = {{"out", out, {}}, {"desk", kit.model, {}}}}}});
    const auto plans = team.planner->Propose({kit.At(), kit.match, kit.match, {}, kit.learned});
    ASSERT_TRUE(plans) << plans.error().message;
    const auto* none = std::get_if<agents::NoProposal>(&*plans);
    EXPECT_TRUE(std::holds_alternative<std::vector<core::Plan>>(*plans)) << (none != nullptr ? none->reason : "waits");
  }
}

}  // namespace
}  // namespace warpwright
