#include "config/model_settings.h"

#include <gtest/gtest.h>

#include "config/operator_file.h"

namespace warpwright {
namespace {

std::string Text(const std::string& models, const std::string& rest = "") {
  return "version: 1\ndevices: [sim:h200]\nlimits: {model_dollars_per_day: 5}\nmodels:\n" + models + rest +
         "repositories: [{url: /srv/a.git}]\n";
}

TEST(ModelSettings, AreRead) {
  const auto config = config::ParseOperatorConfig(
      Text("  writer: {transport: anthropic, model: claude-opus-4-8-20260401, key: {file: model-key}}\n"
           "  local: {transport: openai_chat, base_url: \"http://127.0.0.1:8000/v1/\", model: qwen3, price: unmetered, "
           "structured: fenced, max_output_tokens: 900, stall: 5}\n"
           "  program: {transport: command, command: [claude, -p], price: {input: 3, output: 15, cache_read: 0.3}}\n"
           "  desk: {transport: offline, folder: /srv/exchange}\n",
           "agents:\n  planner: {first: [built_in, local]}\n  optimizer: {all: [writer, desk], samples: 3}\n"),
      "c.yml");
  ASSERT_TRUE(config) << config.error().Format();
  ASSERT_EQ(config->models.size(), 4u);
  const auto &writer = config->models[0], &local = config->models[1], &program = config->models[2],
             &desk = config->models[3];
  EXPECT_EQ(writer.price, (config::TokenPrice{5000, 25'000, 500, 6250}));
  EXPECT_EQ(writer.token_limit, config::TokenLimitName::kMaxCompletionTokens);
  EXPECT_EQ(writer.key.file, "model-key");
  EXPECT_EQ(local.base_url, "http://127.0.0.1:8000/v1");
  EXPECT_EQ(local.token_limit, config::TokenLimitName::kMaxTokens) << "as other servers know it";
  EXPECT_EQ(local.structured, config::StructuredOutput::kFenced);
  EXPECT_EQ(local.max_output_tokens, 900);
  EXPECT_EQ(local.stall.count(), 5);
  EXPECT_FALSE(config::IsPaid(local));
  EXPECT_EQ(program.price, (config::TokenPrice{3000, 15'000, 300, 3000})) << "writing to a cache costs what input does";
  EXPECT_EQ(program.command, (std::vector<std::string>{"claude", "-p"}));
  EXPECT_EQ(desk.price, std::nullopt) << "whoever answers may be paid";
  EXPECT_EQ(config->agents.at(core::AgentRole::kPlanner).order, config::AskOrder::kFirst);
  EXPECT_EQ(config->agents.at(core::AgentRole::kOptimizer).engines, (std::vector<std::string>{"writer", "desk"}));
  EXPECT_EQ(config->agents.at(core::AgentRole::kOptimizer).samples, 3);
  EXPECT_EQ(config->agents.at(core::AgentRole::kPlanner).samples, 1);
  EXPECT_FALSE(config->agents.contains(core::AgentRole::kCritic));
}

// What its answers cost is known if they or the file say it; no limit waits for that, since nothing is sent.
TEST(ModelSettings, AnExchangeMayHaveAPrice) {
  for (const auto& [price, expected] : std::initializer_list<std::pair<const char*, std::optional<config::TokenPrice>>>{
           {"", std::nullopt},
           {", price: unmetered", config::TokenPrice{}},
           {", price: {input: 3, output: 15}", config::TokenPrice{3000, 15'000, 3000, 3000}}}) {
    const auto config = config::ParseOperatorConfig(
        Text(std::string("  desk: {transport: offline, folder: /x") + price + "}\n"), "c.yml");
    ASSERT_TRUE(config) << config.error().Format();
    EXPECT_EQ(config->models[0].price, expected) << price;
  }
}

TEST(ModelSettings, AnAddressKeepsItsQuery) {
  const auto config = config::ParseOperatorConfig(
      Text(
          "  azure: {transport: openai_chat, base_url: \"https://a.example/openai/?api-version=2024-10-21\", model: m, "
          "key: {env: K}, key_header: api-key, price: {input: 1, output: 2}}\n"),
      "c.yml");
  ASSERT_TRUE(config) << config.error().Format();
  EXPECT_EQ(config->models[0].base_url, "https://a.example/openai?api-version=2024-10-21");
  EXPECT_EQ(config->models[0].key_header, "api-key");
}

TEST(ModelSettings, AreChosenByPriceToo) {
  const std::string models =
      "  middle: {transport: command, command: [a], price: {input: 3, output: 15}}\n"
      "  large: {transport: command, command: [b], price: {input: 5, output: 25}}\n"
      "  small: {transport: command, command: [c], price: {input: 1, output: 5}}\n"
      "  desk: {transport: offline, folder: /srv/exchange}\n";
  const std::string agents =
      "agents:\n  diagnoser: {first: [built_in, cheapest]}\n  optimizer: {first: [dearest]}\n  critic: {all: "
      "[cheapest, "
      "middle]}\n";
  const auto config = config::ParseOperatorConfig(Text(models, agents), "c.yml");
  ASSERT_TRUE(config) << config.error().Format();
  const auto engines = [&](core::AgentRole role) { return config->agents.at(role).engines; };
  EXPECT_EQ(engines(core::AgentRole::kDiagnoser), (std::vector<std::string>{"built_in", "small"}));
  EXPECT_EQ(engines(core::AgentRole::kOptimizer), (std::vector<std::string>{"large"}));
  EXPECT_EQ(engines(core::AgentRole::kCritic), (std::vector<std::string>{"small", "middle"}));
  const auto nobody = config::ParseOperatorConfig(
      Text("  desk: {transport: offline, folder: /x}\n", "agents:\n  planner: {first: [cheapest]}\n"), "c.yml");
  ASSERT_FALSE(nobody);
  EXPECT_NE(nobody.error().Format().find("'cheapest': no model has a known price"), std::string::npos);
}

TEST(ModelSettings, SamplesAreForThoseWhoseAnswersAreAllUsed) {
  for (const char* agent : {"feature_extractor", "repairer"}) {
    const auto refused =
        config::ParseOperatorConfig(Text("  desk: {transport: offline, folder: /x}\n",
                                         std::string("agents:\n  ") + agent + ": {first: [desk], samples: 2}\n"),
                                    "c.yml");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().Format().find(std::string("'") + agent + "' uses one answer"), std::string::npos);
  }
}

// Each with its place, what is wrong and what to do.
TEST(ModelSettings, ErrorsHaveAPlaceAndARemedy) {
  const struct {
    const char *models, *message;
  } rows[] = {
      {"  a: {transport: antropic}\n", "c.yml:5:18: unknown transport 'antropic'; did you mean 'anthropic'?"},
      {"  a: {transport: anthropic, model: claude-opus-4-8}\n", "c.yml:5:6: 'a' needs a key"},
      {"  a: {transport: anthropic, model: claude-99, key: {env: K}}\n",
       "c.yml:5:6: the price of 'claude-99' is not known"},
      {"  a: {transport: anthropic, model: m, key: sk-secret}\n", "the key must not be in this file"},
      {"  a: {transport: offline, folder: /x, key: {env: K}}\n", "'key' means nothing for the transport offline"},
      {"  a: {transport: offline, folder: /x, key_header: k}\n",
       "'key_header' means nothing for the transport offline"},
      {"  a: {transport: openai_chat, base_url: \"https://a/v1?\", model: m, price: unmetered}\n",
       "the query of 'base_url' is not one"},
      {"  a: {transport: openai_chat, base_url: \"https://a/v1\", model: m, key_header: api-key, price: unmetered}\n",
       "'key_header' without a key"},
      {"  a: {transport: command, comand: [x], price: unmetered}\n", "did you mean 'command'?"},
      {"  built_in: {transport: offline, folder: /x}\n", "this cannot be a model's name here"},
  };
  for (const auto& row : rows) {
    const auto config = config::ParseOperatorConfig(Text(row.models), "c.yml");
    ASSERT_FALSE(config) << row.models;
    const std::string text = config.error().Format();
    EXPECT_NE(text.find(row.message), std::string::npos) << text;
    EXPECT_NE(text.find("remedy:"), std::string::npos) << text;
    EXPECT_EQ(text.find("sk-secret"), std::string::npos) << text;
  }
}

TEST(PriceList, FindsModelsWithAndWithoutTheirVersions) {
  const config::PriceList& prices = config::Prices();
  const auto sonnet = prices.Find("anthropic", "claude-sonnet-4-5");
  ASSERT_TRUE(sonnet);
  EXPECT_EQ(*sonnet, (config::TokenPrice{3000, 15'000, 300, 3750}));
  EXPECT_EQ(prices.Find("anthropic", "claude-sonnet-4-5-20250929"), sonnet);
  EXPECT_TRUE(prices.Find("openai", "gpt-5-mini-2025-08-07"));
  for (const char* unknown : {"claude-sonnet-4", "claude-sonnet-4-5-fast", "claude-sonnet-4-5-2025", "", "gpt-5-mini"})
    EXPECT_FALSE(prices.Find("anthropic", unknown)) << unknown;
  EXPECT_FALSE(prices.Find("nobody", "claude-sonnet-4-5"));
  for (const auto& [name, vendor] : prices.vendors) {
    EXPECT_FALSE(vendor.source.empty()) << name;
    for (const auto& [model, price] : vendor.models) {
      EXPECT_GT(price.input, 0) << model;
      EXPECT_GT(price.output, price.input) << model;
      EXPECT_LT(price.cache_read, price.input) << model;
    }
  }
}

TEST(PriceList, IsChecked) {
  for (const char* bad :
       {"version: 2\nvendors: {}", "version: 1", "version: 1\nvendors: {a: {source: x, models: {}}}",
        "version: 1\nvendors: {a: {date: soon, source: x, models: {}}}",
        "version: 1\nvendors: {a: {date: \"2026-01-01\", source: x, models: {m: {input: -1, output: 1}}}}",
        "version: 1\nvendors: {a: {date: \"2026-01-01\", source: x, models: {m: {input: 1}}}}",
        "version: 1\nvendors: {a: {date: \"2026-01-01\", source: x, models: {m: 3}}}"})
    EXPECT_EQ(config::ParsePrices(bad, "p.yml").error().code, ErrorCode::kConfig) << bad;
}

}  // namespace
}  // namespace warpwright
