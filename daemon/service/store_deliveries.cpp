// Webhook deliveries: stored before the response, their ids kept so that none counts twice.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "service/store_state.h"

namespace warpwright::service {
namespace {

enum DeliveryState { kNew = 0, kForForge = 1, kEnded = 2 };
constexpr int kMaxTries = 8;

}  // namespace

Result<bool> Store::RememberDelivery(const std::string& id, const std::string& event, const std::string& body) {
  State& s = *state_;
  return s.Write([&]() -> Result<bool> {
    if (s.waiting_deliveries >= s.limits.waiting_deliveries ||
        s.waiting_delivery_bytes + static_cast<int64_t>(body.size()) > s.limits.waiting_delivery_bytes)
      return Fail(ErrorCode::kEnvironment, "too many deliveries are waiting");
    const bool added = s.Do("INSERT OR IGNORE INTO deliveries(id, event, body, received) VALUES(?, ?, ?, ?)", id, event,
                            body, s.Now()) > 0;
    if (added) {
      ++s.waiting_deliveries;
      s.waiting_delivery_bytes += static_cast<int64_t>(body.size());
    }
    s.Add("deliveries_total", added ? "accepted" : "repeated", 1);
    return added;
  });
}

Result<std::vector<StoredDelivery>> Store::WaitingDeliveries(size_t limit, bool for_forge) {
  State& s = *state_;
  return s.Read([&] {
    std::vector<StoredDelivery> deliveries;
    if (s.waiting_deliveries == 0) return deliveries;
    // "state < 2" is for SQLite's planner: without it the index of waiting deliveries is not used, and every stored
    // delivery is scanned.
    SQLite::Statement rows = s.Ask(
        "SELECT id, event, body, received, attempts FROM deliveries WHERE state = ? AND state < 2 AND not_before <= ? "
        "ORDER BY received LIMIT ?",
        for_forge ? kForForge : kNew, s.Now(), static_cast<int64_t>(limit));
    while (rows.executeStep()) deliveries.push_back(rows.getColumns<StoredDelivery, 5>());
    return deliveries;
  });
}

// Within Write. False: it had already ended.
bool Store::State::EndDelivery(const std::string& id, const std::string& outcome, int64_t bytes) {
  if (Do("UPDATE deliveries SET state = 2, outcome = ?, body = '' WHERE id = ? AND state < 2", Bounded(outcome, 400),
         id) == 0)
    return false;
  --waiting_deliveries;
  waiting_delivery_bytes -= bytes;
  return true;
}

Status Store::TriageDeliveries(const std::vector<TriagedDelivery>& deliveries) {
  State& s = *state_;
  return s.Write([&] {
    std::map<std::string, double> handled;
    for (const TriagedDelivery& delivery : deliveries) {
      if (delivery.outcome.empty()) {
        s.Do("UPDATE deliveries SET state = ? WHERE id = ? AND state = ?", static_cast<int>(kForForge), delivery.id,
             static_cast<int>(kNew));
        continue;
      }
      if (s.EndDelivery(delivery.id, delivery.outcome, delivery.bytes))
        ++handled[delivery.outcome.substr(0, delivery.outcome.find(':'))];
    }
    for (const auto& [outcome, count] : handled) s.Add("deliveries_handled_total", outcome, count);
  });
}

Status Store::FinishDelivery(const std::string& id, const std::string& outcome, const std::vector<Event>& events,
                             const std::optional<HandledCommand>& command) {
  State& s = *state_;
  return s.Write([&] {
    const int64_t bytes = s.Number("SELECT length(CAST(body AS BLOB)) FROM deliveries WHERE id = ? AND state < 2", id);
    if (!s.EndDelivery(id, outcome, bytes)) return;
    for (const Event& event : events) s.InsertEvent(event);
    if (command)
      s.Do("INSERT OR REPLACE INTO commands VALUES(?, ?, ?, ?, ?)", command->repository, command->comment,
           command->verb, command->commit, s.Now());
    s.Add("deliveries_handled_total", outcome.substr(0, outcome.find(':')), 1);
  });
}

Result<bool> Store::WasHandled(const std::string& repository, int64_t comment, const std::string& verb) {
  return state_->Read([&] {
    return state_->Number(
               "SELECT (SELECT count(*) FROM commands WHERE repository = ? AND comment = ? AND verb = ?) + "
               "(SELECT count(*) FROM repositories WHERE name = ? AND comment_floor >= ?)",
               repository, comment, verb, repository, comment) > 0;
  });
}

Status Store::DeliveryFailed(const std::string& id, const std::string& error) {
  State& s = *state_;
  WW_ASSIGN(const bool given_up, s.Write([&] {
    const int64_t attempts = s.Number("SELECT attempts FROM deliveries WHERE id = ?", id);
    if (attempts + 1 >= kMaxTries) return true;
    s.Do("UPDATE deliveries SET attempts = attempts + 1, outcome = ?, not_before = ? WHERE id = ?", Bounded(error, 400),
         s.Now() + std::min<int64_t>(900'000, int64_t{1'000} << (2 * std::min<int64_t>(attempts, 8))), id);
    return false;
  }));
  return given_up ? FinishDelivery(id, "failed: " + error) : Status();
}

Status Store::QueueReply(const std::string& repository, int64_t issue, int64_t comment, const std::string& text) {
  State& s = *state_;
  const nlohmann::json body = {
      {"repository", repository}, {"issue", issue}, {"comment", comment}, {"text", Bounded(text, kMaxNoteBytes)}};
  return s.Write([&] {
    const std::string dumped = base::DumpJson(body);
    const int added = s.Do("INSERT OR IGNORE INTO deliveries(id, event, body, received, state) VALUES(?, ?, ?, ?, ?)",
                           fmt::format("answer {} {}", repository, comment), kReplyEvent, dumped, s.Now(),
                           static_cast<int>(kForForge));
    if (added == 0) return;
    ++s.waiting_deliveries;
    s.waiting_delivery_bytes += static_cast<int64_t>(dumped.size());
  });
}

void Store::Count(const std::string& name, const std::string& label, double amount) {
  (void)state_->Write([&] { state_->Add(name, label, amount); });  // a failure to count must not stop anything
}

}  // namespace warpwright::service
