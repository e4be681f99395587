#include "config/model_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/fields.h"
#include "config/remote_text.h"

namespace warpwright::config {
namespace {

constexpr size_t kMaxModels = 32, kMaxWords = 64;
constexpr std::string_view kModelKeys[] = {"transport", "model",  "base_url",   "key",         "key_header",
                                           "command",   "folder", "structured", "token_limit", "max_output_tokens",
                                           "deadline",  "stall",  "price"};

bool SpeaksHttp(ModelTransport transport) {
  switch (transport) {
    case ModelTransport::kAnthropic:
    case ModelTransport::kOpenAiChat:
    case ModelTransport::kOpenAiResponses: return true;
    case ModelTransport::kCommand:
    case ModelTransport::kOffline:
    case ModelTransport::kReplay: return false;
  }
  return false;
}

template <typename E>
std::vector<std::string_view> NamesOf() {
  std::vector<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Last(E{})); ++i) names.push_back(Name(static_cast<E>(i)));
  return names;
}

// The keys that a transport has no use for, or cannot do without.
bool Takes(ModelTransport transport, std::string_view key) {
  if (key == "transport" || key == "price" || key == "model") return true;
  const bool waits = !AsksNobody(transport);
  if (key == "deadline" || key == "max_output_tokens") return waits;
  if (key == "command") return transport == ModelTransport::kCommand;
  if (key == "folder") return !waits;
  if (key == "token_limit") return transport == ModelTransport::kOpenAiChat;
  return SpeaksHttp(transport);  // base_url, key, key_header, structured, stall
}

class ModelReader {
 public:
  explicit ModelReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  ModelSettings Read(const YamlNode& name, const YamlNode& node) {
    ModelSettings model;
    model.name = name.text();
    YamlObject map(node, "a model", kModelKeys, diagnostics_);
    if (!node.IsMap()) return model;
    const size_t before = diagnostics_.size();
    model.transport = Choice<ModelTransport>(map, "transport", map.Require("transport"));
    if (diagnostics_.size() != before) return model;
    for (const auto& [key, value] : node.entries())
      if (std::find(std::begin(kModelKeys), std::end(kModelKeys), key.text()) != std::end(kModelKeys) &&
          !Takes(model.transport, key.text()))
        diagnostics_.Add(key, fmt::format("'{}' means nothing for the transport {}", key.text(), Name(model.transport)),
                         "remove it");
    ReadPlace(map, model);
    ReadLimits(map, model);
    ReadPrice(map, model);
    return model;
  }

 private:
  template <typename E>
  E Choice(const YamlObject&, std::string_view kind, const YamlNode* node) {
    if (node == nullptr) return E{};
    const auto text = diagnostics_.Take(node->AsString());
    if (!text) return E{};
    if (const auto value = base::ParseName<E>(*text)) return *value;
    const auto names = NamesOf<E>();
    diagnostics_.Add(UnknownName(*node, kind, *text, names));
    return E{};
  }

  void ReadPlace(const YamlObject& map, ModelSettings& model) {
    const bool http = SpeaksHttp(model.transport);
    model.model = http ? map.String("model") : map.StringOr("model", "");
    if (const YamlNode* at = map.Find("model");
        at != nullptr && (model.model.size() > 200 || !OnlyHas(model.model, "_.-/:@")))
      diagnostics_.Add(*at, "'model' must be a model's name", "as its provider spells it");
    if (const YamlNode* at = map.Find("base_url"); at != nullptr && http) {
      if (auto text = diagnostics_.Take(at->AsString())) ReadAddress(*at, *text, model);
    }
    if (const YamlNode* key = map.Find("key"); key != nullptr && http)
      model.key = ReadSecretSource(*key, "the key", diagnostics_);
    if (const YamlNode* at = map.Find("key_header"); at != nullptr && http) ReadKeyHeader(*at, model);
    if (http && !model.key.given() && model.base_url.empty())
      diagnostics_.Add(map.node(), fmt::format("'{}' needs a key", model.name),
                       "add key: {file: /path} or key: {env: NAME}");
    if (model.transport == ModelTransport::kCommand) ReadCommand(map, model);
    if (AsksNobody(model.transport)) {
      if (const YamlNode* at = map.Require("folder"))
        if (const auto text = diagnostics_.Take(at->AsString())) {
          model.folder = std::filesystem::path(*text).lexically_normal();
          if (!model.folder.is_absolute())
            diagnostics_.Add(*at, "'folder' must be an absolute path", "begin it with '/'");
        }
    }
    model.structured = Choice<StructuredOutput>(map, "form of structured output", map.Find("structured"));
    model.token_limit =
        map.Find("token_limit") != nullptr
            ? Choice<TokenLimitName>(map, "limit", map.Find("token_limit"))
            : (model.base_url.empty() ? TokenLimitName::kMaxCompletionTokens : TokenLimitName::kMaxTokens);
  }

