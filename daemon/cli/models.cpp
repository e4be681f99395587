#include "cli/models.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>

#include "app/kept_secrets.h"
#include "base/hash.h"
#include "base/json_codec.h"
#include "cli/version.h"
#include "config/operator_file.h"
#include "llm/journalled_model.h"
#include "llm/model_stack.h"

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxKeyBytes = 64u << 10;

// The models and who asks them, with their limits.
struct ModelSetup {
  std::map<std::string, std::string> keys;  // that were handed over, by model
  std::vector<config::ModelSettings> models;
  std::map<core::AgentRole, config::AgentSettings> agents;
  llm::LedgerCaps caps;
  fs::path state;  // of the operator, whose limits hold for all repositories together; empty: the workspace's
};

// "offline:DIR" and "replay:DIR" need no file.
std::optional<config::ModelSettings> FolderModel(const std::string& model) {
  for (const auto transport : {config::ModelTransport::kOffline, config::ModelTransport::kReplay}) {
    const std::string name(config::Name(transport));
    if (!model.starts_with(name + ":") || model.size() <= name.size() + 1) continue;
    config::ModelSettings settings;
    settings.name = name;
    settings.transport = transport;
    settings.folder = fs::absolute(model.substr(name.size() + 1));
    if (transport == config::ModelTransport::kReplay) settings.price = config::TokenPrice{};
    return settings;
  }
  return std::nullopt;
}

// What is sure and free comes first; then one model for all that must be written.
std::map<core::AgentRole, config::AgentSettings> UsualAgents(const std::string& model) {
  const config::AgentSettings after_built_in{config::AskOrder::kFirst, {std::string(config::kBuiltIn), model}};
  return {{core::AgentRole::kPlanner, after_built_in},
          {core::AgentRole::kOptimizer, after_built_in},
          {core::AgentRole::kRepairer, after_built_in}};
}

