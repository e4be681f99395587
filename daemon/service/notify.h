// Tells the service manager (systemd, Type=notify) how we are, through sd_notify(3). Without NOTIFY_SOCKET, or where
// nobody listens there, nothing happens. Children get an environment of their own (base/subprocess.h), so that none can
// speak in our name.
#pragma once

#include <string_view>

namespace warpwright::service {

void NotifyReady(std::string_view status);  // started, or reloaded
void NotifyReloading();                     // followed by NotifyReady
void NotifyStopping(std::string_view status);
void NotifyAlive();                        // for the watchdog: the loop turns
void NotifyStatus(std::string_view line);  // as `systemctl status` shows it

}  // namespace warpwright::service
