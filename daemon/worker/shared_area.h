// Memory that a supervisor and its worker both map, one area for each direction, for attachments that a pipe would
// carry slowly (about 1 GB/s, compared with 10 and more). The supervisor creates both areas and passes their
// descriptors to the worker; frame.h says when they are used.
//
// An area is a sealed memory file of kBytes addresses and no more memory than was written to. It cannot shrink, so that
// no reader can be killed by it. The peer may change it at any time: the supervisor copies the bytes and reads only the
// copies. The worker, which trusts its supervisor, reads them in place: they stay unchanged until it has replied, since
// one call is in flight at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/result.h"

namespace warpwright::worker {

class SharedArea {
 public:
  enum class Use { kWrite, kReadCopies, kReadInPlace };
  static constexpr uint64_t kBytes = (8ull << 30) + (1u << 20);  // what a frame may hold, including its gaps
  static constexpr uint64_t kAlignment = 64;

  // kEnvironment if the system has no such files.
  static Result<SharedArea> Create(Use use);
  // nullopt if the descriptor is not one of an area.
  static std::optional<SharedArea> Adopt(int descriptor, Use use);

  int descriptor() const { return file_.get(); }
  Status Put(uint64_t at, std::span<const std::byte> bytes);
  // kCorrupt: it was never written, or is out of bounds.
  Result<base::Bytes> Get(uint64_t at, uint64_t size);
  // Returns memory to the system after a frame that took more than that. What was returned in place is then invalid. To
  // fault pages in again takes longer than to copy what they hold, so that much is kept.
  static uint64_t KeptBytes();
  void Trim(uint64_t kept = KeptBytes());

 private:
  struct Mapping;
  SharedArea(base::Fd file, Use use) : file_(std::move(file)), use_(use) {}
  Status Map(uint64_t bytes);

  base::Fd file_;
  Use use_ = Use::kWrite;
  std::shared_ptr<Mapping> mapping_;  // of the beginning
};

// How a worker learns of its areas, and reports in its hello that it took them: a worker reached through ssh does not,
// and everything goes through the pipe.
inline constexpr const char* kAreasVariable =
    "WARPWRIGHT_AREAS";  // two descriptors: the one that it reads, the one that it writes
inline constexpr std::string_view kSharesMemory = "shares memory\n";

struct WorkerAreas {
  SharedArea reads, writes;
};
std::optional<WorkerAreas> AdoptAreas();

}  // namespace warpwright::worker
