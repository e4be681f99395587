// Reports the daemon's state to the service manager (systemd, Type=notify) through sd_notify(3). Does nothing without
// NOTIFY_SOCKET, or without a listener on it. Children get a separate environment (base/subprocess.h), so that none can
// send notifications in the daemon's name.
#pragma once

#include <string_view>

namespace warpwright::service {

void NotifyReady(std::string_view status);  // started, or reloaded
void NotifyReloading();                     // followed by NotifyReady
void NotifyStopping(std::string_view status);
void NotifyAlive();                        // for the watchdog: the loop is running
void NotifyStatus(std::string_view line);  // as `systemctl status` shows it

}  // namespace warpwright::service
