// What `warpwright lift` says of all kernels of the example repository: tests/golden/lifted-examples.{txt,md}.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/subprocess.h"
#include "tests/support/compiled_cache.h"
#include "tests/support/golden.h"
#include "tests/support/temp_repository.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class LiftExamples : public testing::Test {
 protected:
  void SetUp() override {
    fs::copy(fs::path(WW_SOURCE_DIR) / "config/examples/kernels", repository_.path(),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    repository_.Commit("kernels");
  }
  base::Completed Lift(std::vector<std::string> arguments) {
    base::Command command;
    command.argv = {std::string(WW_BINARY_DIR) + "/daemon/cli/warpwright", "lift"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    for (const auto& argument : {"--repo", repository_.path().c_str(), "--cache", CompiledCache().c_str(), "--quiet"})
      command.argv.push_back(argument);
    command.env = base::MinimalEnvironment();
    command.deadline = std::chrono::minutes(10);
    auto done = base::Run(command);
    EXPECT_TRUE(done);
    return done ? *done : base::Completed{};
  }
  TempRepository repository_;
};

// As text, and as what a page renders; one run for both.
TEST_F(LiftExamples, FormulasOfAllAreGolden) {
  const base::Completed done = Lift({"--json"});
  EXPECT_TRUE(done.exit_code == 0 || done.exit_code == 1) << done.err;
  std::string text, page;
  for (const json& kernel : json::parse(done.out, nullptr, false).at("kernels")) {
    const auto name = kernel.at("kernel").get<std::string>();
    if (kernel.at("outcome") != "lifted") {
      text += name + ": not lifted: " + kernel.at("message").get<std::string>() + "\n\n";
      continue;
    }
    text +=
        fmt::format("{}: the same at {} shapes{}\n{}\n", name, kernel.at("shapes").get<int>(),
                    kernel.at("verified") ? ", verified at a further one" : "", kernel.at("text").get<std::string>());
    page += fmt::format("### {}\n```math\n{}\n```\n\n", name, kernel.at("latex").get<std::string>());
  }
  ExpectGolden("lifted-examples.txt", text);
  ExpectGolden("lifted-examples.md", page);
}

TEST_F(LiftExamples, EveryFormatIsOfTheSameKernel) {
  const base::Completed as_json = Lift({"--kernel", "gelu", "--json"});
  EXPECT_EQ(as_json.exit_code, 0) << as_json.err;
  const json kernels = json::parse(as_json.out, nullptr, false).at("kernels");
  ASSERT_EQ(kernels.size(), 1u);
  const json& kernel = kernels.at(0);
  EXPECT_EQ(kernel.at("outcome"), "lifted");
  EXPECT_EQ(kernel.at("verified"), true);
  EXPECT_EQ(kernel.at("digest").get<std::string>().size(), 64u);
  EXPECT_FALSE(kernel.at("computation").at("stages").empty());
  const auto& out = [&](const char* format) { return Lift({"--kernel", "gelu", "--format", format}).out; };
  EXPECT_EQ(json::parse(out("json"), nullptr, false).at("kernels").at(0).at("text"), kernel.at("text"));
  EXPECT_NE(out("latex").find(kernel.at("latex").get<std::string>()), std::string::npos);
  EXPECT_TRUE(out("markdown").starts_with("### gelu\n\n```"));
}

// A launcher that writes nothing: there is nothing to say, and that is no failure of the program.
TEST_F(LiftExamples, WhatIsNotLiftedIsSaidAndTheOthersAreShown) {
  std::string text = *base::ReadFile(repository_.path() / "src/gelu.cu");
  const size_t body = text.find("<<<");
  ASSERT_NE(body, std::string::npos);
  const size_t line = text.rfind('\n', body) + 1;
  repository_.Write("src/gelu.cu", text.erase(line, text.find(';', body) + 1 - line));
  const base::Completed done = Lift({"--kernel", "gelu", "--kernel", "transpose"});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_NE(done.out.find("gelu (gelu_forward): not lifted: "), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("\ntranspose ("), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("out[i0,i1] = "), std::string::npos) << done.out;
}

}  // namespace
}  // namespace warpwright