  // http is fine for a server that needs no key; the client refuses to send one there. A query is for what names a
  // version, as Azure's.
  void ReadAddress(const YamlNode& at, std::string text, ModelSettings& model) {
    std::string query;
    if (const size_t mark = text.find('?'); mark != std::string::npos) {
      query = text.substr(mark);
      text.resize(mark);
      if (query.size() < 2 || !OnlyHas(query.substr(1), "_.~=&%+,:-"))
        diagnostics_.Add(at, "the query of 'base_url' is not one", "write it as ?api-version=VERSION");
    }
    while (text.ends_with('/')) text.pop_back();
    const std::string as_https = text.starts_with("http://") ? "https://" + text.substr(7) : text;
    if (Status good = CheckApiUrl(as_https); !good) diagnostics_.Add(at, good.error().message, good.error().remedy);
    model.base_url = std::move(text) + query;
  }

  void ReadKeyHeader(const YamlNode& at, ModelSettings& model) {
    const auto text = diagnostics_.Take(at.AsString());
    if (!text) return;
    if (text->empty() || text->size() > 64 || !OnlyHas(*text, "-_"))
      diagnostics_.Add(at, "'key_header' must be the name of a header", "write api-key, as Azure calls it");
    model.key_header = *text;
    if (!model.key.given()) diagnostics_.Add(at, "'key_header' without a key", "add key: {env: NAME}, or remove it");
  }

  void ReadCommand(const YamlObject& map, ModelSettings& model) {
    const YamlNode* at = map.Require("command");
    if (at == nullptr) return;
    auto words = diagnostics_.Take(at->AsStrings());
    if (!words) return;
    if (words->empty() || words->size() > kMaxWords || words->front().empty())
      diagnostics_.Add(*at, fmt::format("'command' must be a list of 1 to {} words", kMaxWords),
                       "the program and its arguments; no shell is between");
    model.command = std::move(*words);
  }

