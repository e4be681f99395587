// Language models for the agents of a run: from --model and the operator's file.
//
//   --model offline:DIR   questions wait in a folder (llm/exchange.h)
//   --model replay:DIR    answers from recorded transcripts
//   --model NAME          of `models` in the operator's file
#pragma once

#include <string>

#include "app/optimize.h"
#include "cli/session.h"
#include "config/operator_file.h"

namespace warpwright::cli {

struct ModelOptions {
  std::string model;           // empty: as `agents` of the operator's file says
  std::string config;          // the operator's file; empty: none
  std::string transcripts;     // folder for what is asked and answered; empty: none is kept
  bool keys_on_stdin = false;  // of the daemon: {"model": "key", ...}, in no environment and no command line
};

// For a job's standard input: the keys of the models that agents ask. kEnvironment: one cannot be read.
Result<std::string> EncodeModelKeys(const config::OperatorConfig& config);
// Whether some agent asks a model.
bool AsksModels(const std::map<core::AgentRole, config::AgentSettings>& agents);

// Empty if no model is asked for: the agents are built in.
// `deadline`: of the task; the source does not outlive it.
Result<app::TeamSource> MakeTeamSource(const ModelOptions& options, const app::Workspace& workspace,
                                       const base::Deadline& deadline);

}  // namespace warpwright::cli
