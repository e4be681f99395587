// Tells the service manager (systemd, Type=notify) how we are, by datagrams to the socket that $NOTIFY_SOCKET names, as sd_notify(3) says.
// Without the variable every call does nothing.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace warpwright {

class Notifier {
 public:
  // Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and removes them, so that no child can speak in our name. A path, or '@' and the
  // name of an abstract socket. Called once, before there are threads.
  static Notifier FromEnvironment();
  // `socket`: as in NOTIFY_SOCKET; empty: no service manager.
  explicit Notifier(std::string socket, std::optional<std::chrono::microseconds> watchdog = {});

  bool active() const { return !socket_.empty(); }
  // A watchdog ping is due at least every half of this; none: nobody waits for one.
  std::optional<std::chrono::microseconds> watchdog() const { return watchdog_; }

  // kIo: the socket is gone. It is no reason to stop.
  Status Ready(std::string_view status) const;      // started, or reloaded
  Status Reloading() const;                          // answered by Ready
  Status Stopping(std::string_view status) const;
  Status Ping() const;                               // the loop is alive
  Status Say(std::string_view status) const;         // one line, as `systemctl status` shows it

 private:
  Status Send(std::string_view assignments) const;
  std::string socket_;
  std::optional<std::chrono::microseconds> watchdog_;
};

}  // namespace warpwright
