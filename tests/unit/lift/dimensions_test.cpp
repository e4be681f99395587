// Products as their factors, and channels in groups.
#include "lift/dimensions.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace warpwright::lift {
namespace {

struct DimensionsRow {
  const char* shape;
  std::vector<std::string> as_written, numbers_last;
};
class Factors : public testing::TestWithParam<DimensionsRow> {};

TEST_P(Factors, OfAFlatBuffer) {
  core::BufferArgument buffer;
  buffer.shape = {core::Expression::Parse(GetParam().shape).value()};
  for (const FactorOrder order : {FactorOrder::kAsWritten, FactorOrder::kNumbersLast}) {
    std::vector<std::string> texts;
    for (const core::Expression& factor : DimensionsOf(buffer, order)) {
      texts.push_back(factor.text());
      std::erase(texts.back(), ' ');
    }
    EXPECT_EQ(texts, order == FactorOrder::kAsWritten ? GetParam().as_written : GetParam().numbers_last);
  }
}
INSTANTIATE_TEST_SUITE_P(All, Factors,
                         testing::Values(DimensionsRow{"n", {"n"}, {"n"}},
                                         DimensionsRow{"h * w", {"h", "w"}, {"h", "w"}},
                                         DimensionsRow{"2 * n", {"2", "n"}, {"n", "2"}},
                                         DimensionsRow{"3 * h * w", {"3", "h", "w"}, {"h", "w", "3"}},
                                         DimensionsRow{"n + 2", {"n+2"}, {"n+2"}}));

core::BufferArgument Buffer(const std::vector<std::string>& shape) {
  core::BufferArgument buffer;
  for (const std::string& dimension : shape) buffer.shape.push_back(core::Expression::Parse(dimension).value());
  return buffer;
}
std::vector<std::string> TextsOf(const Dimensions& dimensions) {
  std::vector<std::string> texts;
  for (const core::Expression& dimension : dimensions) texts.push_back(dimension.text());
  for (std::string& text : texts) std::erase(text, ' ');
  return texts;
}
using Texts = std::vector<std::string>;

TEST(DimensionsOfBuffers, OfAMatrixAreTheFactorsThatHaveNames) {
  EXPECT_EQ(TextsOf(DimensionsOf(Buffer({"n", "groups * c", "w"}))), (Texts{"n", "groups", "c", "w"}));
  EXPECT_EQ(TextsOf(DimensionsOf(Buffer({"3 * hidden", "k"}))), (Texts{"3*hidden", "k"}));
}

std::optional<DimensionsInGroups> OfConvolution(const std::vector<std::array<int64_t, 3>>& shapes) {  // C, K, groups
  core::KernelSpec spec;
  spec.args = {{"x", Buffer({"N", "C", "H"})},
               {"w", Buffer({"K", "C / groups", "R"})},
               {"b", Buffer({"K"})},
               {"y", Buffer({"N", "K", "H - R + 1"})}};
  std::vector<core::Sizes> sizes;
  for (const auto& [c, k, groups] : shapes) sizes.push_back({{"C", c}, {"K", k}, {"groups", groups}, {"N", 4}});
  return InGroups(spec, sizes);
}

TEST(DimensionsOfBuffers, OfChannelsInGroups) {
  const auto found = OfConvolution({{8, 4, 2}, {9, 6, 3}, {9, 7, 3}, {5, 5, 5}});
  ASSERT_TRUE(found);
  EXPECT_EQ(TextsOf(found->buffers[0]), (Texts{"N", "groups", "C/groups", "H"}));
  EXPECT_EQ(TextsOf(found->buffers[1]), (Texts{"groups", "K/groups", "C/groups", "R"}));
  EXPECT_EQ(TextsOf(found->buffers[2]), (Texts{"groups", "K/groups"}));
  EXPECT_EQ(TextsOf(found->buffers[3]), (Texts{"N", "groups", "K/groups", "H-R+1"}));
}

TEST(DimensionsOfBuffers, OneGroupIsNone) {
  EXPECT_FALSE(OfConvolution({{8, 4, 1}, {9, 6, 1}, {7, 6, 1}}));
  EXPECT_FALSE(OfConvolution({{8, 4, 2}, {9, 6, 2}, {7, 6, 3}})) << "too few of whole groups";
  const auto found = OfConvolution({{8, 5, 2}, {6, 5, 2}, {9, 7, 3}});
  ASSERT_TRUE(found) << "whole groups of inputs";
  EXPECT_EQ(TextsOf(found->buffers[1]), (Texts{"K", "C/groups", "R"}));
}

// A norm over groups of channels, of which no buffer has its own.
core::KernelSpec Norm() {
  core::KernelSpec spec;
  spec.args = {{"x", Buffer({"N", "C", "H"})}, {"gamma", Buffer({"C"})}, {"y", Buffer({"N", "C", "H"})}};
  for (const char* name : {"N", "C", "H", "G"}) spec.args.push_back({name, core::ScalarArgument{}});
  return spec;
}
const std::vector<core::Sizes> kNormSizes = {{{"N", 2}, {"C", 6}, {"H", 5}, {"G", 3}},
                                             {{"N", 3}, {"C", 8}, {"H", 7}, {"G", 2}},
                                             {{"N", 4}, {"C", 8}, {"H", 9}, {"G", 4}}};

TEST(DimensionsOfBuffers, OfGroupsThatCasesShow) {
  const auto found = InGroups(Norm(), kNormSizes, {{"C", "G"}});
  ASSERT_TRUE(found);
  EXPECT_EQ(TextsOf(found->buffers[0]), (Texts{"N", "G", "C/G", "H"}));
  EXPECT_EQ(TextsOf(found->buffers[1]), (Texts{"G", "C/G"}));
  EXPECT_FALSE(InGroups(Norm(), kNormSizes, {{"C", "N"}})) << "a batch divides by chance";
  EXPECT_FALSE(InGroups(Norm(), kNormSizes, {}));
}

TEST(DimensionsOfBuffers, GroupsAreThoseOfWhichNoInputIsAsLong) {
  EXPECT_TRUE(HasGroups(Norm(), kNormSizes, {{"C", "G"}}));
  EXPECT_FALSE(HasGroups(Norm(), kNormSizes, {{"C", "N"}}));
  core::KernelSpec spec = Norm();
  spec.args.push_back({"w", Buffer({"K", "G"})});
  EXPECT_FALSE(HasGroups(spec, kNormSizes, {{"C", "G"}})) << "channels of inputs that are fewer by chance";
}

}  // namespace
}  // namespace warpwright::lift
