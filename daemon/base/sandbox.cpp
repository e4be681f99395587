#include "base/sandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace warpwright::base {
namespace {

// Newer than the oldest kernel headers that we build with. The values are part of the kernel's ABI and never change.
constexpr uint64_t kTruncate = 1ULL << 14;                                        // since Landlock ABI 3
constexpr uint64_t kDeviceControl = 1ULL << 15;                                   // ABI 5
constexpr uint64_t kScopeAbstractSockets = 1ULL << 0, kScopeSignals = 1ULL << 1;  // ABI 6
struct RulesetAttributes {  // landlock_ruleset_attr of ABI 6; older kernels take a prefix of it
  uint64_t files = 0, network = 0, scoped = 0;
};
constexpr uint64_t kFileReadRights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE;
constexpr uint64_t kReadRights = kFileReadRights | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kFileRights = kFileReadRights | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
constexpr uint64_t kDeviceNodes = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;

uint64_t HandledRights(long abi) {
  uint64_t rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;  // ABI 1: every right up to MAKE_SYM
  if (abi >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kDeviceControl;
  return rights;
}

// False: the path does not exist.
Result<bool> AllowPath(int ruleset, const std::filesystem::path& path, uint64_t rights) {
  const Fd target(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!target.valid()) {
    if (errno == ENOENT || errno == ENOTDIR || errno == EACCES) return false;
    return FailErrno("open " + path.string());
  }
  struct stat info{};
  if (::fstat(target.get(), &info) != 0) return FailErrno("stat " + path.string());
  landlock_path_beneath_attr rule{};
  rule.allowed_access = S_ISDIR(info.st_mode) ? rights : rights & (kFileRights | kDeviceControl);
  rule.parent_fd = target.get();
  if (::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
    return FailErrno("landlock_add_rule " + path.string());
  return true;
}

struct ReleaseFilter {
  void operator()(scmp_filter_ctx context) const { seccomp_release(context); }
};
using FilterContext = std::unique_ptr<void, ReleaseFilter>;

// No compiler, parser or recorder needs these, and most known container escapes begin with one of them.
constexpr const char* kDeniedCalls[] = {"ptrace",
                                        "process_vm_readv",
                                        "process_vm_writev",
                                        "kcmp",
                                        "pidfd_getfd",
                                        "process_madvise",  // other processes
                                        "mount",
                                        "umount",
                                        "umount2",
                                        "pivot_root",
                                        "chroot",
                                        "move_mount",
                                        "fsopen",
                                        "fsconfig",
                                        "fsmount",
                                        "fspick",
                                        "open_tree",
                                        "mount_setattr",
                                        "unshare",
                                        "setns",
                                        "swapon",
                                        "swapoff",
                                        "quotactl",
                                        "quotactl_fd",
                                        "acct",  // system configuration
                                        "open_by_handle_at",
                                        "name_to_handle_at",
                                        "fanotify_init",
                                        "lookup_dcookie",  // bypasses Landlock
                                        "kexec_load",
                                        "kexec_file_load",
                                        "init_module",
                                        "finit_module",
                                        "delete_module",
                                        "reboot",
                                        "syslog",
                                        "vhangup",
                                        "iopl",
                                        "ioperm",
                                        "keyctl",
                                        "add_key",
                                        "request_key",
                                        "bpf",
                                        "userfaultfd",
                                        "perf_event_open",
                                        "io_uring_setup",
                                        "io_uring_enter",
                                        "io_uring_register",
                                        "settimeofday",
                                        "clock_settime",
                                        "clock_adjtime",
                                        "adjtimex",
                                        "sethostname",
                                        "setdomainname"};

// Creating threads is allowed, creating namespaces is not.
constexpr uint64_t kNamespaceFlags =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

// Placeholder for the process's own PID in a filter that is built before the process exists. Not below 2^22, the
// kernel's largest PID, where such a process could exist.
constexpr uint32_t kOwnProcess = 0x7e57c0de;

// No children, and no signals to others: kill(-1, SIGKILL) would kill every process of the user. (Landlock scopes
// signals, but only since Linux 6.12.)
int AddRulesForOneProcess(scmp_filter_ctx filter) {
  const uint32_t deny = SCMP_ACT_ERRNO(EPERM);
  for (const char* name :
       {"fork", "vfork", "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "pidfd_send_signal"}) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR || call < 0) continue;
    if (const int error = seccomp_rule_add(filter, deny, call, 0)) return error;
  }
  if (const int error = seccomp_rule_add(filter, deny, SCMP_SYS(tgkill), 1, SCMP_A0(SCMP_CMP_NE, kOwnProcess)))
    return error;  // abort()
  return seccomp_rule_add(filter, deny, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
}

int AddRules(scmp_filter_ctx filter, const Sandbox& sandbox) {
  const uint32_t deny = SCMP_ACT_ERRNO(EPERM);
  for (const char* name : kDeniedCalls) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR || call < 0) continue;  // unknown to this libseccomp or absent on this architecture
    if (const int error = seccomp_rule_add(filter, deny, call, 0)) return error;
  }
  // All families: a Unix socket reaches the container runtime or the session bus as well as TCP reaches the world. But
  // NVIDIA's driver talks to its persistence daemon through one, and fails to initialize without it.
  if (!sandbox.allow_network) {
    const bool local = !sandbox.devices.empty();
    const int error =
        local ? seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_NE, AF_UNIX))
              : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 0);
    if (error != 0) return error;
  }
  if (const int error =
          seccomp_rule_add(filter, deny, SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffULL, TIOCSTI)))
    return error;
  // The flags of clone3 are in memory, which a filter cannot read: with ENOSYS, glibc falls back to clone.
  if (const int error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0)) return error;
  for (uint64_t flag = 1; flag != 0 && flag <= kNamespaceFlags; flag <<= 1) {
    if ((kNamespaceFlags & flag) == 0) continue;
    if (const int error = seccomp_rule_add(filter, deny, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag)))
      return error;
  }
  return sandbox.allow_children ? 0 : AddRulesForOneProcess(filter);
}

