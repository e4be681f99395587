#include "http/connections.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <utility>

namespace warpwright::http {
namespace {

using std::chrono::steady_clock;

constexpr int kTickMs = 250;  // how late a missed deadline may be detected
constexpr auto kLingerTime = std::chrono::milliseconds(1'000);
constexpr size_t kLingerBytes = 1u << 20;

bool HasUnread(int fd) {
  int count = 0;
  return ::ioctl(fd, FIONREAD, &count) == 0 && count > 0;
}

// False: it is over. The peer has closed its end, or sends more than is worth reading.
bool Drain(int fd, size_t& drained) {
  std::array<char, 16384> buffer;
  while (drained < kLingerBytes) {
    const ssize_t count = ::recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 && errno == EAGAIN;
    drained += static_cast<size_t>(count);
  }
  return false;
}

}  // namespace

Connections::Connections(size_t most, std::function<void()> made_room)
    : most_(most),
      made_room_(std::move(made_room)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      watcher_([this] { Watch(); }) {}

Connections::~Connections() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  Wake();
  watcher_.join();
}

void Connections::Wake() {
  const uint64_t one = 1;
  while (::write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void Connections::Opened(int fd, Time deadline) {
  const std::lock_guard lock(mutex_);
  if (open_.empty()) Wake();  // the watcher does not use the clock while there are no connections
  open_[fd] = {.deadline = deadline};
  if (++alive_ > most_) MakeRoom(fd);
}

void Connections::MakeRoom(int newcomer) {
  auto oldest = open_.end();
  for (auto it = open_.begin(); it != open_.end(); ++it) {
    const Connection& connection = it->second;
    if (it->first == newcomer || connection.dropped || connection.phase != Phase::kWaiting) continue;
    if (oldest == open_.end() || connection.deadline < oldest->second.deadline) oldest = it;
  }
  if (oldest == open_.end()) oldest = open_.find(newcomer);  // all others have a request
  Drop(oldest->first, oldest->second);
  made_room_();
}

void Connections::Drop(int fd, Connection& connection) {
  ::shutdown(fd, SHUT_RDWR);
  connection.dropped = true;
  --alive_;
}

void Connections::Enter(int fd, Phase phase, Time deadline) {
  const std::lock_guard lock(mutex_);
  Connection& connection = open_.at(fd);
  connection.phase = phase;
  connection.deadline = deadline;
  if (phase == Phase::kWaiting) answered_.notify_all();
}

void Connections::Linger(int fd) {
  const std::lock_guard lock(mutex_);
  open_.at(fd).linger = true;
}

void Connections::Closed(int fd) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(fd);
  if (found == open_.end()) return;
  const Connection connection = found->second;
  open_.erase(found);
  answered_.notify_all();
  if (connection.dropped) return;
  --alive_;
  if ((!connection.linger && !HasUnread(fd)) || alive_ + lingering_count_ >= most_) return;
  // The kernel keeps the connection as long as one descriptor for it is open.
  base::Fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy.valid()) return;
  ::shutdown(copy.get(), SHUT_WR);
  to_linger_.push_back({.fd = std::move(copy), .deadline = steady_clock::now() + kLingerTime});
  ++lingering_count_;
  Wake();
}

void Connections::CloseWaiting() {
  const std::lock_guard lock(mutex_);
  for (auto& [fd, connection] : open_)
    if (connection.phase == Phase::kWaiting && !connection.dropped) Drop(fd, connection);
}

void Connections::WaitUntilAllAnswered() {
  std::unique_lock lock(mutex_);
  answered_.wait(lock, [this] {
    return std::all_of(open_.begin(), open_.end(),
                       [](const auto& entry) { return entry.second.phase == Phase::kWaiting; });
  });
}

void Connections::DropLate(Time now) {
  for (auto& [fd, connection] : open_)
    if (!connection.dropped && connection.phase != Phase::kHandled && connection.deadline <= now) Drop(fd, connection);
}

void Connections::Watch() {
  ::prctl(PR_SET_NAME, "http deadlines");
  std::vector<Lingering> lingering;
  std::vector<pollfd> watched;
  while (true) {
    watched.assign(1, {wake_.get(), POLLIN, 0});
    for (const Lingering& connection : lingering) watched.push_back({connection.fd.get(), POLLIN, 0});
    bool idle = lingering.empty();
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return;
      idle = idle && open_.empty() && to_linger_.empty();
    }
    (void)::poll(watched.data(), watched.size(), idle ? -1 : kTickMs);
    uint64_t count = 0;
    if (watched[0].revents != 0) (void)!::read(wake_.get(), &count, sizeof count);
    const Time now = steady_clock::now();
    const auto over = std::remove_if(lingering.begin(), lingering.end(), [&](Lingering& connection) {
      return connection.deadline <= now || !Drain(connection.fd.get(), connection.drained);
    });
    const std::lock_guard lock(mutex_);
    lingering_count_ -= static_cast<size_t>(std::distance(over, lingering.end()));
    lingering.erase(over, lingering.end());
    std::move(to_linger_.begin(), to_linger_.end(), std::back_inserter(lingering));
    to_linger_.clear();
    DropLate(now);
  }
}

}  // namespace warpwright::http
