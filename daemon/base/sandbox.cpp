#include "base/sandbox.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace warpwright {
namespace {

constexpr uint64_t kRead = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kWriteAbi1 = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                                LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                                LANDLOCK_ACCESS_FS_MAKE_SYM;
constexpr uint64_t kFileAccess = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;

// Rules that no one needs to state: the system's programs and libraries.
const char* const kSystemReadable[] = {"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/alternatives", "/proc/self",
                                       "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu"};
const char* const kSystemDevices[] = {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"};

// System calls that no compiler and no kernel launcher needs, each a known way out or up.
const char* const kForbiddenCalls[] = {
    "ptrace", "process_vm_readv", "process_vm_writev", "mount", "umount2", "pivot_root", "chroot", "kexec_load", "kexec_file_load",
    "init_module", "finit_module", "delete_module", "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key",
    "io_uring_setup", "io_uring_enter", "io_uring_register", "unshare", "setns", "reboot", "swapon", "swapoff", "quotactl", "acct",
    "settimeofday", "clock_settime", "sethostname", "setdomainname", "open_by_handle_at", "name_to_handle_at", "pidfd_getfd"};
const char* const kNetworkCalls[] = {"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4"};

bool AddPath(int ruleset, const std::filesystem::path& path, uint64_t access) {
  Fd parent(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!parent.valid()) return errno == ENOENT;
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) access &= kFileAccess;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = access;
  rule.parent_fd = parent.get();
  return ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

Result<Fd> PrepareLandlock(const Sandbox& sandbox) {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 1) return Fd();
  uint64_t write = kWriteAbi1;
#ifdef LANDLOCK_ACCESS_FS_REFER
  if (abi >= 2) write |= LANDLOCK_ACCESS_FS_REFER;
#endif
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = kRead | write;
  Fd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
  if (!ruleset.valid()) return FailErrno("create a Landlock ruleset");
  for (const char* path : kSystemReadable)
    if (!AddPath(ruleset.get(), path, kRead)) return FailErrno(std::string("allow reading ") + path);
  for (const char* path : kSystemDevices)
    if (!AddPath(ruleset.get(), path, kRead | LANDLOCK_ACCESS_FS_WRITE_FILE)) return FailErrno(std::string("allow ") + path);
  for (const auto& path : sandbox.readable)
    if (!AddPath(ruleset.get(), path, kRead)) return FailErrno("allow reading " + path.string());
  for (const auto& path : sandbox.writable)
    if (!AddPath(ruleset.get(), path, kRead | write)) return FailErrno("allow writing " + path.string());
  return ruleset;
}

// The filter as bytes, through a memory file because libseccomp exports to a descriptor only.
Result<std::vector<char>> PrepareSeccomp(const Sandbox& sandbox) {
  scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
  if (context == nullptr) return Fail(ErrorCode::kEnvironment, "seccomp cannot be initialised");
  const auto forbid = [&](const char* name) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call != __NR_SCMP_ERROR) seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), call, 0);
  };
  for (const char* name : kForbiddenCalls) forbid(name);
  if (!sandbox.allow_network)
    for (const char* name : kNetworkCalls) forbid(name);
  Fd memory(::memfd_create("seccomp", MFD_CLOEXEC));
  const bool exported = memory.valid() && seccomp_export_bpf(context, memory.get()) == 0;
  seccomp_release(context);
  if (!exported) return Fail(ErrorCode::kEnvironment, "the seccomp filter cannot be built");
  const off_t size = ::lseek(memory.get(), 0, SEEK_END);
  std::vector<char> filter(static_cast<size_t>(size));
  if (::pread(memory.get(), filter.data(), filter.size(), 0) != size) return FailErrno("read the seccomp filter");
  return filter;
}

bool Limit(int resource, uint64_t value) {
  const rlimit limit{value, value};
  return ::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0;
}

}  // namespace

Result<PreparedSandbox> PreparedSandbox::Prepare(const Sandbox& sandbox) {
  PreparedSandbox prepared;
  prepared.sandbox_ = sandbox;
  if (!sandbox.enabled) return prepared;
  WW_ASSIGN(prepared.ruleset_, PrepareLandlock(sandbox));
  if (!prepared.ruleset_.valid()) {
    prepared.notes_.push_back("this kernel has no Landlock: the file system is not restricted");
    if (sandbox.required)
      return Fail(ErrorCode::kEnvironment, "a sandbox is required and this kernel has no Landlock", "use Linux 5.13 or later with Landlock enabled");
  }
  WW_ASSIGN(prepared.filter_, PrepareSeccomp(sandbox));
  return prepared;
}

const char* PreparedSandbox::Apply() const {
  if (!Limit(RLIMIT_CORE, 0)) return "forbid core dumps";
  if (sandbox_.memory_bytes > 0 && !Limit(RLIMIT_AS, sandbox_.memory_bytes)) return "limit memory";
  if (sandbox_.file_bytes > 0 && !Limit(RLIMIT_FSIZE, sandbox_.file_bytes)) return "limit file sizes";
  if (sandbox_.cpu.count() > 0 && !Limit(RLIMIT_CPU, static_cast<uint64_t>(sandbox_.cpu.count()))) return "limit processor time";
  if (!sandbox_.enabled) return nullptr;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "give up privileges";
  if (ruleset_.valid() && ::syscall(SYS_landlock_restrict_self, ruleset_.get(), 0) != 0) return "restrict the file system";
  sock_fprog program{};
  program.len = static_cast<unsigned short>(filter_.size() / sizeof(sock_filter));
  program.filter = reinterpret_cast<sock_filter*>(const_cast<char*>(filter_.data()));
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) return "restrict system calls";
  return nullptr;
}

}  // namespace warpwright
