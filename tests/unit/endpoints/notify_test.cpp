#include "service/notify.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/fd.h"
#include "base/file.h"

namespace warpwright {
namespace {

// The service manager's side: a datagram socket at a path, or of an abstract name ("@...").
class Manager {
 public:
  explicit Manager(const std::string& name) : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (name[0] == '@' ? 0 : 1));
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }
  ~Manager() { ::unsetenv("NOTIFY_SOCKET"); }
  std::string Receive() {
    pollfd entry{fd_.get(), POLLIN, 0};
    if (::poll(&entry, 1, 1000) <= 0) return "nothing";
    char text[2048];
    const ssize_t count = ::recv(fd_.get(), text, sizeof text, 0);
    return std::string(text, count > 0 ? static_cast<size_t>(count) : 0);
  }

 private:
  base::Fd fd_;
};

TEST(Notify, SpeaksThroughPathsAndAbstractNames) {
  const auto folder = base::TemporaryDirectory::Create("ww-notify");
  ASSERT_TRUE(folder);
  for (const std::string& name :
       {(folder->path() / "notify").string(), "@warpwright-test-" + std::to_string(::getpid())}) {
    Manager manager(name);
    service::NotifyReady("watching 3 repositories");
    EXPECT_EQ(manager.Receive(), "READY=1\nSTATUS=watching 3 repositories");
    service::NotifyAlive();
    EXPECT_EQ(manager.Receive(), "WATCHDOG=1");
    service::NotifyStatus("two\nMAINPID=1\x01 lines");
    EXPECT_EQ(manager.Receive(), "STATUS=two MAINPID=1  lines");  // cannot become an assignment of its own
    service::NotifyReloading();
    EXPECT_TRUE(manager.Receive().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    service::NotifyStopping("draining");
    EXPECT_EQ(manager.Receive(), "STOPPING=1\nSTATUS=draining");
  }
}

TEST(Notify, GoesOnWhereNobodyListens) {
  ::unsetenv("NOTIFY_SOCKET");
  service::NotifyReady("x");
  for (const std::string& socket :
       {std::string("/nonexistent/socket"), std::string("relative"), "/" + std::string(200, 'x')}) {
    ::setenv("NOTIFY_SOCKET", socket.c_str(), 1);
    service::NotifyReady("x");
  }
  ::unsetenv("NOTIFY_SOCKET");
}

}  // namespace
}  // namespace warpwright
