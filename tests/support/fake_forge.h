// A forge in memory that behaves as the port promises (looks first, changes in place) and records every act that
// changed something.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "forge/forge.h"

namespace warpwright {

class FakeForge final : public forge::Forge, public forge::CommentPort {
 public:
  Result<std::optional<forge::PullRequestView>> FindPullRequest(const forge::RepositoryName& repository,
                                                                const std::string& head) override;
  Result<forge::PublishedPullRequest> PutPullRequest(const forge::RepositoryName& repository,
                                                     const forge::PullRequestRequest& request) override;
  Result<int64_t> PutCheck(const forge::RepositoryName& repository, const forge::CheckRequest& request) override;
  Result<int64_t> PutDashboard(const forge::RepositoryName& repository,
                               const forge::DashboardRequest& request) override;
  Result<forge::Permission> PermissionOf(const forge::RepositoryName& repository, const std::string& login) override;
  Result<forge::PullRequestView> ReadPullRequest(const forge::RepositoryName& repository, int64_t number) override;
  Result<int64_t> PutComment(const forge::RepositoryName& repository, const forge::CommentRequest& request) override;
  Status React(const forge::RepositoryName& repository, int64_t comment, const std::string& reaction) override;

  // Actions of users.
  forge::PullRequestView& PullRequest(int64_t number);  // throws std::out_of_range
  void Close(int64_t number, bool merged = false);

  struct Check {
    std::string repository;
    forge::CheckRequest request;
  };
  struct Comment {
    std::string repository;
    forge::CommentRequest request;
  };
  std::vector<forge::PullRequestView> pull_requests;          // of all repositories; the number is the index + 1
  std::vector<forge::PullRequestRequest> requests;            // the last one that created or changed each
  std::vector<Check> checks;                                  // one for each (name, sha, external id)
  std::map<std::string, forge::DashboardRequest> dashboards;  // by repository
  std::vector<Comment> comments;                              // one for each (issue, marker)
  std::set<std::string> reactions;                            // "comment reaction"
  std::map<std::string, forge::Permission> permissions;       // by login; others: read
  std::vector<std::string> log;  // every call that changed something: "create pull request warpwright/k", ...
  // Called before and after each verb, with its name. An Error before it is the verb's result (nothing was done), and
  // so is one after it (it was done, but the response was lost). May throw, like a crash.
  std::function<Status(const std::string& verb)> before, after;

 private:
  Status Begin(const std::string& verb) { return before ? before(verb) : Status(); }
  Status End(const std::string& verb) { return after ? after(verb) : Status(); }
};

}  // namespace warpwright
