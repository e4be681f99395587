#include "service/notify.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

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
  }
  std::string Receive() {
    pollfd entry{fd_.get(), POLLIN, 0};
    if (::poll(&entry, 1, 1000) <= 0) return "nothing";
    char text[2048];
    const ssize_t count = ::recv(fd_.get(), text, sizeof text, 0);
    return std::string(text, count > 0 ? static_cast<size_t>(count) : 0);
  }

 private:
  Fd fd_;
};

TEST(Notify, SpeaksThroughPathsAndAbstractNames) {
  const auto folder = TemporaryDirectory::Create("ww-notify");
  ASSERT_TRUE(folder);
  for (const std::string& name : {(folder->path() / "notify").string(), "@warpwright-test-" + std::to_string(::getpid())}) {
    Manager manager(name);
    const Notifier notifier(name);
    EXPECT_TRUE(notifier.active());
    EXPECT_TRUE(notifier.Ready("watching 3 repositories"));
    EXPECT_EQ(manager.Receive(), "READY=1\nSTATUS=watching 3 repositories");
    EXPECT_TRUE(notifier.Ping());
    EXPECT_EQ(manager.Receive(), "WATCHDOG=1");
    EXPECT_TRUE(notifier.Say("two\nMAINPID=1\x01 lines"));
    EXPECT_EQ(manager.Receive(), "STATUS=two MAINPID=1  lines");  // cannot become an assignment of its own
    EXPECT_TRUE(notifier.Reloading());
    EXPECT_TRUE(manager.Receive().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    EXPECT_TRUE(notifier.Stopping("draining"));
    EXPECT_EQ(manager.Receive(), "STOPPING=1\nSTATUS=draining");
  }
}

TEST(Notify, SaysNothingWhereNobodyListens) {
  const Notifier nobody("");
  EXPECT_FALSE(nobody.active());
  EXPECT_TRUE(nobody.Ready("x"));
  EXPECT_FALSE(Notifier("/nonexistent/socket").Ready("x"));
  EXPECT_FALSE(Notifier("relative").Ping());
  EXPECT_FALSE(Notifier("/" + std::string(200, 'x')).Ping());
}

struct WatchdogRow {
  const char* usec;
  std::string pid;
  int64_t expected;  // 0: none
};
TEST(Notify, ReadsAndTakesItsEnvironment) {
  for (const WatchdogRow& row : {WatchdogRow{"30000000", std::to_string(::getpid()), 30'000'000}, {"30000000", "", 30'000'000}, {"30000000", "1", 0}, {"", "", 0}, {"0", "", 0}, {"-5", "", 0}, {"12x", "", 0}}) {
    ::setenv("NOTIFY_SOCKET", "@x", 1);
    ::setenv("WATCHDOG_USEC", row.usec, 1);
    if (!row.pid.empty()) ::setenv("WATCHDOG_PID", row.pid.c_str(), 1);
    const Notifier notifier = Notifier::FromEnvironment();
    EXPECT_TRUE(notifier.active());
    EXPECT_EQ(notifier.watchdog() ? notifier.watchdog()->count() : 0, row.expected) << row.usec << " " << row.pid;
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) EXPECT_EQ(std::getenv(name), nullptr) << name;
  }
  EXPECT_FALSE(Notifier::FromEnvironment().active());
}

}  // namespace
}  // namespace warpwright
