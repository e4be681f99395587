// All evidence leads to a result: over random vectors, complete and with gaps, and over the recorded ones.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "skills/match.h"
#include "skills/reachability.h"
#include "tests/unit/skills/builtin_library.h"

namespace warpwright {
namespace {

constexpr int kVectors = 40'000;

// Every field uniform over its range, or absent with the probability of this vector; one operation class.
core::Evidence RandomEvidence(uint64_t index) {
  const base::CounterRandom random(7, index);
  const double absent = index % 4 == 0 ? 0 : random.Uniform(1000);
  core::Evidence evidence;
  uint64_t i = 0;
  for (const core::EvidenceField& field : core::EvidenceFields()) {
    const double hole = random.Uniform(i++), u = random.Uniform(i++);
    if (hole < absent) continue;
    double value = field.low + u * (field.high - field.low);
    if (field.unit == "bool" || field.unit == "count") value = std::round(value);
    // In every second vector, ranges of many decades are drawn logarithmically: real values are small.
    if (field.high > 1000 && index % 2 == 1) value = std::exp(u * std::log1p(field.high - field.low)) - 1 + field.low;
    if (field.name.starts_with("op_") && index % 3 != 0) value = 0;
    evidence.Set(field.name, std::clamp(value, field.low, field.high));
  }
  if (index % 3 != 0) {
    evidence.operation = core::kAllOperationClasses[random.Below(2000, std::size(core::kAllOperationClasses))];
    evidence.Set("op_" + std::string(core::Name(evidence.operation)), 1);
  }
  return evidence;
}

void ExpectAnswer(const skills::MatchResult& result, const std::string& what) {
  if (result.at_roofline) {
    EXPECT_GE(result.at_roofline->share_pct, BuiltIn().policy.roofline_at_least) << what;
    EXPECT_TRUE(result.methods.empty()) << what;
    EXPECT_NE(result.at_roofline->message.find('%'), std::string::npos) << what;
    return;
  }
  ASSERT_FALSE(result.methods.empty()) << what;
  for (const skills::RankedMethod& method : result.methods) {
    ASSERT_TRUE(method.score > 0 && method.score <= 1) << what << " " << method.card->id << " " << method.score;
    ASSERT_TRUE(std::isfinite(method.expected_log_gain) && method.expected_log_gain > 0)
        << what << " " << method.card->id;
    ASSERT_FALSE(method.reasons.empty() && method.unknown.empty()) << what << " " << method.card->id;
  }
}

TEST(Coverage, EveryRandomVectorHasAMethodOrIsAtTheRoofline) {
  int at_roofline = 0;
  std::map<std::string, int> first;
  for (int i = 0; i < kVectors; ++i) {
    skills::MatchContext context;
    context.built_in_only = i % 2 == 0;
    if (i % 5 == 0) context.allow = {core::Allow::kTf32, core::Allow::kReducedPrecision, core::Allow::kCachePolicy};
    const skills::MatchResult result = skills::Match(BuiltIn(), RandomEvidence(static_cast<uint64_t>(i)), context);
    ExpectAnswer(result, "vector " + std::to_string(i));
    if (HasFatalFailure()) return;
    at_roofline += result.at_roofline.has_value();
    if (!result.methods.empty()) ++first[result.methods[0].card->id];
  }
  // The roofline verdict must not be the way out: roofline_pct is uniform over 0..100 if it is known, so at most 8 %
  // are at 92 or more.
  EXPECT_LT(at_roofline, kVectors / 10);
  EXPECT_GT(at_roofline, 0);
  EXPECT_GE(first.size(), 15u) << "the order hardly depends on the evidence";
}

TEST(Coverage, NothingKnownStillHasMethods) {
  const skills::MatchResult result = skills::Match(BuiltIn(), core::Evidence{}, {});
  ExpectAnswer(result, "empty");
  EXPECT_FALSE(result.at_roofline);
  EXPECT_EQ(result.primary(), nullptr);
  EXPECT_EQ(result.position, "distance to the roofline unknown");
}

TEST(Coverage, EveryMethodHasAWitness) {
  for (const auto& [id, card] : BuiltIn().methods) {
    const auto witness = skills::FindWitness(BuiltIn(), card);
    ASSERT_TRUE(witness) << id;
    const skills::MatchResult result = skills::Match(BuiltIn(), witness->evidence, witness->context);
    EXPECT_TRUE(std::any_of(result.methods.begin(), result.methods.end(), [&](const auto& m) {
      return m.card->id == id;
    })) << id;
  }
}

// tests/unit/skills/evidence/*.json: evidence of kernels, with the method that an engineer would try first.
struct Recorded {
  std::string name, provenance;
  core::Evidence evidence;
  std::vector<std::string> first;  // one of them comes first
  std::vector<std::string> never;  // none of them is proposed
  bool at_roofline = false;
};

std::vector<Recorded> LoadRecorded() {
  std::vector<Recorded> all;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(WW_SOURCE_DIR) + "/tests/unit/skills/evidence")) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream in(entry.path());
    const auto json = nlohmann::json::parse(in);
    Recorded r;
    r.name = entry.path().stem().string();
    r.provenance = json.at("provenance");
    r.evidence.Set("formula_known", 0);  // unless the vector says so: recorded without lifting
    for (const auto& [field, value] : json.at("values").items()) r.evidence.Set(field, value.get<double>());
    r.first = json.value("first", r.first);
    r.never = json.value("never", r.never);
    r.at_roofline = json.value("at_roofline", false);
    all.push_back(std::move(r));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

TEST(Coverage, RecordedVectorsLeadWhereAnEngineerWouldGo) {
  const auto all = LoadRecorded();
  ASSERT_GE(all.size(), 14u);
  for (const Recorded& r : all) {
    skills::MatchContext context;
    context.built_in_only = true;
    const skills::MatchResult result = skills::Match(BuiltIn(), r.evidence, context);
    ExpectAnswer(result, r.name);
    EXPECT_FALSE(r.provenance.empty());
    EXPECT_EQ(result.at_roofline.has_value(), r.at_roofline) << r.name;
    std::string order;
    for (const skills::RankedMethod& m : result.methods)
      order += m.card->id + " " + std::to_string(m.expected_log_gain) + ", ";
    if (!r.first.empty()) {
      ASSERT_FALSE(result.methods.empty()) << r.name;
      EXPECT_TRUE(std::count(r.first.begin(), r.first.end(), result.methods[0].card->id)) << r.name << ": " << order;
    }
    for (const skills::RankedMethod& m : result.methods)
      EXPECT_FALSE(std::count(r.never.begin(), r.never.end(), m.card->id)) << r.name << ": " << order;
  }
}

}  // namespace
}  // namespace warpwright
