// warpwright: options and help. The commands are in cli/<command>.cpp.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <type_traits>

#include "base/page_reuse.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/misspelt.h"
#include "cli/nightly.h"
#include "cli/serve.h"
#include "cli/version.h"
#include "cli/workflow_commands.h"
#include "config/chip_file.h"

namespace warpwright::cli {
namespace {

constexpr double kMostMinutes = 100'000;

// Options about the machine rather than a repository's kernels.
void AddMachine(CLI::App* command, CommonOptions& options) {
  command->add_option("--repo", options.repo, "The git repository")->capture_default_str();
  command->add_option("--device", options.device, "cuda, cuda:1, " + config::SimulatedDevices())
      ->capture_default_str()
      ->envname("WARPWRIGHT_DEVICE");
  command->add_option("--cache", options.cache, "Folder for compiled code [$XDG_CACHE_HOME/warpwright]")
      ->envname("WARPWRIGHT_CACHE");
  command->add_option("--worker", options.worker, "Command line of the worker [warpwright-worker]")
      ->envname("WARPWRIGHT_WORKER");
  command->add_flag("--json", options.json, "One JSON object on stdout");
  command->add_flag("--quiet", options.quiet, "No progress on stderr");
}

void AddCommon(CLI::App* command, CommonOptions& options) {
  AddMachine(command, options);
  command->add_option("--kernel", options.kernels, "Only this kernel of the manifest (repeatable)");
  command->add_option("--skills", options.skills, "Folder of skills instead of the built-in ones");
  command->add_option("--state", options.state, "Folder for trajectories and experience [<git directory>/warpwright]")
      ->envname("WARPWRIGHT_STATE");
}

// An option that takes the name of an enumerator, with hyphens.
template <typename E>
std::string OptionName(E value) {
  std::string name(Name(value));
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}
template <typename E, typename Value>
CLI::Option* AddChoice(CLI::App* command, const char* option, Value& value, const char* help) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Last(E{})); ++i) names.push_back(OptionName(static_cast<E>(i)));
  const auto set = [&value, names](const std::string& name) {
    value = static_cast<E>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  CLI::Option* added = command->add_option_function<std::string>(option, set, help)->check(CLI::IsMember(names));
  if constexpr (std::is_enum_v<Value>) added->default_str(OptionName(value));
  return added;
}

struct Program {
  CLI::App app{"Optimizes the CUDA kernels of a git repository, verifies every candidate, and commits what is faster.",
               "warpwright"};
  std::function<Result<int>()> run;
  InitOptions init;
  CommonOptions check, doctor, profile;
  RevisionOptions record, verify;
  LiftOptions lift;
  OptimizeOptions optimize;
  PlanOptions plan;
  ShowOptions show;
  NightlyOptions nightly;
  SkillsOptions skills;
  MemoryOptions memory;
  ServeOptions serve;
  ConfigOptions config;
  ExchangeOptions exchange;

  CLI::App* Add(const char* name, const char* help, CommonOptions& common, std::function<Result<int>()> command) {
    CLI::App* sub = app.add_subcommand(name, help);
    AddCommon(sub, common);
    sub->callback([this, command = std::move(command)] { run = command; });
    return sub;
  }

