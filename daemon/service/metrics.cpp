#include "service/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

namespace warpwright::service {
namespace {

constexpr std::string_view kPrefix = "warpwright_";
constexpr size_t kMaxLabelBytes = 100;

struct Description {
  std::string_view name, label, help;
};
// The store's counters, by their name there. Others are exported as well.
constexpr std::array kCounters = {
    Description{"jobs_total", "outcome", "Jobs that ended, by outcome."},
    Description{"deliveries_total", "outcome", "Webhook deliveries that were stored, or were repeated."},
    Description{"deliveries_handled_total", "outcome", "Webhook deliveries that were handled, by outcome."},
    Description{"ref_moves_total", "repository", "Branch moves that were detected."},
    Description{"look_failures_total", "repository", "Failed polls of a remote repository."},
    Description{"entries_total", "outcome", "Changed entries that were found, by outcome."},
    Description{"events_dropped_total", "reason", "Events that were given up."},
    Description{"publish_failures_total", "repository", "Actions on a remote or a forge that failed and are retried."},
    Description{"github_requests_total", "status", "Requests to the forge, by status."},
    Description{"candidates_rejected_total", "reason", "Candidates that were not accepted, by verdict."},
    Description{"model_tokens_total", "kind", "Tokens of language models."},
};
constexpr std::array kGauges = {
    Description{"queue_depth", "", "Jobs that wait for a device."},
    Description{"devices_resting", "", "Devices that are paused after consecutive job failures."},
    Description{"jobs_running", "", "Jobs that a child process works on."},
    Description{"jobs_publishing", "", "Jobs whose result is being published to the remote and the forge."},
    Description{"jobs_waiting", "", "Jobs whose pull request is held back by a limit."},
    Description{"events_waiting", "", "Changes that are not handled yet."},
    Description{"deliveries_waiting", "", "Webhook deliveries that are not handled yet."},
    Description{"resident_bytes", "", "Resident memory of the daemon."},
    Description{"last_success_timestamp_seconds", "", "When the last job ended without an internal error."},
    Description{"github_rate_remaining", "", "Requests that the forge still allows in this hour."},
};
constexpr std::array kSpend = {
    Description{"gpu_seconds", "", "Time on GPUs that jobs took"},
    Description{"model_dollars", "", "Cost of language models, as far as it is known"},
    Description{"model_questions", "", "Questions to language models that were answered"},
    Description{"model_unknown_costs", "", "Answers of language models whose cost is not known"},
    Description{"model_gains", "", "Faster versions that were taken in jobs that asked language models"},
};

std::string EscapeLabel(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMaxLabelBytes)) {
    if (c == '\n') out += "\\n";
    else if (c == '"' || c == '\\') out += {'\\', c};
    else out += static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126 ? '?' : c;
  }
  return out;
}

std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

// Letters, digits and underscores.
std::string MetricName(std::string_view name) {
  std::string out(kPrefix);
  for (const char c : name.substr(0, 80))
    out += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c
           : (c >= 'A' && c <= 'Z')                         ? static_cast<char>(c + 32)
                                                            : '_';
  return out;
}

std::string Head(std::string_view name, std::string_view type, std::string_view help) {
  return fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}
std::string Plain(std::string_view name, std::string_view type, std::string_view help, double value) {
  return Head(name, type, help) + fmt::format("{} {}\n", name, Number(value));
}

// One line per label; the largest kMaxLabels individually, the rest summed.
std::string Labelled(std::string_view name, std::string_view label, const std::map<std::string, double>& values) {
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [key, value] : values) sorted.emplace_back(value, key);
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::map<std::string, double> shown;  // by escaped label: labels that become equal share a line
  for (size_t i = 0; i < sorted.size(); ++i)
    shown[i < kMaxLabels ? EscapeLabel(sorted[i].second) : "other"] += sorted[i].first;
  std::string out;
  for (const auto& [key, value] : shown)
    out += key.empty() && shown.size() == 1 ? fmt::format("{} {}\n", name, Number(value))
                                            : fmt::format("{}{{{}=\"{}\"}} {}\n", name, label, key, Number(value));
  return out;
}

const Description* Find(std::span<const Description> known, std::string_view name) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const Description& d) { return d.name == name; });
  return found == known.end() ? nullptr : &*found;
}

std::string Words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string RenderCounters(const DaemonSnapshot& snapshot) {
  std::map<std::string, std::pair<const Description*, std::map<std::string, double>>> metrics;
  for (const auto& [raw, values] : snapshot.counters) {
    std::string name = MetricName(raw);
    if (!name.ends_with("_total")) name += "_total";
    auto& metric = metrics[name];
    metric.first = Find(kCounters, raw);
    for (const auto& [label, value] : values) metric.second[label] += value;
  }
  std::string out;
  for (const auto& [name, metric] : metrics) {
    const auto& [known, values] = metric;
    if (values.empty()) continue;
    const std::string help =
        known != nullptr ? std::string(known->help)
                         : "Count of " + Words(name.substr(kPrefix.size(), name.size() - kPrefix.size() - 6)) + ".";
    out += Head(name, "counter", help) + Labelled(name, known != nullptr ? known->label : "kind", values);
  }
  return out;
}

