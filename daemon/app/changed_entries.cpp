#include "app/changed_entries.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "app/source_closure.h"
#include "base/hash.h"
#include "config/manifest.h"
#include "judge/source_file.h"

namespace warpwright::app {
namespace {

namespace fs = std::filesystem;

// A few sources below the state folder, where workers may read; removed when done. What a killed process left is swept
// a day later.
class Scratch {
 public:
  static Result<Scratch> Create(const fs::path& state) {
    const fs::path parent = state / "compare";
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(parent, error)) {
      std::error_code ignored;
      const auto written = fs::last_write_time(entry.path(), ignored);
      if (!ignored && fs::file_time_type::clock::now() - written > std::chrono::hours(24))
        fs::remove_all(entry.path(), ignored);
    }
    fs::create_directories(parent, error);
    std::string pattern = (parent / "XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) return FailErrno("make a folder in " + parent.string());
    return Scratch(pattern);
  }
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  explicit Scratch(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

void Add(base::Hasher& hasher, const std::optional<core::Expression>& value) {
  hasher.Add(value ? "1" + value->text() : std::string("0"));
}
void Add(base::Hasher& hasher, const std::vector<core::Expression>& values) {
  hasher.Add(std::to_string(values.size()));
  for (const auto& value : values) hasher.Add(value.text());
}
std::string Text(const core::ScalarValue& value) {
  return std::visit(
      Overload{[](int64_t v) { return fmt::format("i{}", v); }, [](double v) { return fmt::format("f{:a}", v); }},
      value);
}
void Add(base::Hasher& hasher, const core::BufferArgument& buffer) {
  hasher.Add("buffer")
      .Add(core::Name(buffer.dtype))
      .Add(std::to_string(static_cast<int>(buffer.role)))
      .Add(std::to_string(buffer.alignment));
  Add(hasher, buffer.shape);
  const core::Init& init = buffer.init;
  hasher.Add(fmt::format("{} {:a} {:a}", static_cast<int>(init.kind), init.a, init.b)).Add(init.path).Add(init.tensor);
  Add(hasher, init.low);
  Add(hasher, init.high);
}
void Add(base::Hasher& hasher, const core::ScalarArgument& scalar) {
  hasher.Add("scalar").Add(core::Name(scalar.dtype)).Add(scalar.value ? Text(*scalar.value) : std::string());
}

class Comparison {
 public:
  Comparison(const repo::Repository& repository, core::Evaluator& worker, Scratch scratch, RevisionSources now,
             std::optional<RevisionSources> then, std::optional<core::Manifest> old)
      : repository_(repository),
        worker_(worker),
        scratch_(std::move(scratch)),
        now_(std::move(now)),
        then_(std::move(then)),
        old_manifest_(std::move(old)) {}

  Result<EntryChange> Compare(const core::KernelSpec& spec, bool with_hash) {
    EntryChange change;
    change.kernel = spec.name;
    WW_ASSIGN(const SourceClosure sources, now_.Of(spec.file));
    change.note = Note(sources, spec);
    WW_TRY(Decide(spec, sources, change));
    if (change.changed && with_hash && change.slice_hash.empty()) {
      WW_ASSIGN(change.slice_hash, SliceHash(now_, sources, spec));
    }
    if (change.changed && with_hash) change.data_digest = DataDigest(spec, change.slice_hash.empty());
    return change;
  }

 private:
  Status Decide(const core::KernelSpec& spec, const SourceClosure& sources, EntryChange& change) {
    const auto decide = [&](bool changed, const char* reason) {
      change.changed = changed;
      change.reason = reason;
      return Status();
    };
    if (!then_) return decide(true, "every entry was requested");
    const core::KernelSpec* old = nullptr;
    for (const auto& kernel : old_manifest_ ? old_manifest_->kernels : std::vector<core::KernelSpec>())
      if (kernel.name == spec.name) old_spec_ = kernel, old = &old_spec_;
    if (old == nullptr) return decide(true, "it is new in the manifest");
    if (EntryDigest(*old) != EntryDigest(spec)) return decide(true, "its entry in the manifest changed");
    WW_ASSIGN(const SourceClosure old_sources, then_->Of(old->file));
    if (old->file == spec.file && old_sources == sources) return decide(false, "the same files");
    WW_ASSIGN(const std::string before, SliceHash(*then_, old_sources, *old));
    WW_ASSIGN(change.slice_hash, SliceHash(now_, sources, spec));
    return change.slice_hash == before ? decide(false, "the same meaning") : decide(true, "its code changed");
  }

  // Empty if the file or the entry does not exist.
  Result<std::string> SliceHash(const RevisionSources& revision, const SourceClosure& sources,
                                const core::KernelSpec& spec) {
    const auto file = sources.files.find(spec.file);
    if (file == sources.files.end() || sources.unreadable.count(spec.file) != 0) return std::string();
    const fs::path root = scratch_.path() / revision.commit().substr(0, 12);
    WW_TRY(revision.Export(sources, root));
    WW_ASSIGN(const core::SourceRef source, judge::ReadSource(root, spec));
    WW_ASSIGN(const core::Inspection inspection, worker_.Inspect(source));
    for (const auto& entry : inspection.entries)
      if (entry.name == spec.entry.substr(0, spec.entry.find('<'))) return entry.slice_hash;
    return std::string();
  }

  std::string DataDigest(const core::KernelSpec& spec, bool with_file) const {
    base::Hasher hasher;
    for (const auto& [path, blob] : now_.Below(".warpwright/references/" + spec.name)) hasher.Add(path).Add(blob);
    for (const auto& argument : spec.args)
      if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
          buffer != nullptr && !buffer->init.path.empty())
        hasher.Add(now_.Blob(buffer->init.path));
    if (with_file) hasher.Add(now_.Blob(spec.file));
    return hasher.Finish();
  }

  std::string Note(const SourceClosure& sources, const core::KernelSpec& spec) const {
    if (!sources.unreadable.empty()) return sources.unreadable.begin()->second;
    if (!sources.files.empty()) return {};
    const auto text = repository_.Read(now_.commit(), spec.file);
    return !text ? text.error().message : spec.file + " is not in this revision";
  }

  const repo::Repository& repository_;
  core::Evaluator& worker_;
  Scratch scratch_;
  RevisionSources now_;
  std::optional<RevisionSources> then_;
  std::optional<core::Manifest> old_manifest_;
  core::KernelSpec old_spec_;
};

}  // namespace

std::string EntryDigest(const core::KernelSpec& spec) {
  base::Hasher hasher;
  hasher.Add(spec.entry).Add(std::to_string(spec.args.size()));
  for (const auto& argument : spec.args) {
    hasher.Add(argument.name);
    std::visit([&](const auto& kind) { Add(hasher, kind); }, argument.kind);
  }
  hasher.Add(std::to_string(spec.cases.size()));
  for (const auto& c : spec.cases) {
    hasher.Add(c.name).Add(fmt::format("{:a}", c.weight)).Add(std::to_string(c.scalars.size()));
    for (const auto& [name, value] : c.scalars) hasher.Add(name).Add(Text(value));
    for (const core::DeviceKind kind : {core::DeviceKind::kSim, core::DeviceKind::kCuda})
      hasher.Add(c.on.count(kind) != 0 ? "on" : "off");
  }
  hasher.Add(spec.launch ? "launch" : "none");
  if (spec.launch) {
    Add(hasher, spec.launch->grid);
    Add(hasher, spec.launch->block);
    Add(hasher, spec.launch->shared_bytes);
  }
  hasher.Add(spec.tolerance.relative ? fmt::format("{:a}", *spec.tolerance.relative) : std::string())
      .Add(std::to_string(spec.allow.size()));
  for (const core::Allow allow : spec.allow) hasher.Add(core::Name(allow));
  hasher.Add(core::Name(spec.special)).Add(spec.alias ? std::to_string(spec.alias->size()) : std::string());
  for (const core::InPlacePair& pair : spec.alias.value_or(std::vector<core::InPlacePair>()))
    hasher.Add(pair.output).Add(pair.input);
  Add(hasher, spec.accumulation);
  if (!spec.build.IsDefault()) hasher.Add(spec.build.Text());
  return hasher.Finish();
}

Result<std::vector<EntryChange>> CompareEntries(const Workspace& workspace, const core::Manifest& manifest,
                                                const ChangeRequest& request, core::Evaluator& worker) {
  const repo::Repository& repository = workspace.repository();
  if (!request.before.empty()) {
    // Most pushes touch no source. The trees then need not be listed, which is the slowest step in a large repository.
    WW_ASSIGN(const auto touched, repository.TouchedPaths(request.before, request.commit));
    if (std::none_of(touched.begin(), touched.end(), IsSource)) {
      std::vector<EntryChange> unchanged;
      for (const auto& spec : manifest.kernels)
        unchanged.push_back({.kernel = spec.name, .changed = false, .reason = "the same files"});
      return unchanged;
    }
  }
  WW_ASSIGN(Scratch scratch, Scratch::Create(workspace.state()));
  WW_ASSIGN(RevisionSources now, RevisionSources::Load(repository, request.commit, worker));
  std::optional<RevisionSources> then;
  std::optional<core::Manifest> old_manifest;
  if (!request.before.empty()) {
    WW_ASSIGN(then, RevisionSources::Load(repository, request.before, worker));
    // A manifest that was invalid or missing in that revision does not tell which entries existed: all current ones are
    // new.
    if (const auto text = repository.Read(request.before, std::string(config::kManifestName)); text && *text)
      if (auto parsed = config::ParseManifest(**text, std::string(config::kManifestName)))
        old_manifest = std::move(*parsed);
  }
  Comparison comparison(repository, worker, std::move(scratch), std::move(now), std::move(then),
                        std::move(old_manifest));
  std::vector<EntryChange> changes;
  for (const auto& spec : manifest.kernels) {
    WW_ASSIGN(EntryChange change, comparison.Compare(spec, request.with_hashes));
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace warpwright::app
