#include "http/connections.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
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

std::string SenderOf(const sockaddr* address) {
  const auto bytes = [](const void* from, size_t count) { return std::string(static_cast<const char*>(from), count); };
  if (address == nullptr) return {};
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    return bytes(&v4.sin_addr, 4);
  }
  if (address->sa_family != AF_INET6) return {};
  sockaddr_in6 v6{};
  std::memcpy(&v6, address, sizeof v6);
  const auto* raw = v6.sin6_addr.s6_addr;
  return IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) ? bytes(raw + 12, 4) : bytes(raw, 8);
}

Connections::Connections(ConnectionLimits limits, std::function<void()> made_room)
    : limits_(limits),
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

void Connections::Opened(int fd, const std::string& sender, Time deadline) {
  const std::lock_guard lock(mutex_);
  if (open_.empty()) Wake();  // the watcher does not use the clock while there are no connections
  Sender& same = senders_[sender];
  ++same.connections;
  ++alive_;
  open_[fd] = {.sender = sender, .since = steady_clock::now(), .deadline = deadline};
  if (limits_.connections_per_address > 0 && same.connections > limits_.connections_per_address) MakeRoom(fd, &sender);
  if (alive_ > limits_.connections) MakeRoom(fd, nullptr);
}

// Drops the oldest unfinished request, of that sender if one is given; the newcomer if there is no other.
void Connections::MakeRoom(int newcomer, const std::string* sender) {
  auto oldest = open_.end();
  for (auto it = open_.begin(); it != open_.end(); ++it) {
    const Connection& connection = it->second;
    const bool unfinished = connection.phase == Phase::kWaiting || connection.phase == Phase::kReceiving;
    if (it->first == newcomer || connection.dropped || !unfinished) continue;
    if (sender != nullptr && connection.sender != *sender) continue;
    if (oldest == open_.end() || connection.since < oldest->second.since) oldest = it;
  }
  if (oldest == open_.end()) oldest = open_.find(newcomer);
  if (oldest->second.dropped) return;
  made_room_();  // first, so that whoever finds the connection closed finds it counted
  Drop(oldest->first, oldest->second);
}

// What the connection took of the limits.
void Connections::Release(Connection& connection) {
  body_bytes_ -= connection.body_bytes;
  if (connection.phase == Phase::kHandled) handled_bytes_ -= connection.body_bytes;
  if (const auto same = senders_.find(connection.sender); same != senders_.end()) {
    same->second.body_bytes -= connection.body_bytes;
    if (--same->second.connections == 0) senders_.erase(same);
  }
  connection.body_bytes = 0;
  --alive_;
}

void Connections::Drop(int fd, Connection& connection) {
  ::shutdown(fd, SHUT_RDWR);
  connection.dropped = true;
  Release(connection);
}

void Connections::Enter(int fd, Phase phase, Time deadline) {
  const std::lock_guard lock(mutex_);
  Connection& connection = open_.at(fd);
  if (connection.phase == Phase::kHandled) handled_bytes_ -= connection.body_bytes;
  if (phase == Phase::kHandled) handled_bytes_ += connection.body_bytes;
  connection.phase = phase;
  connection.since = steady_clock::now();
  connection.deadline = deadline;
  if (phase == Phase::kWaiting) answered_.notify_all();
}

void Connections::Received(int fd, size_t bytes) {
  const std::lock_guard lock(mutex_);
  Connection& connection = open_.at(fd);
  if (connection.dropped) return;
  connection.body_bytes += bytes;
  body_bytes_ += bytes;
  const size_t of_sender = senders_[connection.sender].body_bytes += bytes;
  if (limits_.body_bytes_per_address > 0 && of_sender > limits_.body_bytes_per_address)
    MakeRoom(fd, &connection.sender);
  while (body_bytes_ > limits_.body_bytes && !connection.dropped) MakeRoom(fd, nullptr);
}

void Connections::Answered(int fd) {
  const std::lock_guard lock(mutex_);
  Connection& connection = open_.at(fd);
  if (connection.dropped) return;
  body_bytes_ -= connection.body_bytes;
  if (connection.phase == Phase::kHandled) handled_bytes_ -= connection.body_bytes;
  senders_[connection.sender].body_bytes -= connection.body_bytes;
  connection.body_bytes = 0;
}

bool Connections::HasRoomFor(size_t body_bytes) {
  const std::lock_guard lock(mutex_);
  return handled_bytes_ + body_bytes <= limits_.body_bytes;
}

void Connections::Linger(int fd) {
  const std::lock_guard lock(mutex_);
  open_.at(fd).linger = true;
}

void Connections::Closed(int fd) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(fd);
  if (found == open_.end()) return;
  Connection connection = std::move(found->second);
  open_.erase(found);
  answered_.notify_all();
  if (connection.dropped) return;
  Release(connection);
  if ((!connection.linger && !HasUnread(fd)) || alive_ + lingering_count_ >= limits_.connections) return;
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

bool Connections::IsTooSlow(const Connection& connection, Time now) const {
  const auto time = now - connection.since;
  if (connection.phase != Phase::kReceiving || time < limits_.rate_grace) return false;
  return static_cast<double>(connection.body_bytes) <
         std::chrono::duration<double>(time).count() * static_cast<double>(limits_.least_bytes_per_second);
}

void Connections::DropLate(Time now) {
  for (auto& [fd, connection] : open_)
    if (!connection.dropped && connection.phase != Phase::kHandled &&
        (connection.deadline <= now || IsTooSlow(connection, now)))
      Drop(fd, connection);
}

void Connections::Watch() {
  ::prctl(PR_SET_NAME, "http deadlines");
  std::vector<LingeringClose> lingering;
  std::vector<pollfd> watched;
  while (true) {
    watched.assign(1, {wake_.get(), POLLIN, 0});
    for (const LingeringClose& connection : lingering) watched.push_back({connection.fd.get(), POLLIN, 0});
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
    const auto over = std::remove_if(lingering.begin(), lingering.end(), [&](LingeringClose& connection) {
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
