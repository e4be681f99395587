#include "repo/repository.h"

#include <git2.h>

#include <algorithm>

#include "base/file.h"

namespace warpwright {
namespace {

constexpr size_t kMaxBlobBytes = 16u << 20;

// git_X* with git_X_free.
template <typename T, void (*Free)(T*)>
struct Handle {
  T* value = nullptr;
  Handle() = default;
  Handle(Handle&& other) noexcept : value(std::exchange(other.value, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(value, other.value);
    return *this;
  }
  ~Handle() {
    if (value != nullptr) Free(value);
  }
  T** out() { return &value; }
  operator T*() const { return value; }
};
using Object = Handle<git_object, git_object_free>;
using Commit = Handle<git_commit, git_commit_free>;
using Tree = Handle<git_tree, git_tree_free>;
using TreeEntry = Handle<git_tree_entry, git_tree_entry_free>;
using Blob = Handle<git_blob, git_blob_free>;
using DiffHandle = Handle<git_diff, git_diff_free>;
using Reference = Handle<git_reference, git_reference_free>;
using ConfigHandle = Handle<git_config, git_config_free>;
using SignatureHandle = Handle<git_signature, git_signature_free>;

struct LibraryScope {
  LibraryScope() { git_libgit2_init(); }
  ~LibraryScope() { git_libgit2_shutdown(); }
};

tl::unexpected<Error> FailGit(const std::string& what, std::string remedy = {}) {
  const git_error* error = git_error_last();
  return Fail(ErrorCode::kIo, what + ": " + (error != nullptr ? error->message : "unknown error"), std::move(remedy));
}

std::string ToString(const git_oid* id) {
  char text[GIT_OID_HEXSZ + 1];
  return git_oid_tostr(text, sizeof text, id);
}

Result<Commit> LookUpCommit(git_repository* repository, const std::string& id) {
  git_oid oid;
  Commit commit;
  if (git_oid_fromstr(&oid, id.c_str()) != 0 || git_commit_lookup(commit.out(), repository, &oid) != 0)
    return FailGit("look up commit " + id);
  return commit;
}

Result<Tree> TreeOf(git_repository* repository, const std::string& commit_id) {
  WW_ASSIGN(Commit commit, LookUpCommit(repository, commit_id));
  Tree tree;
  if (git_commit_tree(tree.out(), commit) != 0) return FailGit("read the tree of " + commit_id);
  return tree;
}

Result<std::string> BlobText(git_repository* repository, const git_oid* id, const std::string& name) {
  Blob blob;
  if (git_blob_lookup(blob.out(), repository, id) != 0) return FailGit("read " + name);
  const auto size = static_cast<size_t>(git_blob_rawsize(blob));
  if (size > kMaxBlobBytes) return Fail(ErrorCode::kUnsupported, name + " is larger than 16 MiB");
  std::string text(static_cast<const char*>(git_blob_rawcontent(blob)), size);
  if (text.rfind("version https://git-lfs.github.com/spec/", 0) == 0)
    return Fail(ErrorCode::kUnsupported, name + " is a Git LFS pointer, not its content", "run git lfs pull, or keep kernels outside LFS");
  return text;
}

Result<DiffHandle> DiffOf(git_repository* repository, const std::string& from, const std::string& to, const std::string& file) {
  WW_ASSIGN(Tree old_tree, TreeOf(repository, from));
  WW_ASSIGN(Tree new_tree, TreeOf(repository, to));
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  char* path = const_cast<char*>(file.c_str());
  if (!file.empty()) {
    options.pathspec = {&path, 1};
    options.flags |= GIT_DIFF_DISABLE_PATHSPEC_MATCH;
  }
  DiffHandle diff;
  if (git_diff_tree_to_tree(diff.out(), repository, old_tree, new_tree, &options) != 0)
    return FailGit("compare " + from + " with " + to);
  return diff;
}

}  // namespace

Result<Signature> Signature::Parse(std::string_view text) {
  const size_t open = text.rfind(" <"), close = text.rfind('>');
  if (open == std::string_view::npos || open == 0 || close == std::string_view::npos || close != text.size() - 1 || close < open + 3 ||
      text.find_first_of("\n\r") != std::string_view::npos)
    return Fail(ErrorCode::kUsage, "'" + std::string(text) + "' is not an author", "write it as \"Name <mail@example.org>\"");
  return Signature{std::string(text.substr(0, open)), std::string(text.substr(open + 2, close - open - 2))};
}

void Repository::Deleter::operator()(git_repository* repository) const { git_repository_free(repository); }
Repository::Repository(Repository&&) noexcept = default;
Repository& Repository::operator=(Repository&&) noexcept = default;
Repository::~Repository() = default;

Result<Repository> Repository::Open(const std::filesystem::path& path) {
  static LibraryScope library;
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

std::filesystem::path Repository::common_directory() const {
  return git_repository_commondir(repository_.get());
}

Result<std::string> Repository::Resolve(const std::string& revision) const {
  Object object, commit;
  if (git_revparse_single(object.out(), repository_.get(), revision.c_str()) != 0 ||
      git_object_peel(commit.out(), object, GIT_OBJECT_COMMIT) != 0) {
    auto failure = FailGit("'" + revision + "' is not a revision of " + root_.string(),
                           revision == "HEAD" ? "make a first commit" : "name a commit, branch or tag that exists");
    failure.value().code = ErrorCode::kUsage;
    return failure;
  }
  return ToString(git_object_id(commit));
}

Result<std::vector<std::string>> Repository::ChangedFiles(const std::string& from, const std::string& to) const {
  WW_ASSIGN(DiffHandle diff, DiffOf(repository_.get(), from, to, {}));
  git_diff_find_options find = GIT_DIFF_FIND_OPTIONS_INIT;
  find.flags = GIT_DIFF_FIND_RENAMES;
  if (git_diff_find_similar(diff, &find) != 0) return FailGit("find renamed files");
  std::vector<std::string> paths;
  for (size_t i = 0; i < git_diff_num_deltas(diff); ++i) paths.emplace_back(git_diff_get_delta(diff, i)->new_file.path);
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<std::optional<std::string>> Repository::Read(const std::string& commit, const std::string& file) const {
  WW_ASSIGN(Tree tree, TreeOf(repository_.get(), commit));
  TreeEntry entry;
  const int code = git_tree_entry_bypath(entry.out(), tree, file.c_str());
  if (code == GIT_ENOTFOUND) return std::optional<std::string>();
  if (code != 0) return FailGit("look up " + file + " in " + commit);
  const auto mode = git_tree_entry_filemode(entry);
  if (mode == GIT_FILEMODE_LINK) return Fail(ErrorCode::kUnsupported, file + " is a symbolic link");
  if (mode != GIT_FILEMODE_BLOB && mode != GIT_FILEMODE_BLOB_EXECUTABLE)
    return Fail(ErrorCode::kUnsupported, file + " is not a file");
  WW_ASSIGN(std::string text, BlobText(repository_.get(), git_tree_entry_id(entry), file));
  return std::optional<std::string>(std::move(text));
}

Result<std::vector<std::string>> Repository::List(const std::string& commit,
                                                  const std::function<bool(std::string_view)>& wanted) const {
  WW_ASSIGN(Tree tree, TreeOf(repository_.get(), commit));
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

Status Repository::Export(const std::string& commit, const std::function<bool(std::string_view)>& wanted,
                          const std::filesystem::path& destination) const {
  WW_ASSIGN(const auto paths, List(commit, wanted));
  std::error_code error;
  std::filesystem::create_directories(destination, error);
  if (error) return Fail(ErrorCode::kIo, "create " + destination.string() + ": " + error.message());
  for (const auto& path : paths) {
    WW_ASSIGN(const auto text, Read(commit, path));
    WW_TRY(WriteFileAtomically(destination / path, text.value_or("")));
  }
  return {};
}

Result<std::string> Repository::Diff(const std::string& from, const std::string& to, const std::string& file) const {
  WW_ASSIGN(DiffHandle diff, DiffOf(repository_.get(), from, to, file));
  git_buf buffer = GIT_BUF_INIT;
  if (git_diff_to_buf(&buffer, diff, GIT_DIFF_FORMAT_PATCH) != 0) return FailGit("print the difference of " + file);
  std::string text(buffer.ptr, buffer.size);
  git_buf_dispose(&buffer);
  return text;
}

std::optional<std::string> Repository::Config(const std::string& key) const {
  ConfigHandle config;
  if (git_repository_config_snapshot(config.out(), repository_.get()) != 0) return std::nullopt;
  const char* value = nullptr;
  if (git_config_get_string(&value, config, key.c_str()) != 0) return std::nullopt;
  return std::string(value);
}

Result<PublishedBranch> Repository::Publish(const BranchCommit& request) {
  git_repository* repository = repository_.get();
  const std::string ref = "refs/heads/" + request.branch;
  int valid = 0;
  if (request.branch.rfind("warpwright/", 0) != 0 || git_reference_name_is_valid(&valid, ref.c_str()) != 0 || valid == 0)
    return Fail(ErrorCode::kUsage, "'" + request.branch + "' is not a branch below warpwright/");

  WW_ASSIGN(Commit base, LookUpCommit(repository, request.base));
  WW_ASSIGN(Tree base_tree, TreeOf(repository, request.base));
  TreeEntry old_entry;
  if (git_tree_entry_bypath(old_entry.out(), base_tree, request.file.c_str()) != 0)
    return FailGit("find " + request.file + " in " + request.base);
  git_tree_update update{};
  update.action = GIT_TREE_UPDATE_UPSERT;
  update.filemode = git_tree_entry_filemode(old_entry);
  update.path = request.file.c_str();
  if (git_blob_create_from_buffer(&update.id, repository, request.content.data(), request.content.size()) != 0)
    return FailGit("write the new content of " + request.file);
  git_oid tree_id;
  if (git_tree_create_updated(&tree_id, repository, base_tree, 1, &update) != 0) return FailGit("write a tree");

  Reference existing;
  Commit tip;
  if (git_reference_lookup(existing.out(), repository, ref.c_str()) == 0) {
    if (git_branch_is_checked_out(existing) == 1)
      return Fail(ErrorCode::kUnsupported, request.branch + " is checked out", "check out another branch first");
    if (git_commit_lookup(tip.out(), repository, git_reference_target(existing)) != 0) return FailGit("read the tip of " + request.branch);
    const std::string message = git_commit_message(tip);
    if (message.find(kTrailer) == std::string::npos)
      return Fail(ErrorCode::kUnsupported, "the tip of " + request.branch + " (" + ToString(git_commit_id(tip)).substr(0, 10) + ") is not ours",
                  "rename or delete that branch, or merge it");
    if (git_oid_equal(git_commit_tree_id(tip), &tree_id) != 0 && git_commit_parentcount(tip) == 1 &&
        git_oid_equal(git_commit_parent_id(tip, 0), git_commit_id(base)) != 0 && message == request.message)
      return PublishedBranch{request.branch, ToString(git_commit_id(tip)), false};
  }

  Tree tree;
  SignatureHandle author;
  if (git_tree_lookup(tree.out(), repository, &tree_id) != 0) return FailGit("read the new tree");
  if (git_signature_now(author.out(), request.author.name.c_str(), request.author.email.c_str()) != 0)
    return FailGit("use the author " + request.author.name);
  const git_commit* parents[] = {base};
  git_oid commit_id;
  if (git_commit_create(&commit_id, repository, nullptr, author, author, "UTF-8", request.message.c_str(), tree, 1, parents) != 0)
    return FailGit("write a commit");
  Reference moved;
  // The move fails if somebody else moved the branch meanwhile.
  const int code = existing.value == nullptr
                       ? git_reference_create(moved.out(), repository, ref.c_str(), &commit_id, 0, "warpwright: optimize")
                       : git_reference_create_matching(moved.out(), repository, ref.c_str(), &commit_id, 1,
                                                       git_reference_target(existing), "warpwright: optimize");
  if (code != 0) return FailGit("move " + request.branch);
  return PublishedBranch{request.branch, ToString(&commit_id), true};
}

}  // namespace warpwright
