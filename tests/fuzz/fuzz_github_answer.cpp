// Answers of a forge, or of whatever stands in its place, through every decoder: no crash; an error is kCorrupt; numbers that name things are
// positive.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/utf8.h"
#include "forge/github_answers.h"
#include "forge/json_text.h"

namespace {

using namespace warpwright;

template <typename T, typename F>
void Check(const Result<T>& result, F&& holds) {
  if (result ? !holds(*result) : result.error().code != ErrorCode::kCorrupt || result.error().message.empty()) std::abort();
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
  const auto request = [](const GithubPullRequest& r) { return r.view.number > 0 && (r.view.state == "open" || r.view.state == "closed"); };
  const auto issue = [](const GithubIssue& i) { return i.number > 0; };
  const auto identified = [](const auto& value) { return value.id > 0; };
  const auto any = [](const auto&) { return true; };
  Check(DecodePullRequest(body), request);
  CheckAll(DecodePullRequests(body), request);
  Check(DecodeIssue(body), issue);
  CheckAll(DecodeIssues(body), issue);
  Check(DecodeComment(body), identified);
  CheckAll(DecodeComments(body), identified);
  CheckAll(DecodeIssueEvents(body), any);
  Check(DecodeCheckRun(body), identified);
  CheckAll(DecodeCheckRuns(body), identified);
  Check(DecodeStatus(body), identified);
  CheckAll(DecodeStatuses(body), identified);
  Check(DecodePermission(body), any);
  Check(DecodeLogin(body), [](const std::string& login) { return !login.empty(); });
  Check(DecodeAppSlug(body), [](const std::string& slug) { return !slug.empty(); });
  Check(DecodeInstallation(body), [](int64_t id) { return id > 0; });
  Check(DecodeInstallationToken(body), [](const GithubInstallationToken& token) { return !token.token.empty(); });
  (void)SaysAlreadyExists(body);

  const std::string valid = ValidUtf8(body);
  if (ValidUtf8(valid) != valid || CodePoints(Clip(valid, 10)) > 11) std::abort();
  if (body.size() < 10'000 && CodePoints(valid) > body.size()) std::abort();
  return 0;
}
