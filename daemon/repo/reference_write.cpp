#include "repo/reference_write.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

namespace warpwright::repo {
namespace {

namespace fs = std::filesystem;
constexpr auto kLockAge = std::chrono::seconds(3);
constexpr auto kLockTimeout = std::chrono::seconds(5);

void RemoveIfStale(const fs::path& lock) {
  std::error_code error;
  const auto written = fs::last_write_time(lock, error);
  if (!error && fs::file_time_type::clock::now() - written > kLockAge) fs::remove(lock, error);
}

// Calls `act` until it returns something other than "locked".
int RetryWhileLocked(git_repository* repository, const std::string& ref, const std::function<int()>& act) {
  const auto deadline = std::chrono::steady_clock::now() + kLockTimeout;
  for (;;) {
    const int code = act();
    if (code != GIT_ELOCKED || std::chrono::steady_clock::now() > deadline) return code;
    const fs::path common = git_repository_commondir(repository);
    RemoveIfStale(common / (ref + ".lock"));
    RemoveIfStale(common / "packed-refs.lock");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

Result<bool> MoveReference(git_repository* repository, const std::string& ref, const git_oid* to,
                           const std::string* expected, const char* why) {
  git_oid from{};
  if (expected != nullptr && !expected->empty() && git_oid_fromstr(&from, expected->c_str()) != 0)
    return FailGit("read the id " + *expected);
  const int code = RetryWhileLocked(repository, ref, [&] {
    GitReference moved;
    if (expected == nullptr) return git_reference_create(moved.out(), repository, ref.c_str(), to, 1, why);
    if (expected->empty()) return git_reference_create(moved.out(), repository, ref.c_str(), to, 0, why);
    return git_reference_create_matching(moved.out(), repository, ref.c_str(), to, 1, &from, why);
  });
  if (code == 0) return true;
  if (expected != nullptr && (code == GIT_EMODIFIED || code == GIT_EEXISTS || code == GIT_ENOTFOUND)) return false;
  return FailGit("move " + ref);
}

Status DeleteReference(git_repository* repository, const std::string& ref) {
  const int code = RetryWhileLocked(repository, ref, [&] { return git_reference_remove(repository, ref.c_str()); });
  if (code != 0 && code != GIT_ENOTFOUND) return FailGit("delete " + ref);
  return {};
}

}  // namespace warpwright::repo
