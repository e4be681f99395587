#include "worker/shared_area.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "base/page_reuse.h"
#include "base/parallel.h"

namespace warpwright::worker {
namespace {

constexpr uint64_t kMinMappedBytes = 64u << 20;
constexpr uint64_t kUncheckedBytes =
    1ull << 30;  // a peer's claim suffices up to here: beyond, it must have spent the memory itself
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

bool Fits(uint64_t at, uint64_t size) { return at <= SharedArea::kBytes && size <= SharedArea::kBytes - at; }

}  // namespace

struct SharedArea::Mapping {
  std::byte* base = nullptr;
  uint64_t bytes = 0;
  Mapping(std::byte* b, uint64_t n) : base(b), bytes(n) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { ::munmap(base, bytes); }
};

Result<SharedArea> SharedArea::Create(Use use) {
  base::Fd file(::memfd_create("warpwright-frames", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid() || ::ftruncate(file.get(), static_cast<off_t>(kBytes)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0)
    return Fail(ErrorCode::kEnvironment, "no memory can be shared with the worker");
  return SharedArea(std::move(file), use);
}

std::optional<SharedArea> SharedArea::Adopt(int descriptor, Use use) {
  struct stat info{};
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals || ::fstat(descriptor, &info) != 0 ||
      info.st_size != static_cast<off_t>(kBytes))
    return std::nullopt;
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return SharedArea(base::Fd(descriptor), use);
}

// Maps more than requested, so that frames that grow step by step do not map each time.
Status SharedArea::Map(uint64_t bytes) {
  if (mapping_ && mapping_->bytes >= bytes) return {};
  const uint64_t wanted = std::min(kBytes, std::max(kMinMappedBytes, std::bit_ceil(bytes)));
  const int protection = use_ == Use::kWrite ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const base = ::mmap(nullptr, wanted, protection, MAP_SHARED, file_.get(), 0);
  if (base == MAP_FAILED) return FailErrno("map the memory shared with the worker");
  mapping_ = std::make_shared<Mapping>(static_cast<std::byte*>(base), wanted);
  return {};
}

Status SharedArea::Put(uint64_t at, std::span<const std::byte> bytes) {
  if (!Fits(at, bytes.size())) return Fail(ErrorCode::kCorrupt, "more than an area holds");
  WW_TRY(Map(at + bytes.size()));
  base::ParallelCopy(mapping_->base + at, bytes);
  return {};
}

Result<base::Bytes> SharedArea::Get(uint64_t at, uint64_t size) {
  if (!Fits(at, size)) return Fail(ErrorCode::kCorrupt, "malformed frame: an attachment outside the shared memory");
  struct stat info{};
  if (at + size > kUncheckedBytes &&
      (::fstat(file_.get(), &info) != 0 || static_cast<uint64_t>(info.st_blocks) * 512 < at + size))
    return Fail(ErrorCode::kCorrupt, "malformed frame: an attachment beyond what was written to the shared memory");
  WW_TRY(Map(at + size));
  const std::span<const std::byte> there(mapping_->base + at, size);
  if (use_ == Use::kReadInPlace) return base::Bytes(mapping_, there);
  auto copy = std::make_shared_for_overwrite<std::byte[]>(size);
  base::ParallelCopy(copy.get(), there);
  const std::byte* const begin = copy.get();
  return base::Bytes(std::move(copy), {begin, size});
}

// Four areas are in use, two for each of two workers.
uint64_t SharedArea::KeptBytes() { return std::max<uint64_t>(512u << 20, base::PhysicalMemoryBytes() / 32); }

void SharedArea::Trim(uint64_t kept) {
  struct stat info{};
  if (::fstat(file_.get(), &info) != 0 || static_cast<uint64_t>(info.st_blocks) * 512 <= kept) return;
  ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(kBytes));
}

std::optional<WorkerAreas> AdoptAreas() {
  const char* text = std::getenv(kAreasVariable);
  int reads = -1, writes = -1;
  if (text == nullptr || std::sscanf(text, "%d %d", &reads, &writes) != 2) return std::nullopt;
  auto in = SharedArea::Adopt(reads, SharedArea::Use::kReadInPlace),
       out = SharedArea::Adopt(writes, SharedArea::Use::kWrite);
  if (!in || !out) return std::nullopt;
  return WorkerAreas{std::move(*in), std::move(*out)};
}

}  // namespace warpwright::worker
