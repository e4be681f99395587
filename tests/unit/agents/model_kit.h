// A situation for agents that ask a model: a softmax on a scripted worker, and a model that answers from a list.
#pragma once

#include <gtest/gtest.h>

#include "agents/experience_text.h"
#include "agents/model_agents.h"
#include "base/hash.h"
#include "core/entry_text.h"
#include "tests/support/computation_samples.h"
#include "tests/unit/judge/specs.h"

namespace warpwright {

// Knows the text of the entry, and splices by taking the edited file as it is.
class EntryWorker final : public core::Evaluator {
 public:
  Result<core::Inspection> Inspect(const core::SourceRef&) override { return core::Inspection{}; }
  Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest& request) override {
    if (request.transform != core::kEntryText) return core::RewriteOutcome(core::RewriteRefusal{"nothing", 0});
    return core::RewriteOutcome(core::Rewritten{.text = request.source.text, .notes = notes, .entry = {}});
  }
  Result<core::SpliceOutcome> Splice(const core::SpliceRequest& request) override {
    ++splices;
    if (request.edited.find("other_entry") != std::string::npos)
      return core::SpliceOutcome(core::Refused{
          core::Check::kSplice, "the edit changes other_entry, which softmax_forward does not use", "", 9});
    return core::SpliceOutcome(core::Rewritten{request.edited, {}, {}});
  }
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest&) override {
    return Fail(ErrorCode::kUnsupported, "nothing runs here");
  }
  Result<core::TimeOutcome> Time(const core::TimeRequest&) override {
    return Fail(ErrorCode::kUnsupported, "nothing runs here");
  }
  std::vector<std::string> notes = {"slice abc", "function softmax 1 4", "function softmax_forward 6 8"};
  int splices = 0;
};

class ListedModel final : public llm::LanguageModel {
 public:
  Result<llm::Answer> Ask(const llm::Question& question) override {
    const Status sound = llm::CheckQuestion(question);
    EXPECT_TRUE(sound) << sound.error().message;
    asked.push_back(question);
    if (answers.size() < asked.size()) return llm::Answer(llm::Pending{llm::IdOf(question), ""});
    return answers[asked.size() - 1];
  }
  void Answer(std::string text) { answers.push_back(llm::Answered{std::move(text), {}}); }
  std::vector<llm::Answer> answers;
  std::vector<llm::Question> asked;
};

// Everything of it can be changed before it is asked for.
struct ModelKit {
  ModelKit() {
    chip.id = "h200";
    chip.name = "NVIDIA H200";
    chip.arch = "sm_90";
    chip.multiprocessors = 132;
    chip.clock_ghz = 1.98;
    chip.shared_bytes = 233472;
    chip.shared_bytes_per_block_optin = 232448;
    chip.l2_bytes = 62.9e6;
    chip.l2_bytes_per_second = 8.1e12;
    chip.dram_bytes_per_second = 4.27e12;
    chip.launch_overhead_us = 2.9;
    original.text =
        "__global__ void softmax(float* out, const float* in, int N, int C) {\n"
        "  // one thread for each row\n  out[0] = expf(in[0]);\n}\n\n"
        "void softmax_forward(float* out, const float* in, int N, int C) {\n"
        "  softmax<<<(N + 255) / 256, 256>>>(out, in, N, C);\n}\n";
    original.root = "/tree";
    original.file = spec.file;
    measured.device = "sim:h200";
    core::CaseMeasurement c;
    c.case_name = "small";
    c.time_us = 12.345;
    core::LaunchReport launch;
    launch.kernel = "softmax";
    launch.registers = 32;
    launch.threads_per_block = 256;
    launch.blocks_total = 4;
    launch.time.total_us = 12;
    launch.time.limiter = "dram";
    launch.occupancy.theoretical = 1;
    launch.occupancy.limiter = core::OccupancyLimiter::kGrid;
    core::LineCounters line;
    line.file = spec.file;
    line.line = 3;
    line.warp_instructions = 61;
    line.global_sectors = 100;
    launch.lines = {line};
    c.launches = {launch};
    measured.cases = {c};
    features.case_name = "small";
    features.kernel = "softmax";
    features.roofline.floor_us = 3.2;
    features.roofline.min_bytes = 8e5;
    features.evidence.Set("load_sectors_per_request", 31.94);
    features.evidence.Set("loops", 3);
    features.evidence.Set("one_thread_per_row", 1);
    features.evidence.Set("uses_shared", 0);
    features.evidence.SetOperation(core::OperationClass::kRowNormalization);
    card.id = "row_parallel";
    card.title = "A warp for each row";
    card.intent = "Let the lanes of a warp share a row.";
    card.mechanism = "Neighbouring lanes read neighbouring elements.";
    card.sketch = "for (int j = lane; j < C; j += 32) sum += x[j];\n";
    card.example = "// a warp for each row, whole\n__global__ void rows(float* out) {}\n";
    card.forbidden = {"a shuffle that not all lanes reach"};
    match.position = "26 % of the roofline";
    match.bottlenecks = {{"strided", "Strided loads", "memory", 0.9, true, "load_sectors_per_request = 31.94"}};
    match.methods = {{&card, 0.8, 0.5, {"one_thread_per_row = yes"}, {}}};
    memory::GradedExperience known{.experience = {}, .grade = memory::MatchGrade::kExact};
    known.experience.method = "row_parallel";
    known.experience.log_gain = 0.6;
    learned = agents::ExperienceText({.best = known.grade, .samples = {known, known}, .warnings = {}}, true);
    failed.text = original.text;
    failed.method = "row_parallel";
    plan.method = "row_parallel";
    plan.why = "the loads are strided";
    plan.evidence = {"load_sectors_per_request = 31.94"};
    plan.instructions = "1. a warp for each row\n2. shuffles for the sum";
    plan.author = "desk";
    diagnosis = {.cause = core::Diagnosis::Cause::kOutOfBounds,
                 .quote = "out[1024]",
                 .root_cause = "an access passes the end of a buffer",
                 .fix = "guard the tail",
                 .confidence = 0.7};
  }