  Program() {
    app.require_subcommand(1);
    app.footer(
        "Exit codes: 0 done (also: no improvement found), 1 verification failed, 2 usage, 3 environment, 75 "
        "questions to a model wait for an answer, 78 configuration.");
    app.set_version_flag("--version", std::string("warpwright ") + kVersion);

    CLI::App* command =
        Add("init", "Write a first .warpwright.yml from the existing kernels, and a workflow for GitHub", init.common,
            [this] { return RunInit(init); });
    command->add_flag("--force", init.force, "Replace existing files");
    command->add_flag("--print", init.print, "Print them instead of writing them");
    command->add_flag("--no-workflow", init.no_workflow, "Do not write to .github/workflows");

    Add("check", "Check the manifest, its kernels, the references and the skills", check,
        [this] { return RunCheck(check); });

    doctor.device.clear();  // a GPU, if any
    command = app.add_subcommand("doctor",
                                 "Check the machine: worker, sandbox, toolkit, GPU, disk, git; exit code 3 if "
                                 "something prevents warpwright from running");
    AddMachine(command, doctor);
    command->callback([this] { run = [this] { return RunDoctor(doctor); }; });

    command = Add("record", "Record reference outputs of the trusted revision below .warpwright/references",
                  record.common, [this] { return RunRecord(record); });
    command->add_option("--base", record.base, "The trusted revision")->capture_default_str();

    command = Add("verify", "Verify the kernels of the working tree against the trusted revision", verify.common,
                  [this] { return RunVerify(verify); });
    command->add_option("--base", verify.base, "The trusted revision")->capture_default_str();

    Add("profile", "Counters, modelled times and evidence of the kernels of the working tree", profile,
        [this] { return RunProfile(profile); });

    command =
        Add("lift", "What the kernels of the working tree compute, as formulas; exit code 1 if one was not lifted",
            lift.common, [this] { return RunLift(lift); });
    AddChoice<LiftFormat>(command, "--format", lift.format, "text, latex, json or markdown");
    command->add_flag("--full", lift.full, "Every reduction in a line of its own");

    command = Add("optimize", "Optimize kernels of a revision and publish what is faster", optimize.common,
                  [this] { return RunOptimize(optimize); });
    command->add_option("--revision", optimize.revision, "The revision to optimize; it is the trusted original")
        ->capture_default_str();
    command->add_option("--changed-since", optimize.changed_since, "Only entries that changed since this revision");
    AddChoice<config::PublishTo>(command, "--publish", optimize.publish,
                                 "none, branch (warpwright/<kernel>, pushed if a remote is given) or pull-request");
    command->add_option("--author", optimize.author, "Author of the commits: \"Name <mail>\"");
    command->add_option("--max-rounds", optimize.max_rounds, "Overrides the manifest's policy")
        ->check(CLI::Range(1, 1000));
    command->add_option("--max-minutes", optimize.max_minutes, "Per kernel; overrides the manifest's policy")
        ->check(CLI::Validator(
            [](const std::string& text) {
              double minutes = 0;
              const bool good = CLI::detail::lexical_cast(text, minutes) && minutes > 0 && minutes <= kMostMinutes;
              return good ? std::string() : fmt::format("'{}' is no number of minutes above 0, such as 3", text);
            },
            "MINUTES"));
    command->add_flag("--again", optimize.again, "Restart finished tasks");
    command->add_option("--carry", optimize.carry,
                        "Carry the result of this commit over to --revision, where only the rest of its file changed");
    AddModels(command, optimize.models);
    AddPublication(command, optimize.publication);

    command = Add("plan", "Report which entries of a revision changed, without running any", plan.common,
                  [this] { return RunPlan(plan); });
    command->add_option("--revision", plan.revision, "The revision to plan for")->capture_default_str();
    command->add_option("--changed-since", plan.changed_since,
                        "The revision to compare with; without it, every entry counts as changed");
    command
        ->add_option("--shards", plan.shards,
                     "Distribute the changed entries over this many jobs; without --json, prints GitHub's matrix")
        ->check(CLI::Range(1, 256));

    command =
        Add("show", "Show what was tried and why: a list, or one task", show.common, [this] { return RunShow(show); });
    command->add_option("--task", show.task, "Number of the task, from the list");
    AddChoice<ShowFormat>(command, "--format", show.format, "text, markdown, html, json or pull-request");
    command->add_option("--output", show.output, "File to write to");

    command = Add("nightly", "Time every kernel against its history, and report what became slower and since when",
                  nightly.common, [this] { return RunNightly(nightly); });
    command->add_option("--revision", nightly.revision, "The revision to time")->capture_default_str();
    command->add_option("--history", nightly.history, "Folder of the history, instead of the branch");
    command->add_option("--history-branch", nightly.history_branch,
                        "Branch of the history [the manifest's nightly.branch]");
    command->add_option("--pages", nightly.pages,
                        "Folder for the drawn histories: index.html, and a page and a plot of each kernel");
    command->add_option("--merge", nightly.merge,
                        "Store of experience to be merged into this repository's (repeatable)");
    AddChoice<NightlyFailOn>(command, "--fail-on", nightly.fail_on,
                             "regression: exit code 1 if one is new or grew; none");
    command->add_option("--author", nightly.author, "Author of the commits: \"Name <mail>\"");
    command->add_flag("--optimize", nightly.optimize,
                      "Optimize what became slower (with --json: the caller does, from findings[])");

    command =
        app.add_subcommand("serve", "The daemon: watches repositories, optimizes what changes, opens pull requests");
    command->add_option("--config", serve.config, "The operator's file")
        ->capture_default_str()
        ->envname("WARPWRIGHT_CONFIG");
    command->add_option("--cache", serve.cache, "Folder for compiled code [$XDG_CACHE_HOME/warpwright]")
        ->envname("WARPWRIGHT_CACHE");
    command->add_option("--worker", serve.worker, "Command line of the worker [warpwright-worker]")
        ->envname("WARPWRIGHT_WORKER");
    command->callback([this] { run = [this] { return RunServe(serve); }; });

    AddSkills();
    AddMemory();
    AddConfig();
    AddExchange();
    app.add_subcommand("version", "Print the version")->callback([this] {
      run = [] {
        std::printf("warpwright %s\n", kVersion);
        return Result<int>(kExitDone);
      };
    });
  }