const char* Limit(int resource, uint64_t soft, uint64_t hard, const char* name) {
  struct rlimit current{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &current) != 0) return name;
  // A limit that is already lower is kept.
  const struct rlimit wanted = {std::min<rlim_t>(soft, current.rlim_max), std::min<rlim_t>(hard, current.rlim_max)};
  return ::setrlimit(static_cast<__rlimit_resource_t>(resource), &wanted) == 0 ? nullptr : name;
}

}  // namespace

Result<PreparedSandbox> PreparedSandbox::Prepare(const Sandbox& sandbox, const std::filesystem::path& program) {
  PreparedSandbox prepared;
  prepared.sandbox_ = sandbox;
  if (!sandbox.enabled) return prepared;
  WW_TRY(prepared.PrepareFiles(program));
  WW_TRY(prepared.PrepareCalls());
  if (sandbox.required && !prepared.notes_.empty())
    return Fail(
        ErrorCode::kEnvironment, "the sandbox is required and cannot be set up: " + prepared.notes_.front(),
        "use a kernel with Landlock and seccomp (Debian 12's has both), or allow them in the container's profile");
  return prepared;
}

Status PreparedSandbox::PrepareFiles(const std::filesystem::path& program) {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 1) {
    notes_.push_back("Landlock is not available on this kernel: files are not confined");
    return {};
  }
  const uint64_t handled = HandledRights(abi);
  const RulesetAttributes attributes{handled, 0, abi >= 6 ? kScopeAbstractSockets | kScopeSignals : 0};
  const size_t size = abi >= 6 ? sizeof attributes : sizeof attributes.files;
  ruleset_ = Fd(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
  if (!ruleset_.valid()) return FailErrno("landlock_create_ruleset");

  for (const char* path : {"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/proc/cpuinfo",
                           "/proc/meminfo", "/sys/devices/system/cpu", "/dev/zero", "/dev/random", "/dev/urandom"})
    WW_TRY(AllowPath(ruleset_.get(), path, kReadRights & handled));
  WW_TRY(AllowPath(ruleset_.get(), "/dev/null", kFileRights & handled));
  if (!program.empty()) WW_TRY(AllowPath(ruleset_.get(), program, kReadRights & handled));
  for (const auto& path : sandbox_.readable) WW_TRY(AllowPath(ruleset_.get(), path, kReadRights & handled));
  for (const auto& path : sandbox_.writable) {
    WW_ASSIGN(const bool exists, AllowPath(ruleset_.get(), path, handled & ~kDeviceNodes & ~kDeviceControl));
    if (!exists) return Fail(ErrorCode::kIo, "the folder " + path.string() + " for a child to write in does not exist");
  }
  for (const auto& path : sandbox_.devices)
    WW_TRY(AllowPath(ruleset_.get(), path, (kFileRights | kReadRights | kDeviceControl) & handled));
  proc_self_rights_ = kReadRights & handled;
  if (!sandbox_.devices.empty())
    proc_self_rights_ |= (LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate) & handled;  // NVIDIA's driver writes there
  return {};
}

