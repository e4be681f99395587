// Which entries of a manifest changed between two revisions. Compared are the entry's meaning, so that comments, moved
// files and unused headers make no difference, and its own lines in the manifest.
#pragma once

#include <string>
#include <vector>

#include "app/workspace.h"
#include "core/evaluator.h"
#include "core/kernel_spec.h"

namespace warpwright::app {

struct EntryChange {
  std::string kernel;
  bool changed = false;
  std::string reason = {};       // for display: "its code changed"
  std::string slice_hash = {};   // in the new revision; empty if it was not needed or the entry does not exist
  std::string data_digest = {};  // in addition to slice_hash: of its recorded references and input files, and of its
                                 // file if the slice is unknown
  std::string note = {};         // what could not be read, and why
};

struct ChangeRequest {
  std::string commit;
  std::string before;        // commit; empty: every entry counts as changed
  bool with_hashes = false;  // of all changed entries
};

// One for each kernel of `manifest`, which is the commit's, in its order. The worker is queried only about entries that
// may have changed.
Result<std::vector<EntryChange>> CompareEntries(const Workspace& workspace, const core::Manifest& manifest,
                                                const ChangeRequest& request, core::Evaluator& worker);

// Digest of the manifest's description of an entry, without its name, its line and the path of its file.
std::string EntryDigest(const core::KernelSpec& spec);

}  // namespace warpwright::app
