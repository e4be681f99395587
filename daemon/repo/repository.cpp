#include "repo/repository.h"

#include <fcntl.h>
#include <git2.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/fd.h"
#include "repo/git_handle.h"

namespace warpwright::repo {
namespace {

constexpr size_t kMaxBlobBytes = 16u << 20;

Result<std::string> BlobText(git_repository* repository, const git_oid* id, const std::string& name) {
  GitBlob blob;
  if (git_blob_lookup(blob.out(), repository, id) != 0) return FailGit("read " + name);
  const auto size = static_cast<size_t>(git_blob_rawsize(blob));
  if (size > kMaxBlobBytes) return Fail(ErrorCode::kUnsupported, name + " is larger than 16 MiB");
  std::string text(static_cast<const char*>(git_blob_rawcontent(blob)), size);
  if (text.rfind("version https://git-lfs.github.com/spec/", 0) == 0)
    return Fail(ErrorCode::kUnsupported, name + " is a Git LFS pointer, not its content",
                "run git lfs pull, or keep kernels outside LFS");
  return text;
}

// The submodule that `file` would be a part of.
std::optional<std::string> SubmoduleOnTheWay(const git_tree* tree, const std::string& file) {
  for (size_t slash = file.find('/'); slash != std::string::npos; slash = file.find('/', slash + 1)) {
    GitTreeEntry entry;
    const std::string folder = file.substr(0, slash);
    if (git_tree_entry_bypath(entry.out(), tree, folder.c_str()) != 0) return std::nullopt;
    if (git_tree_entry_filemode(entry) == GIT_FILEMODE_COMMIT) return folder;
  }
  return std::nullopt;
}

Status WriteNewFile(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return Fail(ErrorCode::kIo, "write " + path.string());
  return {};
}

Result<GitDiff> DiffOf(git_repository* repository, const std::string& from, const std::string& to,
                       const std::string& file) {
  WW_ASSIGN(GitTree old_tree, TreeOf(repository, from));
  WW_ASSIGN(GitTree new_tree, TreeOf(repository, to));
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  char* path = const_cast<char*>(file.c_str());
  if (!file.empty()) {
    options.pathspec = {&path, 1};
    options.flags |= GIT_DIFF_DISABLE_PATHSPEC_MATCH;
  }
  GitDiff diff;
  if (git_diff_tree_to_tree(diff.out(), repository, old_tree, new_tree, &options) != 0)
    return FailGit("compare " + from + " with " + to);
  return diff;
}

}  // namespace

Result<Signature> Signature::Parse(std::string_view text) {
  const size_t open = text.rfind(" <"), close = text.rfind('>');
  if (open == std::string_view::npos || open == 0 || close == std::string_view::npos || close != text.size() - 1 ||
      close < open + 3 || text.find_first_of("\n\r") != std::string_view::npos)
    return Fail(ErrorCode::kUsage, "'" + std::string(text) + "' is not an author",
                "write it as \"Name <mail@example.org>\"");
  return Signature{std::string(text.substr(0, open)), std::string(text.substr(open + 2, close - open - 2))};
}

void Repository::Deleter::operator()(git_repository* repository) const { git_repository_free(repository); }
Repository::Repository(Repository&&) noexcept = default;
Repository& Repository::operator=(Repository&&) noexcept = default;
Repository::~Repository() = default;

Result<Repository> Repository::Open(const std::filesystem::path& path) {
  StartGit();
  git_repository* raw = nullptr;
  if (git_repository_open_ext(&raw, path.c_str(), 0, nullptr) != 0) {
    const git_error* error = git_error_last();
    const bool owner = error != nullptr && std::string_view(error->message).find("owned by") != std::string_view::npos;
    return FailGit("open the git repository at " + path.string(),
                   owner ? "git config --global --add safe.directory " + path.string()
                         : "run in a git repository, or name one with --repo");
  }
  Repository repository;
  repository.repository_.reset(raw);
  const char* work = git_repository_workdir(raw);
  std::filesystem::path root = work != nullptr ? work : git_repository_path(raw);
  if (!root.has_filename()) root = root.parent_path();  // without the trailing slash
  repository.root_ = root;
  return repository;
}

bool Repository::bare() const { return git_repository_is_bare(repository_.get()) == 1; }
bool Repository::shallow() const { return git_repository_is_shallow(repository_.get()) == 1; }

std::filesystem::path Repository::common_directory() const { return git_repository_commondir(repository_.get()); }

Result<std::string> Repository::Resolve(const std::string& revision) const {
  if (revision == "HEAD" && git_repository_head_unborn(repository_.get()) == 1)
    return Fail(ErrorCode::kUsage, "there is no commit yet in " + root_.string(), "make a first commit");
  GitObject object, commit;
  if (git_revparse_single(object.out(), repository_.get(), revision.c_str()) != 0 ||
      git_object_peel(commit.out(), object, GIT_OBJECT_COMMIT) != 0) {
    const char* remedy =
        shallow()
            ? "this is a shallow clone: fetch the rest (git fetch --unshallow; fetch-depth: 0 in actions/checkout)"
            : "name a commit, branch or tag that exists";
    auto failure = FailGit("'" + revision + "' is not a revision of " + root_.string(), remedy);
    failure.value().code = ErrorCode::kUsage;
    return failure;
  }
  return ToString(git_object_id(commit));
}

Result<std::string> Repository::Subject(const std::string& commit) const {
  WW_ASSIGN(GitCommit found, LookUpCommit(repository_.get(), commit));
  const char* summary = git_commit_summary(found);
  return std::string(summary != nullptr ? summary : "");
}

Result<std::vector<std::string>> Repository::TouchedPaths(const std::string& from, const std::string& to) const {
  WW_ASSIGN(GitDiff diff, DiffOf(repository_.get(), from, to, {}));
  std::vector<std::string> paths;
  for (size_t i = 0; i < git_diff_num_deltas(diff); ++i) {
    const git_diff_delta* delta = git_diff_get_delta(diff, i);
    for (const char* path : {delta->old_file.path, delta->new_file.path})
      if (path != nullptr) paths.emplace_back(path);
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

Result<std::optional<std::string>> Repository::Read(const std::string& commit, const std::string& file) const {
  WW_ASSIGN(GitTree tree, TreeOf(repository_.get(), commit));
  GitTreeEntry entry;
  const int code = git_tree_entry_bypath(entry.out(), tree, file.c_str());
  if (code == GIT_ENOTFOUND) {
    if (const auto module = SubmoduleOnTheWay(tree, file))
      return Fail(ErrorCode::kUnsupported, file + " is inside the submodule " + *module,
                  "watch the repository that the submodule comes from, or keep the kernel in this one");
    return std::optional<std::string>();
  }
  if (code != 0) return FailGit("look up " + file + " in " + commit);
  const auto mode = git_tree_entry_filemode(entry);
  if (mode == GIT_FILEMODE_LINK) return Fail(ErrorCode::kUnsupported, file + " is a symbolic link");
  if (mode != GIT_FILEMODE_BLOB && mode != GIT_FILEMODE_BLOB_EXECUTABLE)
    return Fail(ErrorCode::kUnsupported, file + " is not a file");
  WW_ASSIGN(std::string text, BlobText(repository_.get(), git_tree_entry_id(entry), file));
  return std::optional<std::string>(std::move(text));
}

Result<std::string> Repository::Content(const std::string& blob, const std::string& name) const {
  git_oid id;
  if (git_oid_fromstr(&id, blob.c_str()) != 0) return FailGit("read the id " + blob);
  return BlobText(repository_.get(), &id, name);
}

Result<std::vector<std::string>> Repository::List(const std::string& commit,
                                                  const std::function<bool(std::string_view)>& wanted) const {
  WW_ASSIGN(GitTree tree, TreeOf(repository_.get(), commit));
  struct Walk {
    const std::function<bool(std::string_view)>& wanted;
    std::vector<std::string> paths;
  } walk{wanted, {}};
  const auto visit = [](const char* folder, const git_tree_entry* entry, void* payload) -> int {
    auto& state = *static_cast<Walk*>(payload);
    const auto mode = git_tree_entry_filemode(entry);
    if (mode == GIT_FILEMODE_BLOB || mode == GIT_FILEMODE_BLOB_EXECUTABLE) {
      std::string path = std::string(folder) + git_tree_entry_name(entry);
      if (state.wanted(path)) state.paths.push_back(std::move(path));
    }
    return 0;
  };
  if (git_tree_walk(tree, GIT_TREEWALK_PRE, visit, &walk) != 0) return FailGit("list the files of " + commit);
  std::sort(walk.paths.begin(), walk.paths.end());
  return std::move(walk.paths);
}

Result<std::vector<TreeFile>> Repository::Files(const std::string& commit) const {
  WW_ASSIGN(GitTree tree, TreeOf(repository_.get(), commit));
  std::vector<TreeFile> files;
  const auto visit = [](const char* folder, const git_tree_entry* entry, void* payload) -> int {
    const auto mode = git_tree_entry_filemode(entry);
    if (mode == GIT_FILEMODE_TREE) return 0;
    const auto kind = mode == GIT_FILEMODE_LINK     ? TreeFile::Kind::kLink
                      : mode == GIT_FILEMODE_COMMIT ? TreeFile::Kind::kSubmodule
                                                    : TreeFile::Kind::kFile;
    static_cast<std::vector<TreeFile>*>(payload)->push_back(
        {std::string(folder) + git_tree_entry_name(entry), ToString(git_tree_entry_id(entry)), kind});
    return 0;
  };
  if (git_tree_walk(tree, GIT_TREEWALK_PRE, visit, &files) != 0) return FailGit("list the files of " + commit);
  return files;
}

Status Repository::Export(const std::string& commit, const std::function<bool(std::string_view)>& wanted,
                          const std::filesystem::path& destination) const {
  WW_ASSIGN(const auto files, Files(commit));
  std::error_code error;
  std::filesystem::create_directories(destination, error);
  if (error) return Fail(ErrorCode::kIo, "create " + destination.string() + ": " + error.message());
  for (const auto& file : files) {
    if (file.kind != TreeFile::Kind::kFile || !wanted(file.path)) continue;
    const auto text = Content(file.id, file.path);
    if (!text && text.error().code == ErrorCode::kUnsupported) continue;
    if (!text) return Fail(text.error());
    WW_TRY(WriteNewFile(destination / file.path, *text));
  }
  // Once for all files: one sync per file takes minutes for tens of thousands.
  const base::Fd folder(::open(destination.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid() || ::syncfs(folder.get()) != 0) return FailErrno("sync " + destination.string());
  return {};
}

Result<std::string> Repository::Diff(const std::string& from, const std::string& to, const std::string& file) const {
  WW_ASSIGN(GitDiff diff, DiffOf(repository_.get(), from, to, file));
  git_buf buffer = GIT_BUF_INIT;
  if (git_diff_to_buf(&buffer, diff, GIT_DIFF_FORMAT_PATCH) != 0) return FailGit("print the difference of " + file);
  std::string text(buffer.ptr, buffer.size);
  git_buf_dispose(&buffer);
  return text;
}

Result<std::vector<std::string>> Repository::UncommittedFiles() const {
  std::vector<std::string> paths;
  if (bare()) return paths;
  git_status_options options = GIT_STATUS_OPTIONS_INIT;
  options.flags = GIT_STATUS_OPT_EXCLUDE_SUBMODULES;
  GitHandle<git_status_list, git_status_list_free> list;
  if (git_status_list_new(list.out(), repository_.get(), &options) != 0) return FailGit("look at the working tree");
  for (size_t i = 0; i < git_status_list_entrycount(list); ++i) {
    const git_status_entry* entry = git_status_byindex(list, i);
    const git_diff_delta* delta = entry->head_to_index != nullptr ? entry->head_to_index : entry->index_to_workdir;
    if (delta != nullptr) paths.emplace_back(delta->new_file.path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::optional<std::string> Repository::Config(const std::string& key) const {
  GitConfig config;
  if (git_repository_config_snapshot(config.out(), repository_.get()) != 0) return std::nullopt;
  const char* value = nullptr;
  if (git_config_get_string(&value, config, key.c_str()) != 0) return std::nullopt;
  return std::string(value);
}

}  // namespace warpwright::repo