  static void AddModels(CLI::App* command, ModelOptions& to) {
    const std::string group = "Language models";
    command
        ->add_option("--model", to.model,
                     "offline:DIR (questions wait in a folder), replay:DIR (recorded transcripts), or the name of a "
                     "model in --config; asked where the built-in agents have no proposal")
        ->group(group);
    command->add_option("--config", to.config, "The operator's file: its models, agents and limits")->group(group);
    command->add_option("--transcripts", to.transcripts, "Folder that keeps what is asked and answered")->group(group);
    command->add_flag("--model-keys", to.keys_on_stdin, "Read the models' keys from stdin: {\"model\": \"key\"}")
        ->group(group);
  }

  static void AddPublication(CLI::App* command, PublicationOptions& to) {
    const std::string group = "On the forge, and in GitHub Actions";
    const auto add = [&](const char* name, auto& value, const char* help) {
      return command->add_option(name, value, help)->group(group);
    };
    add("--github-repository", to.repository, "owner/name");
    add("--github-api", to.api, "https://HOST/api/v3 for GitHub Enterprise")->capture_default_str();
    add("--remote", to.remote, "Where branches are pushed [that repository]");
    add("--token-env", to.token_env, "Environment variable with the token")->capture_default_str();
    add("--app-id", to.app_id, "GitHub App, instead of a token");
    add("--app-key-env", to.app_key_env, "Environment variable with the App's private key");
    add("--base-branch", to.base_branch, "Target of pull requests [the remote's main branch]");
    command->add_flag("--draft", to.draft, "Open pull requests as drafts")->group(group);
    add("--labels", to.labels, "Override the manifest's; separated by commas");
    add("--reviewers", to.reviewers, "Override the manifest's; separated by commas: logins, or team:slug");
    add("--max-open", to.max_open, "Limit on open pull requests; can only lower the manifest's")
        ->check(CLI::Range(0, 100));
    command->add_flag("--asked-for", to.asked_for, "Requested by a person: ignore a closed pull request")->group(group);
    AddChoice<DryRun>(
        command, "--dry-run", to.dry_run,
        "detect: report what would be optimized; optimize: publish nothing; full: create branches and texts, send "
        "nothing")
        ->group(group);
    AddChoice<FailOn>(
        command, "--fail-on", to.fail_on,
        "unverified: exit code 1 for a refused kernel; regression: also if the change made a kernel slower; never")
        ->group(group);
    add("--shard", to.shard, "k/n: only the k-th of n parts of the kernels");
    add("--summary", to.summary, "File that a Markdown summary is appended to");
    add("--output", to.output, "File that step outputs are appended to");
    add("--report", to.report, "Folder for report.json, texts of pull requests and pages");
    command->add_flag("--annotations", to.annotations, "Workflow commands for lines of the kernels")->group(group);
  }

  void AddSkills() {
    CLI::App* group = app.add_subcommand("skills", "The library of methods");
    group->require_subcommand(1);
    const auto add = [&](SkillsAction action, const char* name, const char* help, const char* argument) {
      CLI::App* command = group->add_subcommand(name, help);
      AddCommon(command, skills.common);
      if (argument != nullptr) command->add_option(argument, skills.argument);
      command->callback([this, action] {
        skills.action = action;
        run = [this] { return RunSkills(skills); };
      });
    };
    add(SkillsAction::kList, "list", "List the methods", nullptr);
    add(SkillsAction::kShow, "show", "Show one method", "id");
    add(SkillsAction::kCheck, "check", "Check a folder of skills", "folder");
    add(SkillsAction::kAccept, "accept",
        "Add the draft of a card, as optimize writes them, to the folder of --skills, which is made of the built-in "
        "skills if it is not there",
        "draft");
    add(SkillsAction::kMatch, "match",
        "What the policy concludes from a kernel's evidence (--kernel, or a JSON file of evidence)", "evidence");
  }

