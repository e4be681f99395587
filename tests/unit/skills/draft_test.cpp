// A described method as a draft of a card, and what a person's acceptance makes of it.
#include "skills/draft.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

skills::MethodDraft Draft() {
  return {.id = "sliding_plane_sums",
          .why = "27 loads for each point: \"neighbours\" share 18\n# not a comment: {a: b}",
          .instructions = "keep three planes \\ in registers",
          .added = "    float plane[3];\n\tplane[0] += 1;\n---\nid: other\n",
          .operation = "stencil",
          .expected = {{"global_load_requests", false, 0.31}, {"registers_per_thread", true, 1.5}},
          .gain = 2.25,
          .origin = "described by desk, carried out for box27 on sim:h200: 2.25x"};
}

class DraftTest : public ::testing::Test {
 protected:
  Result<skills::SkillLibrary> Accept(const skills::MethodDraft& draft) {
    const fs::path card = folder_.path() / (draft.id + ".yml");
    EXPECT_TRUE(base::WriteFileAtomically(card, skills::DraftCard(draft)));
    return skills::AcceptDraft(card, skills_);
  }
  base::TemporaryDirectory folder_ = std::move(*base::TemporaryDirectory::Create("draft"));
  const fs::path skills_ = folder_.path() / "skills";
};

TEST_F(DraftTest, IsACardThatEvidenceLeadsTo) {
  const auto built_in = skills::LoadBuiltInSkills();
  const auto library = Accept(Draft());
  ASSERT_TRUE(library) << library.error().Format();
  EXPECT_EQ(library->methods.size(), built_in->methods.size() + 1);
  const skills::MethodCard* card = library->Find("sliding_plane_sums");
  ASSERT_NE(card, nullptr);
  EXPECT_EQ(card->title, "Sliding plane sums");
  EXPECT_EQ(card->intent, "27 loads for each point: \"neighbours\" share 18 # not a comment: {a: b}");
  EXPECT_EQ(card->mechanism, "keep three planes \\ in registers");
  EXPECT_EQ(card->sketch, "    float plane[3];\n plane[0] += 1;\n---\nid: other\n") << "data, whatever it holds";
  EXPECT_DOUBLE_EQ(card->gain_typical, 1.5);
  EXPECT_TRUE(card->transform.empty());
  ASSERT_EQ(card->expected.size(), 2u);
  EXPECT_DOUBLE_EQ(card->expected[0].factor, 0.31);
  EXPECT_EQ(card->sources.front().title, "described by desk, carried out for box27 on sim:h200: 2.25x");
  EXPECT_TRUE(library->Find("tensor_core_mma")->example.size() > 1000) << "worked examples come along";
}

TEST_F(DraftTest, OfWhatIsKnownLittleIsACardToo) {
  skills::MethodDraft draft = Draft();
  draft.operation = "";
  draft.added = "";
  draft.expected.clear();
  draft.gain = 1.02;
  const auto library = Accept(draft);
  ASSERT_TRUE(library) << library.error().Format();
  EXPECT_EQ(library->Find(draft.id)->expected.front().name, "kernel_time_us");
}

TEST_F(DraftTest, WhatIsNotSoundLeavesTheFolderAsItWas) {
  ASSERT_TRUE(Accept(Draft()));
  const std::string policy = *base::ReadFile(skills_ / "policy.yml");
  EXPECT_EQ(Accept(Draft()).error().code, ErrorCode::kUsage) << "it is there already";
  skills::MethodDraft wrong = Draft();
  wrong.id = "other_method";
  wrong.expected = {{"luck", true, 2}};
  const auto refused = Accept(wrong);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().Format().find("luck"), std::string::npos) << refused.error().Format();
  EXPECT_FALSE(fs::exists(skills_ / "methods/other_method.yml"));
  EXPECT_EQ(*base::ReadFile(skills_ / "policy.yml"), policy);
  EXPECT_TRUE(skills::LoadSkills(skills_));
}

}  // namespace
}  // namespace warpwright
