// Which methods of a task become drafts of cards.
#include "app/draft_cards.h"

#include <gtest/gtest.h>

#include "agents/generator.h"
#include "agents/optimizer.h"
#include "agents/plan_json.h"
#include "base/file.h"
#include "skills/draft.h"
#include "tests/support/memory_folder.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;
using memory::StepKind;

class DraftCardsTest : public ::testing::Test {
 protected:
  // A plan by `author`, a version of it, and whether that became a base.
  void Add(const std::string& method, const std::string& author, bool taken) {
    core::Plan plan;
    plan.method = method;
    plan.author = author;
    plan.why = "too many loads";
    plan.instructions = "keep them";
    plan.expected = {{"global_load_requests", -1, 0}, {"barriers_per_warp", -1, 0}};
    Step({.kind = StepKind::kPlan, .round = ++round_}, {.data = agents::EncodePlan(plan)});
    const core::Candidate version =
        agents::MakeCandidate(original_.text + "// " + method + "\n", original_, method, {}, "");
    ASSERT_TRUE(trajectory_.PutCandidate(task_, version));
    memory::StepOutcome measured;
    measured.candidate = version.hash;
    measured.gain = 2;
    measured.before = {{"global_load_requests", 100}, {"barriers_per_warp", 2}, {"op_stencil", 1}};
    measured.after = {{"global_load_requests", 40}, {"barriers_per_warp", 3}};
    Step({.kind = StepKind::kEvaluate,
          .round = round_,
          .base = original_.hash,
          .candidate = version.hash,
          .method = method},
         measured);
    if (taken) Step({.kind = StepKind::kAccept, .round = round_, .candidate = version.hash, .method = method}, {});
  }
  void Step(const memory::StepRecord& record, const memory::StepOutcome& outcome) {
    const auto step = trajectory_.Begin(task_, record);
    ASSERT_TRUE(step);
    ASSERT_TRUE(trajectory_.Finish(step->id, outcome));
  }
  std::vector<std::string> Drafts(core::TaskOutcome outcome) {
    EXPECT_TRUE(trajectory_.FinishTask(task_, {.outcome = outcome, .message = "", .best_hash = "", .gain = 2}));
    const auto files = app::WriteDraftCards(trajectory_, *trajectory_.View(task_), library_, folder_.path() / "drafts");
    EXPECT_TRUE(files) << files.error().Format();
    std::vector<std::string> names;
    for (const fs::path& file : *files) names.push_back(file.filename().string());
    return names;
  }

  base::TemporaryDirectory folder_ = MemoryFolder("draft-cards");
  memory::Trajectory trajectory_ = std::move(*memory::Trajectory::Open(folder_.path() / "trajectory.sqlite"));
  const memory::TaskId task_ = trajectory_.BeginTask({"box", "hash", "sim:h200", ""})->id;
  const core::Candidate original_ = agents::Original("float x;\n");
  const skills::SkillLibrary library_ = std::move(*skills::LoadBuiltInSkills());
  int round_ = 0;

 public:
  DraftCardsTest() { EXPECT_TRUE(trajectory_.PutCandidate(task_, original_)); }
};

TEST_F(DraftCardsTest, NewMethodsOfModelsThatLedToTheResult) {
  Add("plane_sums", "desk", true);
  Add("no_gain_method", "desk", false);
  Add("stencil_blocking", "desk", true);  // the library has it
  Add("of_ours", "", true);
  EXPECT_EQ(Drafts(core::TaskOutcome::kImproved), std::vector<std::string>{"plane_sums.yml"});
  const auto library = skills::AcceptDraft(folder_.path() / "drafts/plane_sums.yml", folder_.path() / "skills");
  ASSERT_TRUE(library) << library.error().Format();
  const skills::MethodCard* card = library->Find("plane_sums");
  EXPECT_EQ(card->sketch, "// plane_sums\n");
  ASSERT_EQ(card->expected.size(), 1u) << "what did not come true is not expected";
  EXPECT_DOUBLE_EQ(card->expected.front().factor, 0.4);
  EXPECT_EQ(card->preconditions.size(), 1u);
  EXPECT_EQ(card->sources.front().title, "described by desk, carried out for box on sim:h200: 2.00x");
}

TEST_F(DraftCardsTest, OfATaskWithoutAnImprovementNoneIsMade) {
  Add("plane_sums", "desk", true);
  EXPECT_TRUE(Drafts(core::TaskOutcome::kUnchanged).empty());
}

}  // namespace
}  // namespace warpwright
