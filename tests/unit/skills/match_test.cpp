#include "skills/match.h"

#include "skills/cause.h"

#include <algorithm>
#include <cmath>

#include "tests/unit/skills/builtin_library.h"

namespace warpwright {
namespace {

core::Evidence Of(std::initializer_list<std::pair<const char*, double>> values) {
  core::Evidence evidence;
  for (const auto& [name, value] : values) evidence.Set(name, value);
  return evidence;
}
const skills::RankedMethod* Find(const skills::MatchResult& result, std::string_view id) {
  for (const skills::RankedMethod& m : result.methods)
    if (m.card->id == id) return &m;
  return nullptr;
}
const skills::VetoedMethod* FindVeto(const skills::MatchResult& result, std::string_view id) {
  for (const skills::VetoedMethod& v : result.vetoed)
    if (v.method == id) return &v;
  return nullptr;
}
size_t Rank(const skills::MatchResult& result, std::string_view id) {
  for (size_t i = 0; i < result.methods.size(); ++i)
    if (result.methods[i].card->id == id) return i;
  return 999;
}
core::Evidence NaiveRows() {
  return Of({{"op_row_reduction", 1},
             {"one_thread_per_row", 1},
             {"load_efficiency_pct", 12.5},
             {"store_sector_pct", 1},
             {"roofline_pct", 3},
             {"headroom", 33},
             {"waves", 0.2},
             {"limited_by_grid", 1},
             {"compute_capability", 90},
             {"accumulating_loop", 1},
             {"accumulators", 1},
             {"op_matmul", 0},
             {"const_restrict", 0}});
}

TEST(Match, CitesFieldsWithNumbers) {
  const skills::MatchResult result = skills::Match(BuiltIn(), NaiveRows(), {});
  ASSERT_NE(result.primary(), nullptr);
  EXPECT_EQ(result.primary()->id, "serial_rows");
  EXPECT_EQ(result.primary()->evidence, "one_thread_per_row = yes");
  EXPECT_EQ(result.position, "3.0 % of the roofline, 33 times the floor");
  EXPECT_EQ(result.state, "serial_rows;headroom>=20;compute_floor=?;uses_shared=?;launches=?");
  ASSERT_FALSE(result.methods.empty());
  EXPECT_EQ(result.methods[0].card->id, "row_parallel");
  bool cited = false;
  for (const std::string& reason : result.methods[0].reasons)
    cited |= reason.find("load_efficiency_pct = 12.5 % (below 60)") != std::string::npos;
  EXPECT_TRUE(cited);
}

TEST(Match, StatesTheRooflineWithItsFigure) {
  const skills::MatchResult result =
      skills::Match(BuiltIn(), Of({{"roofline_pct", 95.5}, {"headroom", 1.05}, {"compute_capability", 90}}), {});
  ASSERT_TRUE(result.at_roofline);
  EXPECT_DOUBLE_EQ(result.at_roofline->share_pct, 95.5);
  EXPECT_NE(result.at_roofline->message.find("95.5 %"), std::string::npos);
  EXPECT_FALSE(skills::Match(BuiltIn(), Of({{"roofline_pct", 91.9}}), {}).at_roofline);
  EXPECT_TRUE(skills::Match(BuiltIn(), Of({{"roofline_pct", 92}}), {}).at_roofline);
}

TEST(Match, OnlyWhatRaisesTheRoofGoesBeyondIt) {
  core::Evidence at_roof = Of({{"roofline_pct", 96},
                               {"headroom", 1.04},
                               {"op_matmul", 1},
                               {"dtype_half", 0},
                               {"dtype_f64", 0},
                               {"compute_floor", 1},
                               {"tensor_cores", 0},
                               {"compute_capability", 90}});
  EXPECT_TRUE(skills::Match(BuiltIn(), at_roof, {}).at_roofline);
  skills::MatchContext tf32;
  tf32.allow = {core::Allow::kTf32};
  const skills::MatchResult result = skills::Match(BuiltIn(), at_roof, tf32);
  EXPECT_FALSE(result.at_roofline);
  ASSERT_EQ(result.methods.size(), 1u);
  EXPECT_EQ(result.methods[0].card->id, "tensor_core_mma");
}

TEST(Match, RecognisesWhatIsThereAlready) {
  core::Evidence evidence = NaiveRows();
  evidence.Set("one_thread_per_row", 0);
  evidence.Set("shuffles", 5);
  const skills::MatchResult result = skills::Match(BuiltIn(), evidence, {});
  EXPECT_EQ(Find(result, "row_parallel"), nullptr);
  ASSERT_NE(FindVeto(result, "row_parallel"), nullptr);
  EXPECT_EQ(FindVeto(result, "row_parallel")->kind, skills::VetoedMethod::Kind::kAlreadyApplied);
}

TEST(Match, VetoesSayWhy) {
  core::Evidence evidence = Of({{"op_elementwise", 1},
                                {"op_matmul", 0},
                                {"load_reuse", 1},
                                {"launches", 1},
                                {"strided_access", 1},
                                {"load_efficiency_pct", 12},
                                {"access_bytes", 4},
                                {"one_thread_per_row", 0},
                                {"compute_capability", 80},
                                {"roofline_pct", 20},
                                {"overhead_pct", 40},
                                {"vector_width", 1},
                                {"dram_throughput_pct", 70},
                                {"memory_excess", 3}});
  const skills::MatchResult result = skills::Match(BuiltIn(), evidence, {});
  const struct {
    const char* method;
    skills::VetoedMethod::Kind kind;
    const char* text;
  } rows[] = {
      {"vectorize_elementwise", skills::VetoedMethod::Kind::kPolicy, "strided"},
      {"kernel_fusion", skills::VetoedMethod::Kind::kPrecondition, "launches = 1"},
      {"programmatic_dependent_launch", skills::VetoedMethod::Kind::kArchitecture, "this device has 80"},
      {"l2_persistence", skills::VetoedMethod::Kind::kAllowance, "cache_policy"},
      {"row_parallel", skills::VetoedMethod::Kind::kPrecondition, "one_thread_per_row = no"},
  };
  for (const auto& row : rows) {
    const skills::VetoedMethod* veto = FindVeto(result, row.method);
    ASSERT_NE(veto, nullptr) << row.method;
    EXPECT_EQ(skills::Name(veto->kind), skills::Name(row.kind)) << row.method << ": " << veto->reason;
    EXPECT_NE(veto->reason.find(row.text), std::string::npos) << veto->reason;
    EXPECT_EQ(Find(result, row.method), nullptr);
  }
}

TEST(Match, ContextExcludes) {
  skills::MatchContext context;
  context.excluded["row_parallel"] = "tried on this base: slower by 3 %";
  context.applied = {"online_softmax"};
  core::Evidence evidence = NaiveRows();
  evidence.Set("op_row_reduction", 0);
  evidence.Set("op_row_normalization", 1);
  evidence.Set("loops", 3);
  const skills::MatchResult result = skills::Match(BuiltIn(), evidence, context);
  ASSERT_NE(FindVeto(result, "row_parallel"), nullptr);
  EXPECT_EQ(FindVeto(result, "row_parallel")->reason, "tried on this base: slower by 3 %");
  ASSERT_NE(FindVeto(result, "row_in_registers"), nullptr);
  EXPECT_EQ(FindVeto(result, "row_in_registers")->kind, skills::VetoedMethod::Kind::kConflict);
}

// A product in halves whose warps load their fragments from memory by themselves.
TEST(Match, WhatDoesNotRunHereIsNotOffered) {
  const core::Evidence evidence = Of({{"op_matmul", 1},
                                      {"dtype_half", 1},
                                      {"dtype_f64", 0},
                                      {"tensor_cores", 1},
                                      {"tensor_pct", 12},
                                      {"uses_shared", 1},
                                      {"loops", 1},
                                      {"load_efficiency_pct", 100},
                                      {"l2_throughput_pct", 80},
                                      {"roofline_pct", 5},
                                      {"headroom", 20},
                                      {"compute_capability", 90}});
  const skills::MatchResult everywhere = skills::Match(BuiltIn(), evidence, {});
  EXPECT_NE(Find(everywhere, "wgmma_pipeline"), nullptr);
  EXPECT_NE(Find(everywhere, "tensor_core_mma"), nullptr) << "it has them and hardly uses them";
  const skills::MatchResult here =
      skills::Match(BuiltIn(), evidence, {.lacking = {"wgmma", "clusters", "bulk_copies"}});
  for (const char* method : {"wgmma_pipeline", "thread_block_clusters", "tma_bulk_copy"}) {
    EXPECT_EQ(Find(here, method), nullptr) << method;
    ASSERT_NE(FindVeto(here, method), nullptr) << method;
    EXPECT_EQ(FindVeto(here, method)->kind, skills::VetoedMethod::Kind::kArchitecture);
  }
  core::Evidence busy = evidence;
  busy.Set("tensor_pct", 60);
  EXPECT_EQ(Find(skills::Match(BuiltIn(), busy, {}), "tensor_core_mma"), nullptr);
}

// Half of the evaluations of a row program on an H100 were spent on another block size for what a schedule had written.
TEST(Match, WhatAScheduleWroteIsNotEditedAgain) {
  const auto offered = [](const std::set<std::string>& applied) {
    const skills::MatchResult result = skills::Match(BuiltIn(), NaiveRows(), {.applied = applied});
    size_t edits = 0;
    for (const skills::RankedMethod& m : result.methods)
      edits += !m.card->transform.empty() && !m.card->transform.starts_with("schedule_") ? 1 : 0;
    if (applied.contains("schedule_rows")) {
      const skills::VetoedMethod* veto = FindVeto(result, "launch_retune");
      EXPECT_TRUE(veto != nullptr && veto->kind == skills::VetoedMethod::Kind::kConflict);
    }
    return edits;
  };
  EXPECT_GT(offered({}), 0u);
  EXPECT_GT(offered({"row_parallel"}), 0u);
  EXPECT_EQ(offered({"schedule_rows"}), 0u);
  EXPECT_EQ(offered({"schedule_rows", "row_parallel"}), 0u);
}

TEST(Match, BuiltInOnlyKeepsTransformations) {
  skills::MatchContext context;
  context.built_in_only = true;
  const skills::MatchResult result = skills::Match(BuiltIn(), NaiveRows(), context);
  ASSERT_FALSE(result.methods.empty());
  for (const skills::RankedMethod& m : result.methods) EXPECT_FALSE(m.card->transform.empty()) << m.card->id;
}

TEST(Match, UnknownLowersTheScoreAndNeverVetoes) {
  const core::Evidence known = Of({{"op_transpose", 1}, {"uses_shared", 0}, {"roofline_pct", 20}});
  const core::Evidence unknown = Of({{"uses_shared", 0}, {"roofline_pct", 20}, {"store_efficiency_pct", 12.5}});
  const skills::MatchResult sure = skills::Match(BuiltIn(), known, {}), unsure = skills::Match(BuiltIn(), unknown, {});
  ASSERT_NE(Find(sure, "transpose_tile"), nullptr);
  const skills::RankedMethod* method = Find(unsure, "transpose_tile");
  ASSERT_NE(method, nullptr);
  ASSERT_EQ(method->unknown.size(), 1u);
  EXPECT_NE(method->unknown[0].find("op_transpose = unknown"), std::string::npos) << method->unknown[0];
  core::Evidence decided = unknown;
  decided.Set("op_transpose", 1);
  EXPECT_LT(method->score, Find(skills::Match(BuiltIn(), decided, {}), "transpose_tile")->score);
}

TEST(Match, OrderHoldsFollowersBack) {
  core::Evidence evidence = NaiveRows();
  evidence.Set("latency_pct", 95);
  evidence.Set("access_bytes", 4);
  const skills::MatchResult result = skills::Match(BuiltIn(), evidence, {});
  ASSERT_NE(Find(result, "unroll_accumulators"), nullptr);
  EXPECT_LT(Rank(result, "row_parallel"), Rank(result, "unroll_accumulators"));
  EXPECT_LT(Rank(result, "restrict_readonly"), Rank(result, "unroll_accumulators"))
      << "`before` of another card counts as `after`";
  const double restrict_gain = Find(result, "restrict_readonly")->expected_log_gain;
  EXPECT_LT(restrict_gain, Find(result, "launch_retune")->expected_log_gain);
  EXPECT_LT(Rank(result, "restrict_readonly"), Rank(result, "launch_retune")) << "it opens the way for a larger step";
}

TEST(Match, GainIsLimitedByTheHeadroom) {
  core::Evidence far = NaiveRows(), near = NaiveRows();
  near.Set("headroom", 1.3);
  const double gain_far = Find(skills::Match(BuiltIn(), far, {}), "row_parallel")->expected_log_gain;
  const double gain_near = Find(skills::Match(BuiltIn(), near, {}), "row_parallel")->expected_log_gain;
  EXPECT_GT(gain_far, 1.0);
  EXPECT_LE(gain_near, std::log(1.3) + 1e-12);
}

TEST(Match, IsDeterministic) {
  const skills::MatchResult a = skills::Match(BuiltIn(), NaiveRows(), {}),
                            b = skills::Match(BuiltIn(), NaiveRows(), {});
  ASSERT_EQ(a.methods.size(), b.methods.size());
  for (size_t i = 0; i < a.methods.size(); ++i) {
    EXPECT_EQ(a.methods[i].card, b.methods[i].card);
    EXPECT_EQ(a.methods[i].score, b.methods[i].score);
    EXPECT_EQ(a.methods[i].reasons, b.methods[i].reasons);
  }
}

TEST(Condition, ThreeValuedLogic) {
  config::Diagnostics diagnostics;
  const auto read = [&](std::string_view text) {
    return skills::ReadCondition(*config::ParseYaml(text, "t.yml"), diagnostics);
  };
  const std::set<core::Allow> allow = {core::Allow::kTf32};
  const core::Evidence evidence = Of({{"waves", 2}, {"uses_shared", 1}});
  const skills::Facts facts(evidence, allow);
  const struct {
    const char* text;
    skills::TriState truth;
  } rows[] = {
      {"{field: waves, below: 2}", skills::TriState::kFalse},
      {"{field: waves, at_most: 2}", skills::TriState::kTrue},
      {"{field: waves, above: 2}", skills::TriState::kFalse},
      {"{field: waves, at_least: 2}", skills::TriState::kTrue},
      {"{field: waves, equals: 2}", skills::TriState::kTrue},
      {"{field: waves, between: [2, 3]}", skills::TriState::kTrue},
      {"{field: uses_shared, is: true}", skills::TriState::kTrue},
      {"{field: uses_shared, is: false}", skills::TriState::kFalse},
      {"{field: loops, above: 0}", skills::TriState::kUnknown},
      {"{not: {field: loops, above: 0}}", skills::TriState::kUnknown},
      {"{allow: tf32}", skills::TriState::kTrue},
      {"{allow: clock}", skills::TriState::kFalse},
      {"{all: [{field: loops, above: 0}, {field: waves, above: 5}]}", skills::TriState::kFalse},
      {"{all: [{field: loops, above: 0}, {field: waves, above: 1}]}", skills::TriState::kUnknown},
      {"{any: [{field: loops, above: 0}, {field: waves, above: 1}]}", skills::TriState::kTrue},
      {"{any: [{field: loops, above: 0}, {field: waves, above: 5}]}", skills::TriState::kUnknown},
      {"{not: {field: waves, above: 1}}", skills::TriState::kFalse},
      {"{operation: [matmul, scan]}", skills::TriState::kUnknown},
  };
  for (const auto& row : rows) EXPECT_EQ(skills::Evaluate(read(row.text), facts), row.truth) << row.text;
  EXPECT_TRUE(diagnostics.empty());
}

TEST(Condition, CitesWhatDecides) {
  config::Diagnostics diagnostics;
  const skills::Condition any = skills::ReadCondition(
      *config::ParseYaml("{any: [{field: waves, below: 1}, {field: uses_shared, is: true}]}", "t.yml"), diagnostics);
  const std::set<core::Allow> none;
  EXPECT_EQ(skills::Cite(any, skills::Facts(Of({{"waves", 0.25}, {"uses_shared", 0}}), none)),
            "waves = 0.25 (below 1)");
  EXPECT_EQ(skills::Cite(any, skills::Facts(Of({{"waves", 3}, {"uses_shared", 1}}), none)), "uses_shared = yes");
  EXPECT_EQ(skills::Describe(any), "waves below 1 or uses_shared is true");
}

TEST(Predictions, AreComparedWithMeasurements) {
  skills::MethodCard card;
  card.expected = {{"dram_throughput_pct", true, 2},
                   {"global_load_sectors", false, 0.25},
                   {"barriers", false, 0.5},
                   {"waves", true, 2}};
  const auto results = skills::ComparePredictions(
      card, {{"dram_throughput_pct", 20}, {"global_load_sectors", 1000}, {"waves", 4}, {"barriers", 2}},
      {{"dram_throughput_pct", 45}, {"global_load_sectors", 1100}, {"waves", 4.01}});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_TRUE(results[0].held);
  EXPECT_FALSE(results[1].held);
  EXPECT_FALSE(results[2].held) << "a quarter of a per cent is noise";
}

skills::MethodCard CardWithCauses() {
  skills::MethodCard card;
  card.expected = {{"latency_pct", false, 0.5}, {"load_efficiency_pct", true, 4}, {"registers_per_thread", true, 1.2}};
  card.cause = {"Waits took {latency_pct.before} and take {latency_pct.after}.",
                "Of the bytes {load_efficiency_pct.before}, now {load_efficiency_pct.after}, are used."};
  return card;
}

TEST(Cause, IsSaidOfFiguresThatHold) {
  const skills::MethodCard card = CardWithCauses();
  const auto causes = [&](const std::map<std::string, double>& before, const std::map<std::string, double>& after) {
    std::vector<std::string> said;
    for (const auto& cause : skills::SupportedCauses(card, skills::ComparePredictions(card, before, after)))
      said.push_back(cause.sentence);
    return said;
  };
  using Said = std::vector<std::string>;
  EXPECT_EQ(
      causes({{"latency_pct", 40}, {"load_efficiency_pct", 12.5}}, {{"latency_pct", 10}, {"load_efficiency_pct", 100}}),
      (Said{"Waits took 40 % and take 10 %.", "Of the bytes 12.5 %, now 100 %, are used."}));
  EXPECT_EQ(causes({{"latency_pct", 40}, {"load_efficiency_pct", 50}, {"registers_per_thread", 20}},
                   {{"latency_pct", 10}, {"load_efficiency_pct", 50}, {"registers_per_thread", 40}}),
            (Said{"Waits took 40 % and take 10 %."}))
      << "each sentence for itself";
  EXPECT_EQ(causes({{"latency_pct", 40}, {"load_efficiency_pct", 50}, {"registers_per_thread", 20}},
                   {{"latency_pct", 10}, {"load_efficiency_pct", 50}, {"registers_per_thread", 20}}),
            Said{})
      << "most expected changes did not come true: the method is not the cause";
  EXPECT_EQ(causes({}, {}), Said{}) << "nothing was counted";
}

// A sentence gives the kernel's own sizes, and is one without them.
TEST(Cause, DescribesTheKernelAsFarAsItIsKnown) {
  skills::MethodCard card = CardWithCauses();
  card.cause = {
      "A row[ of {reduction_terms.is} values] waited {latency_pct.before}, and {latency_pct.after} now[ in blocks of "
      "{threads_per_block.is}]."};
  ASSERT_EQ(skills::CheckCause(card.cause[0], card.expected), "");
  const auto said = [&](const std::map<std::string, double>& facts) {
    return skills::SupportedCauses(card, skills::ComparePredictions(card, {{"latency_pct", 40}}, {{"latency_pct", 10}}),
                                   facts)
        .at(0)
        .sentence;
  };
  EXPECT_EQ(said({{"reduction_terms", 100352}, {"threads_per_block", 1024}}),
            "A row of 100,352 values waited 40 %, and 10 % now in blocks of 1,024.");
  EXPECT_EQ(said({{"threads_per_block", 64}}), "A row waited 40 %, and 10 % now in blocks of 64.");
  EXPECT_EQ(said({{"reduction_terms", 0}}), "A row waited 40 %, and 10 % now.");
}

TEST(Cause, EveryBuiltInTransformationHasOne) {
  for (const auto& [id, card] : BuiltIn().methods) {
    if (!card.transform.empty()) {
      EXPECT_FALSE(card.cause.empty()) << id;
    }
  }
}

}  // namespace
}  // namespace warpwright
