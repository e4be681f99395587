#include "repo/poll_schedule.h"

#include <algorithm>

namespace warpwright::repo {

void PollSchedule::Set(const std::set<std::string>& names, Time now) {
  std::erase_if(entries_, [&](const auto& entry) { return names.count(entry.first) == 0; });
  for (const auto& name : names) entries_.try_emplace(name, Entry{now, options_.every});
}

bool PollSchedule::Wake(const std::string& name, Time now) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return false;
  if (found->second.busy) found->second.woken = true;
  else found->second.due = std::min(found->second.due, Soonest(found->second, now));
  return true;
}

void PollSchedule::WakeAll(Time now) {
  for (const auto& [name, entry] : entries_) Wake(name, now);
}

std::vector<std::string> PollSchedule::Due(Time now) {
  std::vector<std::pair<Time, std::string>> due;
  for (auto& [name, entry] : entries_) {
    if (entry.busy || entry.due > now) continue;
    entry.busy = true;
    entry.begun = now;
    due.emplace_back(entry.due, name);
  }
  std::sort(due.begin(), due.end());
  std::vector<std::string> names;
  for (auto& [time, name] : due) names.push_back(std::move(name));
  return names;
}

void PollSchedule::Finished(const std::string& name, PollResult outcome, Time now) {
  const auto found = entries_.find(name);
  if (found == entries_.end() || !found->second.busy) return;
  Entry& entry = found->second;
  entry.busy = false;
  entry.wait = outcome == PollResult::kChanged ? options_.every : std::min(options_.at_most, 2 * entry.wait);
  // A repository that failed is not polled again immediately, however often it is woken.
  const bool at_once = entry.woken && outcome != PollResult::kFailed;
  entry.due =
      at_once ? Soonest(entry, now) : now + Spread(entry.woken ? std::min(entry.wait, options_.every) : entry.wait);
  entry.woken = false;
}

std::optional<PollSchedule::Time> PollSchedule::NextDue() const {
  std::optional<Time> next;
  for (const auto& [name, entry] : entries_)
    if (!entry.busy && (!next || entry.due < *next)) next = entry.due;
  return next;
}

PollSchedule::Time PollSchedule::Soonest(const Entry& entry, Time now) const {
  return entry.begun ? std::max(now, *entry.begun + options_.between) : now;
}

std::chrono::milliseconds PollSchedule::Spread(std::chrono::milliseconds wait) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return wait - std::chrono::milliseconds(static_cast<int64_t>(random_ % 1000) * wait.count() / 10'000);
}

}  // namespace warpwright::repo
