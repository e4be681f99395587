// What `init` finds out about an entry by running it on the simulator at a few sizes: the shapes and roles of its
// buffers, which of its arguments are sizes, and small values with which it runs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "core/inspection.h"

namespace warpwright::app {

struct ProbedBuffer {
  // In the manifest's notation; none: no product of the arguments fits, or how far it reaches depends on data.
  std::optional<std::vector<std::string>> shape;
  std::optional<core::Role> role;  // none: it was not touched
  std::string seen;                // without a shape: what was, for the question's comment
};
struct ProbedEntry {
  std::map<std::string, ProbedBuffer> buffers;  // every one
  std::set<std::string> sizes;                  // integer arguments that shapes depend on
  std::map<std::string, int64_t> small;         // integer arguments with which it ran
  bool partial = false;                         // of large launches, blocks were sampled
  // Integer buffers that are read are indices: how far others are reached into depends on their values. `index_bound`:
  // the size that they must stay below, if it is one.
  bool indexes = false;
  std::optional<std::string> index_bound;
};
// Why nothing is known: the entry was not run with success at enough sizes.
struct NotProbed {
  std::string why;
};
using ProbeOutcome = std::variant<NotProbed, ProbedEntry>;

// `entry` is a launcher whose parameters' types are known; its launches go to the simulator.
Result<ProbeOutcome> ProbeEntry(const core::SourceRef& source, const core::EntryInfo& entry, core::Evaluator& worker);

}  // namespace warpwright::app
