#include "service/notify.h"

#include <fmt/format.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include <algorithm>
#include <string>

namespace warpwright::service {
namespace {

// One assignment per line: a line break in the text would start another one.
std::string StatusLine(std::string_view text) {
  std::string line(text.substr(0, 500));
  std::replace_if(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }, ' ');
  return "STATUS=" + line;
}

void Send(const std::string& assignments) { (void)::sd_notify(0, assignments.c_str()); }

}  // namespace

void NotifyReady(std::string_view status) { Send("READY=1\n" + StatusLine(status)); }

void NotifyReloading() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);  // which Type=notify-reload compares with the time of its signal
  Send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now.tv_sec * 1'000'000 + now.tv_nsec / 1000));
}

void NotifyStopping(std::string_view status) { Send("STOPPING=1\n" + StatusLine(status)); }
void NotifyAlive() { Send("WATCHDOG=1"); }
void NotifyStatus(std::string_view line) { Send(StatusLine(line)); }

}  // namespace warpwright::service
