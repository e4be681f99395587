// Which entries of a manifest changed between two revisions: by what the entry means, so that comments, moved files and
// headers that it does not use change nothing, and by its own lines in the manifest.
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
  std::string reason = {};       // for people: "its code changed"
  std::string slice_hash = {};   // in the new revision; empty where it was not needed or there is no such entry
  std::string data_digest = {};  // beside slice_hash: of its recorded references and input files, and of its file where
                                 // the slice is not known
  std::string note = {};         // what could not be read, and why
};

struct ChangeRequest {
  std::string commit;
  std::string before;        // commit; empty: every entry counts as changed
  bool with_hashes = false;  // of all that changed
};

// One for each kernel of `manifest`, which is the commit's, in its order. The worker is asked only about entries that
// may have changed.
Result<std::vector<EntryChange>> CompareEntries(const Workspace& workspace, const core::Manifest& manifest,
                                                const ChangeRequest& request, core::Evaluator& worker);

// What the manifest says about an entry, without its name and where it and its file stand.
std::string EntryDigest(const core::KernelSpec& spec);

}  // namespace warpwright::app