  void AddMemory() {
    CLI::App* group = app.add_subcommand("memory", "Measured experience");
    group->require_subcommand(1);
    CLI::App* command = group->add_subcommand("show", "Show what was learned, by method");
    AddCommon(command, memory.common);
    command->add_option("stores", memory.paths, "Stores to read instead of this repository's");
    command->callback([this] {
      memory.action = MemoryAction::kShow;
      run = [this] { return RunMemory(memory); };
    });
    command = group->add_subcommand("merge", "Merge stores: OUTPUT INPUT...");
    AddCommon(command, memory.common);
    command->add_option("stores", memory.paths, "The output, then the inputs")->required();
    command->callback([this] {
      memory.action = MemoryAction::kMerge;
      run = [this] { return RunMemory(memory); };
    });
  }

  void AddExchange() {
    CLI::App* group =
        app.add_subcommand("exchange", "Questions to a language model that wait in a folder for an answer");
    group->require_subcommand(1);
    const auto add = [&](ExchangeAction action, const char* name, const char* help) {
      CLI::App* command = group->add_subcommand(name, help);
      command->add_option("folder", exchange.folder, "Folder of the exchange")->required();
      command->callback([this, action] {
        exchange.action = action;
        run = [this] { return RunExchange(exchange); };
      });
      return command;
    };
    const auto add_question = [&](CLI::App* command) {
      command->add_option("question", exchange.question, "The beginning of its name, at least four digits")->required();
      return command;
    };
    add(ExchangeAction::kList, "list", "List the questions; exit code 75 if one waits")
        ->add_flag("--json", exchange.json, "One JSON object on stdout");
    add_question(add(ExchangeAction::kShow, "show", "Print a question as a prompt"))
        ->add_flag("--json", exchange.json, "Its file");
    CLI::App* answer = add_question(add(ExchangeAction::kAnswer, "answer", "Check an answer and store it"));
    answer->add_option("--file", exchange.file, "File of the answer [stdin]");
    answer->add_option("--model", exchange.model, "Who answers: a model, or a person");
    answer->add_option("--tokens-in", exchange.tokens_in, "Tokens of the prompt, if they are known");
    answer->add_option("--tokens-out", exchange.tokens_out, "Tokens of the answer, if they are known");
    answer->add_option("--dollars", exchange.dollars, "What it cost [by its tokens and the model's price, or unknown]");
    add(ExchangeAction::kExport, "export", "Write all questions and answers to one file")
        ->add_option("bundle", exchange.file, "The file")
        ->required();
    add(ExchangeAction::kImport, "import", "Take over questions and answers; exit code 1 if one is refused")
        ->add_option("bundle", exchange.file, "The file")
        ->required();
  }

  void AddConfig() {
    CLI::App* group = app.add_subcommand("config", "The repository's file and the operator's");
    group->require_subcommand(1);
    const auto add = [&](ConfigAction action, const char* name, const char* help) {
      CLI::App* command = group->add_subcommand(name, help);
      command->add_option("--repo", config.repo, "Where .warpwright.yml is [.]");
      command->add_option("--operator", config.operator_file, "The operator's file, as for serve --config");
      command->add_flag("--json", config.json, "One JSON object on stdout");
      command->callback([this, action] {
        config.action = action;
        run = [this] { return RunConfig(config); };
      });
      return command;
    };
    add(ConfigAction::kCheck, "check",
        "Report errors with file, line and remedy; exit code 78, or 3 for what this machine refuses")
        ->add_flag("--secrets", config.secrets, "Also read every secret, as the current user");
    add(ConfigAction::kPrint, "print", "Print the files' values and where they are set; secrets are never shown")
        ->add_flag("--effective", config.effective,
                   "Also defaults, and the effective values under the operator's limits");
  }
};

int Main(int argc, char** argv) {
  Program program;
  try {
    program.app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const bool asked = dynamic_cast<const CLI::Success*>(&e) != nullptr;  // for help
    if (const auto misspelt = FindMisspelt(program.app, {argv + 1, argv + argc}); misspelt && !asked) {
      std::fprintf(stderr, "warpwright: %s\n", misspelt->Format().c_str());
      ReportToRunner(*misspelt);
      return kExitUsage;
    }
    const int code = program.app.exit(e);
    if (code == 0) return kExitDone;
    ReportToRunner({.code = ErrorCode::kUsage, .message = e.what(), .remedy = "see `warpwright --help`"});
    return kExitUsage;
  }
  const Result<int> done = program.run();
  if (done) return *done;
  std::fprintf(stderr, "warpwright: %s\n", done.error().Format().c_str());
  ReportToRunner(done.error());
  return ExitCodeOf(done.error());
}

}  // namespace
}  // namespace warpwright::cli

int main(int argc, char** argv) {
  warpwright::base::KeepFreedPages();
  return warpwright::cli::Main(argc, argv);
}
