#include "tests/support/model_stand_in/scenarios.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

namespace warpwright {
namespace {

using Ordered = nlohmann::ordered_json;

constexpr const char* kId = "stand_in_1";
constexpr int kCreated = 1'800'000'000;

std::string Dump(const Ordered& value) { return value.dump(-1, ' ', false, Ordered::error_handler_t::ignore); }

// Bytes that are not UTF-8 go out as they are, which a JSON library would not do.
std::string WithRawBytes(std::string text) {
  for (size_t at; (at = text.find("RAW")) != std::string::npos;) text.replace(at, 3, "\xff\xc3");
  return text;
}

std::string Event(const std::string& type, const Ordered& data) {
  return WithRawBytes((type.empty() ? "" : "event: " + type + "\n") + "data: " + Dump(data) + "\n\n");
}

std::string TextOf(const Scenario& scenario) {
  if (scenario.huge_bytes > 0) return std::string(static_cast<size_t>(scenario.huge_bytes), 'x');
  return std::accumulate(scenario.pieces.begin(), scenario.pieces.end(), std::string());
}

std::vector<std::string> PiecesOf(const Scenario& scenario) {
  if (scenario.huge_bytes == 0) return scenario.pieces;
  return std::vector<std::string>(static_cast<size_t>(scenario.huge_bytes >> 16), std::string(1 << 16, 'x'));
}

void BreakJson(const Scenario& scenario, std::vector<std::string>& events) {
  if (scenario.broken_json) events.insert(events.begin() + 2, "data: {\"type\": \"half\n\n");
}

// --- Anthropic

std::string AnthropicStop(Stop stop, bool tool) {
  switch (stop) {
    case Stop::kEnd: return tool ? "tool_use" : "end_turn";
    case Stop::kMaxTokens: return "max_tokens";
    case Stop::kRefusal: return "refusal";
  }
  return "?";
}

Ordered AnthropicUsage(int output) {
  return {{"input_tokens", 120},
          {"cache_creation_input_tokens", 40},
          {"cache_read_input_tokens", 1000},
          {"output_tokens", output}};
}

Ordered AnthropicMessage(const std::string& model, Ordered content, Ordered stop, int output) {
  return {{"id", "msg_01StandIn"},         {"type", "message"},
          {"role", "assistant"},           {"model", model},
          {"content", std::move(content)}, {"stop_reason", std::move(stop)},
          {"stop_sequence", nullptr},      {"usage", AnthropicUsage(output)}};
}

std::vector<std::string> AnthropicEvents(const Scenario& scenario, const std::string& model, const std::string& tool) {
  const bool by_tool = !tool.empty();
  std::vector<std::string> events;
  const auto add = [&](const std::string& type, const Ordered& data) {
    Ordered typed{{"type", type}};
    typed.update(data);
    events.push_back(Event(type, typed));
  };
  add("message_start", {{"message", AnthropicMessage(model, Ordered::array(), nullptr, 1)}});
  const Ordered block =
      by_tool ? Ordered{{"type", "tool_use"}, {"id", "toolu_1"}, {"name", tool}, {"input", Ordered::object()}}
              : Ordered{{"type", "text"}, {"text", ""}};
  add("content_block_start", {{"index", 0}, {"content_block", block}});
  events.push_back(Event("ping", {{"type", "ping"}}));
  for (const std::string& piece : PiecesOf(scenario))
    add("content_block_delta", {{"index", 0},
                                {"delta", by_tool ? Ordered{{"type", "input_json_delta"}, {"partial_json", piece}}
                                                  : Ordered{{"type", "text_delta"}, {"text", piece}}}});
  if (scenario.error_in_stream) {
    events.push_back("event: error\ndata: " + EncodeError(Vendor::kAnthropic, scenario) + "\n\n");
    return events;
  }
  add("content_block_stop", {{"index", 0}});
  add("message_delta", {{"delta", {{"stop_reason", AnthropicStop(scenario.stop, by_tool)}, {"stop_sequence", nullptr}}},
                        {"usage", {{"output_tokens", 57}}}});
  add("message_stop", Ordered::object());
  BreakJson(scenario, events);
  return events;
}

std::string AnthropicWhole(const Scenario& scenario, const std::string& model, const std::string& tool) {
  const Ordered content = tool.empty() ? Ordered::array({{{"type", "text"}, {"text", TextOf(scenario)}}})
                                       : Ordered::array({{{"type", "tool_use"},
                                                          {"id", "toolu_1"},
                                                          {"name", tool},
                                                          {"input", Ordered::parse(TextOf(scenario))}}});
  return Dump(AnthropicMessage(model, content, AnthropicStop(scenario.stop, !tool.empty()), 57));
}

// --- OpenAI chat completions

std::string ChatStop(Stop stop) { return stop == Stop::kMaxTokens ? "length" : "stop"; }

Ordered ChatUsage() {
  return {{"prompt_tokens", 1120},
          {"completion_tokens", 57},
          {"total_tokens", 1177},
          {"prompt_tokens_details", {{"cached_tokens", 1000}}}};
}

std::vector<std::string> ChatEvents(const Scenario& scenario, const std::string& model) {
  std::vector<std::string> events;
  const auto add = [&](Ordered choices, Ordered usage) {
    events.push_back(Event("", {{"id", std::string("chatcmpl-") + kId},
                                {"object", "chat.completion.chunk"},
                                {"created", kCreated},
                                {"model", model},
                                {"choices", std::move(choices)},
                                {"usage", std::move(usage)}}));
  };
  const auto choice = [](Ordered delta, Ordered finish) {
    return Ordered::array(
        {{{"index", 0}, {"delta", std::move(delta)}, {"logprobs", nullptr}, {"finish_reason", std::move(finish)}}});
  };
  add(choice({{"role", "assistant"}, {"content", ""}, {"refusal", nullptr}}, nullptr), nullptr);
  for (const std::string& piece : PiecesOf(scenario))
    add(choice({{scenario.stop == Stop::kRefusal ? "refusal" : "content", piece}}, nullptr), nullptr);
  if (scenario.error_in_stream) {
    events.push_back("data: " + EncodeError(Vendor::kOpenAiChat, scenario) + "\n\n");
    return events;
  }
  add(choice(Ordered::object(), ChatStop(scenario.stop)), nullptr);
  add(Ordered::array(), ChatUsage());
  events.push_back("data: [DONE]\n\n");
  BreakJson(scenario, events);
  return events;
}

std::string ChatWhole(const Scenario& scenario, const std::string& model) {
  Ordered message{{"role", "assistant"}, {"content", TextOf(scenario)}, {"refusal", nullptr}};
  if (scenario.stop == Stop::kRefusal) std::swap(message["content"], message["refusal"]);
  return Dump({{"id", std::string("chatcmpl-") + kId},
               {"object", "chat.completion"},
               {"created", kCreated},
               {"model", model},
               {"choices", Ordered::array({{{"index", 0},
                                            {"message", std::move(message)},
                                            {"logprobs", nullptr},
                                            {"finish_reason", ChatStop(scenario.stop)}}})},
               {"usage", ChatUsage()}});
}

// --- OpenAI responses

Ordered ResponseUsage() {
  return {{"input_tokens", 1120},
          {"input_tokens_details", {{"cached_tokens", 1000}}},
          {"output_tokens", 57},
          {"output_tokens_details", {{"reasoning_tokens", 0}}},
          {"total_tokens", 1177}};
}

Ordered ResponseObject(const std::string& model, const std::string& status, Ordered output, Ordered usage) {
  return {{"id", std::string("resp_") + kId},
          {"object", "response"},
          {"created_at", kCreated},
          {"status", status},
          {"error", nullptr},
          {"incomplete_details", status == "incomplete" ? Ordered{{"reason", "max_output_tokens"}} : Ordered(nullptr)},
          {"instructions", nullptr},
          {"metadata", Ordered::object()},
          {"model", model},
          {"output", std::move(output)},
          {"parallel_tool_calls", true},
          {"temperature", 1},
          {"tool_choice", "auto"},
          {"tools", Ordered::array()},
          {"top_p", 1},
          {"usage", std::move(usage)}};
}

Ordered ResponseMessage(const Scenario& scenario, const std::string& status, bool with_text) {
  const bool refusal = scenario.stop == Stop::kRefusal;
  Ordered part = refusal
                     ? Ordered{{"type", "refusal"}, {"refusal", TextOf(scenario)}}
                     : Ordered{{"type", "output_text"}, {"text", TextOf(scenario)}, {"annotations", Ordered::array()}};
  return {{"id", "msg_1"},
          {"type", "message"},
          {"status", status},
          {"role", "assistant"},
          {"content", with_text ? Ordered::array({part}) : Ordered::array()}};
}

std::string ResponseStatus(const Scenario& scenario) {
  return scenario.stop == Stop::kMaxTokens ? "incomplete" : "completed";
}

std::vector<std::string> ResponseEvents(const Scenario& scenario, const std::string& model) {
  std::vector<std::string> events;
  const auto add = [&](const std::string& type, const Ordered& data) {
    Ordered typed{{"type", type}, {"sequence_number", events.size()}};
    typed.update(data);
    events.push_back(Event(type, typed));
  };
  const bool refusal = scenario.stop == Stop::kRefusal;
  const std::string kind = refusal ? "response.refusal" : "response.output_text";
  const Ordered place{{"item_id", "msg_1"}, {"output_index", 0}, {"content_index", 0}};
  const auto placed = [&](const Ordered& data) {
    Ordered all = place;
    all.update(data);
    return all;
  };
  const Ordered empty = refusal ? Ordered{{"type", "refusal"}, {"refusal", ""}}
                                : Ordered{{"type", "output_text"}, {"text", ""}, {"annotations", Ordered::array()}};
  add("response.created", {{"response", ResponseObject(model, "in_progress", Ordered::array(), nullptr)}});
  add("response.in_progress", {{"response", ResponseObject(model, "in_progress", Ordered::array(), nullptr)}});
  add("response.output_item.added", {{"output_index", 0}, {"item", ResponseMessage(scenario, "in_progress", false)}});
  add("response.content_part.added", placed({{"part", empty}}));
  for (const std::string& piece : PiecesOf(scenario)) add(kind + ".delta", placed({{"delta", piece}}));
  if (scenario.error_in_stream) {
    add("error", {{"code", scenario.error_code}, {"message", scenario.error_message}, {"param", nullptr}});
    return events;
  }
  if (scenario.huge_bytes == 0) {
    add(kind + ".done", placed({{refusal ? "refusal" : "text", TextOf(scenario)}}));
    add("response.content_part.done", placed({{"part", ResponseMessage(scenario, "completed", true)["content"][0]}}));
    add("response.output_item.done", {{"output_index", 0}, {"item", ResponseMessage(scenario, "completed", true)}});
  }
  const std::string status = ResponseStatus(scenario);
  add("response." + status,
      {{"response",
        ResponseObject(model, status, Ordered::array({ResponseMessage(scenario, status, true)}), ResponseUsage())}});
  BreakJson(scenario, events);
  return events;
}

std::string ResponseWhole(const Scenario& scenario, const std::string& model) {
  const std::string status = ResponseStatus(scenario);
  return Dump(
      ResponseObject(model, status, Ordered::array({ResponseMessage(scenario, status, true)}), ResponseUsage()));
}

// --- what each model does

void SetSpendLimit(Vendor vendor, Scenario& scenario) {
  if (vendor == Vendor::kAnthropic) {
    scenario.status = 400;
    scenario.error_type = "invalid_request_error";
    scenario.error_message =
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.";
  } else {
    scenario.status = 429;
    scenario.error_type = scenario.error_code = "insufficient_quota";
    scenario.error_message = "You exceeded your current quota, please check your plan and billing details.";
  }
}

void SetStatus(Vendor vendor, int status, Scenario& scenario) {
  scenario.status = status;
  scenario.error_message = fmt::format("This is what {} looks like.", status);
  static const std::map<int, std::pair<const char*, const char*>> names = {
      {400, {"invalid_request_error", "invalid_request_error"}},
      {401, {"authentication_error", "invalid_request_error"}},
      {403, {"permission_error", "invalid_request_error"}},
      {404, {"not_found_error", "invalid_request_error"}},
      {413, {"request_too_large", "invalid_request_error"}},
      {429, {"rate_limit_error", "requests"}},
      {529, {"overloaded_error", "server_error"}}};
  const auto found = names.find(status);
  const bool anthropic = vendor == Vendor::kAnthropic;
  scenario.error_type = found == names.end() ? (anthropic ? "api_error" : "server_error")
                                             : (anthropic ? found->second.first : found->second.second);
}

}  // namespace

Scenario ScenarioOf(Vendor vendor, const std::string& model, bool structured, int number) {
  Scenario s;
  s.pieces = {"A kernel ", "of β", ",\n", "“tiled”."};
  if (structured) s.pieces = {"{\"method\":\"ti", "le\",\"fac", "tor\":4,\"why\":\"β", " fits\"}"};
  std::string name = model;
  if (name.ends_with("-once")) {
    if (number > 0) return s;
    name.resize(name.size() - 5);
  }
  if (name == "fenced") s.pieces = {"Here it is:\n\n```json\n", kStructuredAnswer, "\n```\n"};
  else if (name == "wrong-schema") s.pieces = {"{\"method\":\"tile\",", "\"factor\":0,\"why\":\"x\"}"};
  else if (name == "no-json") s.pieces = {"I would ", "tile it."};
  else if (name == "truncated") s.stop = Stop::kMaxTokens;
  else if (name == "refusal") s.stop = Stop::kRefusal, s.pieces = {"I cannot ", "help with that."};
  else if (name == "slow") s.delivery = Delivery::kSlow;
  else if (name == "stalled") s.delivery = Delivery::kStalled;
  else if (name == "cut") s.delivery = Delivery::kCut;
  else if (name == "silent") s.delivery = Delivery::kSilent;
  else if (name == "broken-json") s.broken_json = true;
  else if (name == "huge") s.huge_bytes = 21 << 20;
  else if (name == "not-utf8") s.pieces = {"a RAW byte"};
  else if (name == "spend-limit") SetSpendLimit(vendor, s);
  else if (name == "rate-limited") SetStatus(vendor, 429, s);
  else if (name == "rate-limited-seconds") SetStatus(vendor, 429, s), s.headers["retry-after"] = "7";
  else if (name == "rate-limited-date")
    SetStatus(vendor, 429, s), s.headers["retry-after"] = "Fri, 15 Jan 2027 08:00:20 GMT";
  else if (name == "overloaded-in-stream") {
    SetStatus(vendor, 529, s);
    s.status = 200;
    s.error_in_stream = true;
    s.error_code = "server_error";
  } else if (name == "too-long") {
    SetStatus(vendor, 400, s);
    s.error_message = "prompt is too long: 300000 tokens > 200000 maximum";
    if (vendor != Vendor::kAnthropic) s.error_code = "context_length_exceeded";
  } else if (name.starts_with("status-")) {
    SetStatus(vendor, std::stoi(name.substr(7)), s);
  }
  return s;
}

std::vector<std::string> EncodeEvents(Vendor vendor, const Scenario& scenario, const std::string& model,
                                      const std::string& tool) {
  switch (vendor) {
    case Vendor::kAnthropic: return AnthropicEvents(scenario, model, tool);
    case Vendor::kOpenAiChat: return ChatEvents(scenario, model);
    case Vendor::kOpenAiResponses: return ResponseEvents(scenario, model);
  }
  return {};
}

std::string EncodeWhole(Vendor vendor, const Scenario& scenario, const std::string& model, const std::string& tool) {
  switch (vendor) {
    case Vendor::kAnthropic: return AnthropicWhole(scenario, model, tool);
    case Vendor::kOpenAiChat: return ChatWhole(scenario, model);
    case Vendor::kOpenAiResponses: return ResponseWhole(scenario, model);
  }
  return {};
}

std::string EncodeError(Vendor vendor, const Scenario& scenario) {
  if (vendor == Vendor::kAnthropic)
    return Dump({{"type", "error"},
                 {"error", {{"type", scenario.error_type}, {"message", scenario.error_message}}},
                 {"request_id", "req_1"}});
  return Dump({{"error",
                {{"message", scenario.error_message},
                 {"type", scenario.error_type},
                 {"param", nullptr},
                 {"code", scenario.error_code.empty() ? Ordered(nullptr) : Ordered(scenario.error_code)}}}});
}

}  // namespace warpwright