Result<std::map<std::string, std::string>> ReadKeys() {
  std::string text(kMaxKeyBytes, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(STDIN_FILENO, text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FailErrno("read the keys of the models");
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  text.resize(size);
  auto keys = base::DecodeJson<std::map<std::string, std::string>>(text);
  if (!keys) return Fail(ErrorCode::kUsage, "--model-keys: standard input is no object of keys");  // repeats nothing
  return keys;
}

Result<ModelSetup> ReadModelSetup(const ModelOptions& options) {
  ModelSetup setup;
  if (!options.config.empty()) {
    WW_ASSIGN(config::OperatorConfig config, config::LoadOperatorConfig(options.config));
    setup.models = std::move(config.models);
    setup.agents = std::move(config.agents);
    setup.state = config.state;
    setup.caps = {config.limits.models, config.limits.model_dollars_per_day};
  }
  if (options.keys_on_stdin) {
    WW_ASSIGN(setup.keys, ReadKeys());
  }
  if (options.model.empty()) return setup;
  std::string name = options.model;
  if (auto folder = FolderModel(options.model)) {
    name = folder->name;
    std::erase_if(setup.models, [&](const config::ModelSettings& model) { return model.name == name; });
    setup.models.push_back(std::move(*folder));
  } else if (std::none_of(setup.models.begin(), setup.models.end(),
                          [&](const config::ModelSettings& model) { return model.name == name; })) {
    return Fail(ErrorCode::kUsage, "--model " + name + ": the operator's file names no such model",
                "offline:DIR, replay:DIR, or a name below `models` of --config");
  }
  setup.agents = UsualAgents(name);
  return setup;
}

class TeamMaker {
 public:
  TeamMaker(ModelSetup setup, std::string repository, std::shared_ptr<llm::Ledger> ledger, fs::path transcripts,
            const base::Deadline& deadline)
      : setup_(std::move(setup)),
        repository_(std::move(repository)),
        ledger_(std::move(ledger)),
        transcripts_(std::move(transcripts)),
        deadline_(deadline) {}

  Result<agents::Team> Make(const std::string& task, memory::Journal& journal) const {
    std::map<std::string, agents::Engine> engines = {{std::string(config::kBuiltIn), {}}};
    std::map<core::AgentRole, agents::Engines> roles;
    for (const auto& [role, settings] : setup_.agents) {
      agents::Engines& role_engines = roles[role];
      role_engines.order =
          settings.order == config::AskOrder::kFirst ? agents::AskOrder::kFirst : agents::AskOrder::kAll;
      role_engines.samples = settings.samples;
      for (const std::string& name : settings.engines) {
        if (engines.count(name) == 0) {
          WW_ASSIGN(engines[name], MakeEngine(name, task, journal));
        }
        role_engines.engines.push_back(engines[name]);
      }
    }
    return agents::MakeTeam(roles);
  }

 private:
  Result<agents::Engine> MakeEngine(const std::string& name, const std::string& task, memory::Journal& journal) const {
    const auto settings = std::find_if(setup_.models.begin(), setup_.models.end(),
                                       [&](const config::ModelSettings& model) { return model.name == name; });
    if (settings == setup_.models.end()) return Fail(ErrorCode::kConfig, "agents: there is no model " + name);
    llm::ModelStackParts parts;
    parts.settings = *settings;
    parts.ledger = ledger_;
    parts.account = {task, repository_};
    parts.caps = setup_.caps;
    if (const auto key = setup_.keys.find(name); key != setup_.keys.end()) parts.key = key->second;
    parts.record = transcripts_;
    parts.user_agent = std::string("warpwright/") + kVersion;
    WW_ASSIGN(std::unique_ptr<llm::LanguageModel> model, llm::MakeModel(std::move(parts)));
    return agents::Engine{name, std::make_shared<llm::JournalledModel>(std::move(model), journal),
                          llm::LimitsOf(*settings), &deadline_};
  }

  const ModelSetup setup_;
  const std::string repository_;
  const std::shared_ptr<llm::Ledger> ledger_;
  const fs::path transcripts_;
  const base::Deadline& deadline_;
};

// Of the transcripts that some agent's model plays back; empty: of none.
fs::path ReplayedFolder(const ModelSetup& setup) {
  for (const auto& [role, settings] : setup.agents)
    for (const std::string& engine : settings.engines)
      for (const config::ModelSettings& model : setup.models)
        if (model.name == engine && model.transport == config::ModelTransport::kReplay) return model.folder;
  return {};
}

// Who is asked decides what is found; where the answers lie does not: a run may go on with another folder.
std::string DigestOf(const ModelSetup& setup) {
  base::Hasher hasher;
  for (const auto& [role, settings] : setup.agents) {
    hasher.Add(core::Name(role)).Add(config::Name(settings.order));
    for (const std::string& engine : settings.engines) hasher.Add(engine);
    if (settings.samples > 1) hasher.Add(fmt::format("{} samples", settings.samples));
  }
  return hasher.Finish();
}

}  // namespace

bool AsksModels(const std::map<core::AgentRole, config::AgentSettings>& agents) {
  for (const auto& [role, settings] : agents)
    for (const std::string& engine : settings.engines)
      if (engine != config::kBuiltIn) return true;
  return false;
}

Result<std::string> EncodeModelKeys(const config::OperatorConfig& config) {
  std::set<std::string> asked;
  for (const auto& [role, settings] : config.agents) asked.insert(settings.engines.begin(), settings.engines.end());
  std::map<std::string, std::string> keys;
  for (const config::ModelSettings& model : config.models) {
    if (asked.count(model.name) == 0 || !model.key.given()) continue;
    WW_ASSIGN(keys[model.name], config::ReadSecret(model.key, config::SecretReaders::kOwner));
  }
  return base::DumpJson(base::ToJson(keys));
}

Result<app::TeamSource> MakeTeamSource(const ModelOptions& options, const app::Workspace& workspace,
                                       const base::Deadline& deadline) {
  WW_ASSIGN(ModelSetup setup, ReadModelSetup(options));
  if (!AsksModels(setup.agents)) return app::TeamSource{};
  const fs::path state = setup.state.empty() ? workspace.state() : setup.state;
  std::error_code failed;
  fs::create_directories(state, failed);
  if (failed)
    return Fail(
        ErrorCode::kEnvironment, "create " + state.string() + ": " + failed.message(),
        "what models cost is kept there: let `state` of the operator's file name a folder that you may write to");
  WW_ASSIGN(llm::Ledger ledger, llm::Ledger::Open(state / "models.sqlite"));
  const std::string digest = DigestOf(setup);
  if (!options.transcripts.empty()) {
    std::error_code error;
    fs::create_directories(options.transcripts, error);
    if (error) return Fail(ErrorCode::kUsage, "create " + options.transcripts + ": " + error.message());
  }
  const fs::path transcripts = options.transcripts.empty() ? fs::path() : fs::absolute(options.transcripts);
  const fs::path replayed = ReplayedFolder(setup);
  // Without it every question would find no answer, and the run would end as if nothing had been asked.
  if (std::error_code error; !replayed.empty() && !fs::is_directory(replayed, error))
    return Fail(ErrorCode::kUsage, fmt::format("there is no folder {} to replay", replayed.string()),
                "name the folder that --transcripts of the recorded run wrote");
  std::shared_ptr<app::KeptSecrets> secrets;
  if (!transcripts.empty() || !replayed.empty()) {
    WW_ASSIGN(secrets, app::KeptSecrets::Open(replayed, transcripts));
  }
  const auto maker =
      std::make_shared<TeamMaker>(std::move(setup), workspace.repository().root().string(),
                                  std::make_shared<llm::Ledger>(std::move(ledger)), transcripts, deadline);
  app::TeamSource source{
      .make = [maker](const std::string& task, memory::Journal& journal) { return maker->Make(task, journal); },
      .digest = digest};
  if (secrets) source.draw_secret = [secrets](const std::string& of) { return secrets->Draw(of); };
  return source;
}

}  // namespace warpwright::cli
