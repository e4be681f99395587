// Preloaded into a daemon (LD_PRELOAD), it lets the date pass faster: by the factor WW_CLOCK_FACTOR since the process
// began. What waits is not changed: the monotonic clock goes on as it is. So what a store keeps for days is seen to
// come and go within minutes.
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

#include <cstdint>
#include <cstdlib>

namespace {

using Clock = int (*)(clockid_t, timespec*);
constexpr int64_t kSecond = 1'000'000'000;

int64_t Real() {
  static const auto real = reinterpret_cast<Clock>(::dlsym(RTLD_NEXT, "clock_gettime"));
  timespec now{};
  real(CLOCK_REALTIME, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

int64_t Fast() {
  static const int64_t begin = Real();
  static const char* const text = std::getenv("WW_CLOCK_FACTOR");
  static const int64_t factor = text == nullptr ? 1 : std::atoll(text);
  return begin + (Real() - begin) * factor;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (clock != CLOCK_REALTIME) {
    static const auto real = reinterpret_cast<Clock>(::dlsym(RTLD_NEXT, "clock_gettime"));
    return real(clock, time);
  }
  const int64_t now = Fast();
  *time = {.tv_sec = now / kSecond, .tv_nsec = now % kSecond};
  return 0;
}

extern "C" int gettimeofday(timeval* time, void*) noexcept {
  const int64_t now = Fast();
  *time = {.tv_sec = now / kSecond, .tv_usec = now % kSecond / 1000};
  return 0;
}

extern "C" time_t time(time_t* out) noexcept {
  const time_t now = Fast() / kSecond;
  if (out != nullptr) *out = now;
  return now;
}
