// What `warpwright doctor` found out, and what it makes of it: one row per check. Pure, so that every row can be
// tested without the machine that it describes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/machine.h"

namespace warpwright::app {

// Something that was tried, through a worker in its sandbox.
struct Probe {
  double seconds = 0;
  core::Problem problem;
  std::vector<std::string> notes;  // what could not be measured
};

struct DoctorFacts {
  std::string device;     // "cuda", "sim:h200" as it was asked for; empty: whatever there is
  core::Machine machine;  // what the worker told before it ended
  core::Problem worker;   // why it did not tell everything

  std::optional<Probe> start;              // a fresh worker's first answer
  std::vector<std::string> sandbox_notes;  // what that worker could not confine
  std::optional<Probe> parsed;             // libclang on a small file
  std::optional<Probe> simulated;          // a small kernel, from its source to its result
  std::optional<Probe> ran;                // the same on the GPU

  std::string cache;            // folder
  core::Problem cache_problem;  // it cannot be written
  std::optional<uint64_t> free_disk_bytes;

  std::string author;        // of commits: "Name <mail>"
  core::Problem repository;  // there is none, or no author can be made of its configuration
  bool has_repository = false;
};

enum class CheckStatus { kOk, kWarning, kError };
const char* Name(CheckStatus status);

struct Check {
  std::string name;  // stable: scripts look for it
  CheckStatus status = CheckStatus::kOk;
  std::string message;
  std::string remedy;  // of warnings and errors
};

// In the order in which they should be read. A GPU's rows are there where there is a GPU or one was asked for.
std::vector<Check> MakeChecks(const DoctorFacts& facts);

}  // namespace warpwright::app