Status PreparedSandbox::PrepareCalls() {
  // A null filter fails with EFAULT if filters are supported.
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr, 0, 0) == 0 || errno != EFAULT) {
    notes_.push_back("seccomp is not available on this kernel: system calls are not confined");
    return {};
  }
  const FilterContext filter(seccomp_init(SCMP_ACT_ALLOW));
  if (filter == nullptr) return Fail(ErrorCode::kEnvironment, "seccomp_init failed");
  if (const int error = AddRules(filter.get(), sandbox_))
    return Fail(ErrorCode::kEnvironment, std::string("seccomp_rule_add: ") + std::strerror(-error));
  const Fd memory(static_cast<int>(::memfd_create("warpwright-seccomp", MFD_CLOEXEC)));
  if (!memory.valid()) return FailErrno("memfd_create");
  if (const int error = seccomp_export_bpf(filter.get(), memory.get()))
    return Fail(ErrorCode::kEnvironment, std::string("seccomp_export_bpf: ") + std::strerror(-error));
  const off_t size = ::lseek(memory.get(), 0, SEEK_END);
  filter_.resize(static_cast<size_t>(size) / sizeof(sock_filter));
  if (::pread(memory.get(), filter_.data(), static_cast<size_t>(size), 0) != size)
    return FailErrno("read the seccomp filter");
  return {};
}

const char* PreparedSandbox::Apply() {
  if (const char* failed = Limit(RLIMIT_CORE, 0, 0, "setrlimit RLIMIT_CORE")) return failed;
  const bool by_data = !sandbox_.devices.empty() || sandbox_.address_bytes > 0;
  const int memory = by_data ? RLIMIT_DATA : RLIMIT_AS;
  if (sandbox_.memory_bytes > 0)
    if (const char* failed = Limit(memory, sandbox_.memory_bytes, sandbox_.memory_bytes, "setrlimit of memory"))
      return failed;
  if (sandbox_.address_bytes > 0)
    if (const char* failed = Limit(RLIMIT_AS, sandbox_.address_bytes, sandbox_.address_bytes, "setrlimit of addresses"))
      return failed;
  if (sandbox_.file_bytes > 0)
    if (const char* failed = Limit(RLIMIT_FSIZE, sandbox_.file_bytes, sandbox_.file_bytes, "setrlimit RLIMIT_FSIZE"))
      return failed;
  if (const auto seconds = static_cast<uint64_t>(sandbox_.cpu.count()); sandbox_.cpu.count() > 0)
    if (const char* failed = Limit(RLIMIT_CPU, seconds, seconds + 1, "setrlimit RLIMIT_CPU")) return failed;
  if (!sandbox_.enabled) return nullptr;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "prctl PR_SET_NO_NEW_PRIVS";
  if (ruleset_.valid()) {
    // /proc/self is a different folder in each process, so it can only be opened here.
    landlock_path_beneath_attr rule{};
    rule.allowed_access = proc_self_rights_;
    rule.parent_fd = ::open("/proc/self", O_PATH | O_CLOEXEC);
    if (rule.parent_fd >= 0) {
      if (::syscall(SYS_landlock_add_rule, ruleset_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
        return "landlock_add_rule /proc/self";
      ::close(rule.parent_fd);
    }
    if (::syscall(SYS_landlock_restrict_self, ruleset_.get(), 0) != 0) return "landlock_restrict_self";
  }
  if (!filter_.empty()) {
    for (auto& instruction : filter_)
      if (instruction.k == kOwnProcess) instruction.k = static_cast<uint32_t>(::getpid());
    const sock_fprog program = {static_cast<unsigned short>(filter_.size()), filter_.data()};
    if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) return "prctl PR_SET_SECCOMP";
  }
  return nullptr;
}

}  // namespace warpwright::base