std::string RenderGauges(const DaemonSnapshot& snapshot) {
  std::string out;
  std::map<std::string, double> gauges;
  for (const auto& [raw, value] : snapshot.gauges) {
    std::string name = raw;
    if (name.ends_with("_total")) name.resize(name.size() - 6);  // a counter's suffix
    gauges[name] = value;
  }
  for (const auto& [raw, value] : gauges) {
    const Description* known = Find(kGauges, raw);
    out += Plain(MetricName(raw), "gauge", known != nullptr ? std::string(known->help) : Words(raw) + ".", value);
  }
  return out;
}

// "gpu_minutes_today" and the like, in Prometheus' base units.
std::string RenderSpend(const DaemonSnapshot& snapshot) {
  std::string out;
  for (const auto& [raw, value] : snapshot.spend) {
    std::string name = raw;
    double scaled = value;
    if (const size_t at = name.find("minutes"); at != std::string::npos) {
      name.replace(at, 7, "seconds");
      scaled *= 60;
    }
    const bool total = name.ends_with("_total");
    const std::string what = name.substr(0, name.size() - 6);
    const Description* known = Find(kSpend, what);
    out +=
        Plain(MetricName(name), total ? "counter" : "gauge",
              (known != nullptr ? std::string(known->help) : Words(what)) + (total ? "." : ", today (UTC)."), scaled);
  }
  const auto total = [&](const char* name) {
    const auto found = snapshot.spend.find(name);
    return found == snapshot.spend.end() ? 0.0 : found->second;
  };
  // Of unknown costs there is no mean; a missing metric says so, and zero would not.
  if (total("model_gains_total") > 0 && total("model_unknown_costs_total") == 0)
    out += Plain("warpwright_model_dollars_per_gain", "gauge",
                 "Cost of language models for each version that was taken in the jobs that asked them.",
                 total("model_dollars_total") / total("model_gains_total"));
  return out;
}

std::string RenderRepositories(const DaemonSnapshot& snapshot) {
  if (snapshot.repositories.empty()) return {};
  std::map<std::string, double> open, today, failing;
  for (const RepositorySnapshot& repository : snapshot.repositories) {
    open[repository.name] = repository.open_pull_requests;
    today[repository.name] = repository.opened_today;
    failing[repository.name] = repository.last_error.empty() ? 0 : 1;
  }
  return Head("warpwright_pull_requests_open", "gauge", "Open pull requests by warpwright.") +
         Labelled("warpwright_pull_requests_open", "repository", open) +
         Head("warpwright_pull_requests_today", "gauge", "Pull requests that were opened today.") +
         Labelled("warpwright_pull_requests_today", "repository", today) +
         Head("warpwright_repository_failing", "gauge", "1 if the last poll of the remote failed.") +
         Labelled("warpwright_repository_failing", "repository", failing);
}

}  // namespace

void LatencyHistogram::Observe(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  const auto bucket = static_cast<size_t>(std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin());
  counts_[bucket].fetch_add(1, std::memory_order_relaxed);
  nanoseconds_.fetch_add(duration.count(), std::memory_order_relaxed);
}

std::string LatencyHistogram::Render(std::string_view name, std::string_view help) const {
  std::string out = Head(name, "histogram", help);
  uint64_t sum = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    sum += counts_[i].load(std::memory_order_relaxed);
    out += fmt::format("{}_bucket{{le=\"{}\"}} {}\n", name, i < kBounds.size() ? Number(kBounds[i]) : "+Inf", sum);
  }
  return out +
         fmt::format("{0}_sum {1}\n{0}_count {2}\n", name, Number(static_cast<double>(nanoseconds_.load()) / 1e9), sum);
}

void EndpointMetrics::Answered(std::string_view listener, int status) {
  const std::lock_guard lock(mutex_);
  ++answers_[{std::string(listener), status}];
}
void EndpointMetrics::Refused(std::string_view listener) {
  const std::lock_guard lock(mutex_);
  ++refused_[std::string(listener)];
}

std::string EndpointMetrics::Render() const {
  std::string out = webhook_seconds.Render("warpwright_webhook_duration_seconds",
                                           "From the last byte of a delivery to its response.");
  const std::lock_guard lock(mutex_);
  if (!answers_.empty()) out += Head("warpwright_http_answers_total", "counter", "HTTP requests that were answered.");
  for (const auto& [key, count] : answers_)
    out +=
        fmt::format("warpwright_http_answers_total{{listener=\"{}\",code=\"{}\"}} {}\n", key.first, key.second, count);
  out += Head("warpwright_http_connections_dropped_total", "counter",
              "Connections that were closed because the connection limit was reached.");
  for (const std::string listener : {"webhooks", "status"}) {
    const auto found = refused_.find(listener);
    out += fmt::format("warpwright_http_connections_dropped_total{{listener=\"{}\"}} {}\n", listener,
                       found == refused_.end() ? 0 : found->second);
  }
  return out;
}

std::string RenderMetrics(const DaemonSnapshot& snapshot) {
  return Head("warpwright_build_info", "gauge", "1, with the version.") +
         fmt::format("warpwright_build_info{{version=\"{}\"}} 1\n", EscapeLabel(snapshot.version)) +
         Plain("warpwright_ready", "gauge", "1 if /readyz reports ready.", snapshot.ready ? 1 : 0) +
         Plain("warpwright_experience_lines", "gauge", "Lines of measured experience.",
               static_cast<double>(snapshot.experiences)) +
         RenderGauges(snapshot) + RenderSpend(snapshot) + RenderCounters(snapshot) + RenderRepositories(snapshot);
}

}  // namespace warpwright::service