  agents::Situation At() {
    original_candidate = agents::Original(original.text);
    failed.hash = base::Sha256(failed.text);
    return {.spec = spec,
            .original = original,
            .chip = chip,
            .evaluator = worker,
            .form = segments ? nullptr : &form,
            .segments = segments,
            .base = original_candidate,
            .measured = measured,
            .features = features,
            .gain = 1,
            .history = history};
  }
  agents::Engine Desk() { return {"desk", model, {}}; }

  core::KernelSpec spec = SoftmaxSpec(1000, 257);
  core::SourceRef original;
  core::Chip chip;
  EntryWorker worker;
  agents::Form form{testing::Softmax(), "", {}};
  std::function<Result<std::vector<core::SegmentForm>>()> segments;  // instead of the form
  core::Measured measured;
  agents::ExtractedFeatures features;
  std::vector<agents::PastAttempt> history = {
      {0, "vectorize_elementwise", {{"width", "4"}}, 0, "does not apply: the row length is odd"},
      {0, "launch_retune", {{"block_size", "128"}}, 1.004, "blocks of 128"}};
  std::string learned;
  skills::MethodCard card;
  skills::MatchResult match;
  core::Plan plan;
  core::Candidate failed;
  core::Verdict verdict = core::Faulted{{.kind = core::Fault::Kind::kOutOfBounds,
                                         .message = "out-of-bounds write of 4 bytes at out[1024]",
                                         .kernel = "softmax",
                                         .file = "kernels/softmax.cu",
                                         .line = 3},
                                        "small"};
  core::Diagnosis diagnosis;
  std::shared_ptr<ListedModel> model = std::make_shared<ListedModel>();
  core::Candidate original_candidate;

  Result<agents::Proposal<agents::ExtractedFeatures>> Extract() {
    return agents::MakeModelExtractor(Desk())->Propose({At()});
  }
  Result<agents::Proposal<agents::Draft>> Generate() {
    return agents::MakeModelGenerator(Desk())->Propose({At(), match, match, {}, learned});
  }
  Result<agents::Proposal<core::Plan>> Plan() {
    return agents::MakeModelPlanner(Desk())->Propose({At(), match, match, {}, learned});
  }
  Result<agents::Proposal<agents::Attempt>> Optimize() {
    return agents::MakeModelOptimizer(Desk())->Propose({At(), plan, &card});
  }
  Result<agents::Proposal<core::Diagnosis>> Diagnose() {
    return agents::MakeModelDiagnoser(Desk())->Propose({At(), failed, verdict});
  }
  Result<agents::Proposal<core::Candidate>> Repair() {
    return agents::MakeModelRepairer(Desk())->Propose({At(), plan, failed, verdict, diagnosis});
  }
  Result<agents::Proposal<agents::Critique>> Criticize() {
    return agents::MakeModelCritic(Desk())->Propose({At(), plan, failed});
  }
  // Asks every agent once.
  void AskAll() {
    EXPECT_TRUE(Extract());
    EXPECT_TRUE(Generate());
    EXPECT_TRUE(Plan());
    EXPECT_TRUE(Optimize());
    EXPECT_TRUE(Diagnose());
    EXPECT_TRUE(Repair());
    EXPECT_TRUE(Criticize());
  }
};

}  // namespace warpwright