  void ReadLimits(const YamlObject& map, ModelSettings& model) {
    model.max_output_tokens = map.IntegerOr("max_output_tokens", model.max_output_tokens, 16, 1'000'000);
    model.deadline = std::chrono::seconds(map.IntegerOr("deadline", model.deadline.count(), 1, 86'400));
    model.stall =
        std::chrono::seconds(map.IntegerOr("stall", std::min(model.stall, model.deadline).count(), 1, 86'400));
  }

  void ReadPrice(const YamlObject& map, ModelSettings& model) {
    if (model.transport == ModelTransport::kReplay) model.price = TokenPrice{};  // what was paid is in the transcripts
    if (const YamlNode* at = map.Find("price")) {
      if (at->text() == "unmetered") model.price = TokenPrice{};
      else if (at->IsMap()) model.price = ReadTokenPrice(*at, diagnostics_);
      else
        diagnostics_.Add(
            *at, "'price' must be a map, or 'unmetered'",
            "write {input: 3, output: 15} in dollars per million tokens; unmetered where tokens are not billed");
      return;
    }
    // At another address the vendor's prices need not hold.
    if (SpeaksHttp(model.transport) && model.base_url.empty())
      model.price = Prices().Find(model.transport == ModelTransport::kAnthropic ? "anthropic" : "openai", model.model);
  }

  Diagnostics& diagnostics_;
};

SpendCap ReadCap(const YamlNode* node, std::string what, std::initializer_list<std::string_view> keys,
                 Diagnostics& diagnostics) {
  SpendCap cap;
  if (node == nullptr) return cap;
  YamlObject map(*node, std::move(what), keys, diagnostics);
  if (!node->IsMap()) return cap;
  if (map.Find("dollars") != nullptr) cap.dollars = map.Double("dollars", 0, 1'000'000);
  if (map.Find("minutes") != nullptr) cap.minutes = map.Double("minutes", 0, 1'000'000);
  if (map.Find("tokens") != nullptr) cap.tokens = map.Integer("tokens", 0, int64_t{1} << 50);
  if (map.Find("calls") != nullptr) cap.calls = map.Integer("calls", 0, int64_t{1} << 40);
  return cap;
}

}  // namespace

std::string_view Name(ModelTransport transport) {
  switch (transport) {
    case ModelTransport::kAnthropic: return "anthropic";
    case ModelTransport::kOpenAiChat: return "openai_chat";
    case ModelTransport::kOpenAiResponses: return "openai_responses";
    case ModelTransport::kCommand: return "command";
    case ModelTransport::kOffline: return "offline";
    case ModelTransport::kReplay: return "replay";
  }
  return "?";
}
std::string_view Name(StructuredOutput structured) {
  return structured == StructuredOutput::kSchema ? "schema" : "fenced";
}
std::string_view Name(TokenLimitName name) {
  return name == TokenLimitName::kMaxTokens ? "max_tokens" : "max_completion_tokens";
}
std::string_view Name(AskOrder order) { return order == AskOrder::kFirst ? "first" : "all"; }

namespace {

bool IsWord(std::string_view name) { return name == kBuiltIn || name == kCheapest || name == kDearest; }

// What a name stands for; empty: no price is known to choose by.
std::string ByPrice(const std::string& name, const std::vector<ModelSettings>& models) {
  if (name != kCheapest && name != kDearest) return name;
  const ModelSettings* chosen = nullptr;
  for (const ModelSettings& model : models) {
    if (!model.price || AsksNobody(model.transport)) continue;
    const bool better = chosen == nullptr || (name == kCheapest ? model.price->output < chosen->price->output
                                                                : model.price->output > chosen->price->output);
    if (better) chosen = &model;
  }
  return chosen == nullptr ? std::string() : chosen->name;
}

}  // namespace

bool AsksNobody(ModelTransport transport) {
  return transport == ModelTransport::kOffline || transport == ModelTransport::kReplay;
}

bool IsPaid(const ModelSettings& model) { return !model.price || *model.price != TokenPrice{}; }

std::vector<ModelSettings> ReadModels(const YamlNode& node, Diagnostics& diagnostics) {
  std::vector<ModelSettings> models;
  if (!node.IsMap() || node.entries().empty() || node.entries().size() > kMaxModels) {
    diagnostics.Add(node, fmt::format("'models' must be a map of 1 to {} models", kMaxModels),
                    "write NAME: {transport: ...} for each");
    return models;
  }
  for (const auto& [name, value] : node.entries()) {
    if (name.text().empty() || name.text().size() > 64 || !OnlyHas(name.text(), "_.-") || IsWord(name.text()))
      diagnostics.Add(name, "this cannot be a model's name here",
                      "use letters, digits, '_', '-' and '.'; not built_in, cheapest, dearest");
    models.push_back(ModelReader(diagnostics).Read(name, value));
  }
  return models;
}

std::map<core::AgentRole, AgentSettings> ReadAgents(const YamlNode& node, const std::vector<ModelSettings>& models,
                                                    Diagnostics& diagnostics) {
  std::map<core::AgentRole, AgentSettings> agents;
  const auto roles = NamesOf<core::AgentRole>();
  YamlObject map(node, "agents", roles, diagnostics);
  std::vector<std::string_view> engines{kBuiltIn, kCheapest, kDearest};
  for (const ModelSettings& model : models) engines.push_back(model.name);
  for (const std::string_view role : roles) {
    const YamlNode* at = map.Find(role);
    if (at == nullptr) continue;
    YamlObject choice(*at, "an agent", {"first", "all", "samples"}, diagnostics);
    const YamlNode *first = choice.Find("first"), *all = choice.Find("all");
    if (!at->IsMap()) continue;
    if ((first != nullptr) == (all != nullptr)) {
      diagnostics.Add(*at, fmt::format("'{}' needs one of 'first' and 'all'", role),
                      "write {first: [built_in, MODEL]}");
      continue;
    }
    const YamlNode& list = first != nullptr ? *first : *all;
    AgentSettings agent{.order = first != nullptr ? AskOrder::kFirst : AskOrder::kAll, .engines = {}};
    agent.samples = static_cast<int>(choice.IntegerOr("samples", agent.samples, 1, 8));
    const auto of = *base::ParseName<core::AgentRole>(role);
    if (agent.samples > 1 && (of == core::AgentRole::kFeatureExtractor || of == core::AgentRole::kRepairer))
      diagnostics.Add(*choice.Find("samples"), fmt::format("'{}' uses one answer", role), "leave 'samples' out");
    if (const auto names = diagnostics.Take(list.AsStrings())) {
      std::set<std::string> seen;
      for (size_t i = 0; i < names->size(); ++i) {
        const std::string name = ByPrice((*names)[i], models);
        if (name.empty())
          diagnostics.Add(list.items()[i], fmt::format("'{}': no model has a known price", (*names)[i]),
                          "give one a 'price', or name the model");
        else if (std::find(engines.begin(), engines.end(), name) == engines.end())
          diagnostics.Add(UnknownName(list.items()[i], "model", name, engines));
        else if (!seen.insert(name).second)
          diagnostics.Add(list.items()[i], fmt::format("'{}' is named twice", name), "remove one");
        agent.engines.push_back(name);
      }
      if (names->empty()) diagnostics.Add(list, "nobody is named", "write [built_in], or leave the agent out");
    }
    agents.emplace(of, std::move(agent));
  }
  return agents;
}

ModelCaps ReadModelCaps(const YamlNode& node, Diagnostics& diagnostics) {
  YamlObject map(node, "limits of models", {"call", "task", "repository_day", "day"}, diagnostics);
  ModelCaps caps;
  if (!node.IsMap()) return caps;
  caps.call = ReadCap(map.Find("call"), "a limit of a call", {"dollars", "tokens", "minutes"}, diagnostics);
  caps.task = ReadCap(map.Find("task"), "a limit of a task", {"dollars", "tokens", "calls", "minutes"}, diagnostics);
  caps.repository_day = ReadCap(map.Find("repository_day"), "a limit of a repository and day",
                                {"dollars", "tokens", "calls", "minutes"}, diagnostics);
  // Its dollars are model_dollars_per_day.
  caps.day = ReadCap(map.Find("day"), "a limit of a day", {"tokens", "calls", "minutes"}, diagnostics);
  return caps;
}

}  // namespace warpwright::config
