// Responses of a forge, or of anything that impersonates it, through every decoder: no crash; an error is kCorrupt;
// numbers that identify things are positive.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/utf8.h"
#include "forge/github_responses.h"
#include "forge/json_text.h"

namespace {

using namespace warpwright;

template <typename T, typename F>
void Check(const Result<T>& result, F&& holds) {
  if (result ? !holds(*result) : result.error().code != ErrorCode::kCorrupt || result.error().message.empty())
    std::abort();
}
template <typename T, typename F>
void CheckAll(const Result<std::vector<T>>& result, F&& holds) {
  Check(result, [&](const std::vector<T>& list) {
    for (const T& item : list)
      if (!holds(item)) return false;
    return true;
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto request = [](const forge::GithubPullRequest& r) { return r.view.number > 0; };
  const auto issue = [](const forge::GithubIssue& i) { return i.number > 0; };
  const auto identified = [](const auto& value) { return value.id > 0; };
  const auto any = [](const auto&) { return true; };
  Check(forge::DecodePullRequest(body), request);
  CheckAll(forge::DecodePullRequests(body), request);
  Check(forge::DecodeIssue(body), issue);
  CheckAll(forge::DecodeIssues(body), issue);
  Check(forge::DecodeComment(body), identified);
  CheckAll(forge::DecodeComments(body), identified);
  CheckAll(forge::DecodeIssueEvents(body), any);
  Check(forge::DecodeCheckRun(body), identified);
  CheckAll(forge::DecodeCheckRuns(body), identified);
  Check(forge::DecodeStatus(body), identified);
  CheckAll(forge::DecodeStatuses(body), identified);
  Check(forge::DecodePermission(body), any);
  Check(forge::DecodeLogin(body), [](const std::string& login) { return !login.empty(); });
  Check(forge::DecodeAppSlug(body), [](const std::string& slug) { return !slug.empty(); });
  Check(forge::DecodeInstallation(body), [](int64_t id) { return id > 0; });
  Check(forge::DecodeInstallationToken(body),
        [](const forge::GithubInstallationToken& token) { return !token.token.empty(); });
  (void)forge::IsAlreadyExistsError(body);

  const std::string valid = base::ValidUtf8(body);
  if (base::ValidUtf8(valid) != valid || base::CodePoints(base::Clip(valid, 10)) > 11) std::abort();
  if (body.size() < 10'000 && base::CodePoints(valid) > body.size()) std::abort();
  return 0;
}
