#include "llm/task_spending.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "llm/exchange.h"
#include "llm/transcript.h"

namespace warpwright {
namespace {

memory::StepView Asked(const llm::Answer& answer) {
  const llm::Question question{.role = core::AgentRole::kPlanner, .system = {}, .user = {{"what next?"}}};
  memory::StepView step;
  step.record.kind = memory::StepKind::kAsk;
  step.record.candidate = llm::IdOf(question);
  step.outcome.emplace().data = llm::EncodeTranscript({question, answer});
  return step;
}
memory::StepView Taken(int round) {
  memory::StepView step;
  step.record.kind = memory::StepKind::kAccept;
  step.record.round = round;
  step.record.candidate = "version " + std::to_string(round);
  return step;
}
llm::Answer Costs(std::optional<llm::Nanodollars> cost, int64_t requests = 1) {
  return llm::Answered{"x", {.model = "m", .usage = {.input = 10, .output = 5}, .cost = cost, .requests = requests}};
}

// Answered by somebody elsewhere, who may have said what it cost.
memory::StepView Offline(std::optional<double> dollars, std::optional<config::TokenPrice> price) {
  const auto folder = std::move(*base::TemporaryDirectory::Create("exchange"));
  const llm::Question question{.role = core::AgentRole::kPlanner, .system = {}, .user = {{"what next?"}}};
  llm::Exchange exchange(folder.path());
  EXPECT_TRUE(exchange.Put(question));
  EXPECT_TRUE(exchange.Give({.question = llm::IdOf(question), .text = "x", .model = "m", .cost_usd = dollars}));
  return Asked(*llm::OfflineModel(folder.path(), price).Ask(question));
}

TEST(TaskSpending, AnUnknownCostIsNotZero) {
  struct Row {
    const char* what;
    std::vector<memory::StepView> steps;
    std::optional<double> dollars, per_gain;
    int unknown;
  };
  memory::StepView damaged = Asked(Costs(1)), waits = Asked(Costs(1));
  damaged.outcome->data = "{";
  waits.outcome.reset();
  for (const Row& row : {
           Row{"nothing was asked", {Taken(1)}, 0.0, 0.0, 0},
           Row{"nothing was taken", {Asked(Costs(500'000'000))}, 0.5, std::nullopt, 0},
           Row{"one for each",
               {Asked(Costs(500'000'000)), Taken(0), Taken(2), Taken(memory::kFinalRound)},
               0.5,
               0.25,
               0},
           Row{"a price is not known", {Asked(Costs(500'000'000)), Asked(Costs({})), Taken(1)}, {}, {}, 1},
           Row{"of an exchange, and nobody said what it cost", {Offline({}, {}), Taken(1)}, {}, {}, 1},
           Row{"of an exchange, with its cost", {Offline(0.5, {}), Taken(1)}, 0.5, 0.5, 0},
           Row{"of an exchange that costs nothing", {Offline({}, config::TokenPrice{}), Taken(1)}, 0.0, 0.0, 0},
           Row{"nothing was sent", {Asked(Costs({}, 0)), Taken(1)}, 0.0, 0.0, 0},
           Row{"it does not decode", {damaged, Taken(1)}, {}, {}, 1},
           Row{"it waits", {waits, Taken(1)}, 0.0, 0.0, 0},
       }) {
    memory::TrajectoryView view;
    view.steps = row.steps;
    const llm::TaskSpending spending = llm::SpendingOf(view);
    EXPECT_EQ(spending.Dollars(), row.dollars) << row.what;
    EXPECT_EQ(spending.DollarsPerGain(), row.per_gain) << row.what;
    EXPECT_EQ(spending.unknown, row.unknown) << row.what;
  }
}

}  // namespace
}  // namespace warpwright
