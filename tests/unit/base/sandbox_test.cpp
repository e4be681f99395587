// Tests the sandbox from inside: each child attempts something and reports the outcome. If the kernel has no Landlock
// or no seccomp, the test is skipped with the note as its reason.
#include <gtest/gtest.h>

#include <csignal>

#include "base/file.h"
#include "base/subprocess.h"

namespace warpwright {
namespace {

base::Command Confined(std::vector<std::string> argv) {
  base::Command command;
  command.argv = std::move(argv);
  command.env = base::MinimalEnvironment();
  command.deadline = std::chrono::milliseconds(10'000);
  command.sandbox.enabled = true;
  return command;
}
base::Command ConfinedShell(const std::string& script) { return Confined({"/bin/sh", "-c", script}); }
base::Command ConfinedPerl(const std::string& script) { return Confined({"/usr/bin/perl", "-e", script}); }

class SandboxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto probe = warpwright::base::Run(Confined({"/bin/true"}));
    ASSERT_TRUE(probe.has_value()) << probe.error().Format();
    ASSERT_EQ(probe->exit_code, 0) << probe->err;
    if (!probe->notes.empty()) GTEST_SKIP() << probe->notes.front();
    auto folder = base::TemporaryDirectory::Create("ww-sandbox");
    ASSERT_TRUE(folder.has_value());
    folder_ = std::make_unique<base::TemporaryDirectory>(std::move(*folder));
  }
  base::Completed RunOrDie(const base::Command& command) {
    auto completed = warpwright::base::Run(command);
    if (!completed) throw std::runtime_error(completed.error().Format());
    return *completed;
  }
  std::unique_ptr<base::TemporaryDirectory> folder_;
};

TEST_F(SandboxTest, CompilersStillWork) {
  const auto source = folder_->path() / "a.cpp";
  ASSERT_TRUE(base::WriteFileAtomically(
      source, "#include <vector>\nint main() { std::vector<int> v(3); return int(v.size()); }\n"));
  base::Command compile = Confined({"g++", "-O0", source.string(), "-o", (folder_->path() / "a").string()});
  compile.env["TMPDIR"] = folder_->path().string();
  compile.sandbox.writable = {folder_->path()};
  const base::Completed compiled = RunOrDie(compile);
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  base::Command run = Confined({(folder_->path() / "a").string()});
  EXPECT_EQ(RunOrDie(run).exit_code, 3);  // the program itself may always be executed
}

TEST_F(SandboxTest, WritesOnlyWhereAllowed) {
  const std::string outside = (folder_->path() / "outside").string(), inside = (folder_->path() / "inside").string();
  std::filesystem::create_directory(outside);
  std::filesystem::create_directory(inside);
  base::Command command =
      ConfinedShell("echo x > " + inside + "/f; echo x > " + outside + "/f; ln -s " + outside + " " + inside +
                    "/link; echo x > " + inside + "/link/g; mv " + inside + "/f " + outside + "/h; echo done");
  command.sandbox.writable = {inside};
  EXPECT_EQ(RunOrDie(command).out, "done\n");
  EXPECT_TRUE(std::filesystem::exists(inside + "/f"));
  EXPECT_TRUE(std::filesystem::is_empty(outside));
}

TEST_F(SandboxTest, ReadsOnlyWhereAllowed) {
  const auto secret = folder_->path() / "secret", open = folder_->path() / "open" / "f";
  ASSERT_TRUE(base::WriteFileAtomically(secret, "token"));
  ASSERT_TRUE(base::WriteFileAtomically(open, "public"));
  base::Command command =
      ConfinedShell("cat " + open.string() + "; cat " + secret.string() + " /etc/passwd /proc/1/environ; ls /");
  command.sandbox.readable = {open.parent_path()};
  const base::Completed completed = RunOrDie(command);
  EXPECT_EQ(completed.out, "public");
  EXPECT_NE(completed.exit_code, 0);
}

TEST_F(SandboxTest, AReadableFolderIsNotWritable) {
  base::Command command = ConfinedShell("echo x > " + folder_->path().string() + "/f");
  command.sandbox.readable = {folder_->path()};
  EXPECT_NE(RunOrDie(command).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_->path() / "f"));
}

TEST_F(SandboxTest, HasNoNetworkUnlessAllowed) {
  for (const char* family : {"2", "10", "1"}) {  // IPv4, IPv6, Unix
    base::Command command = ConfinedPerl(std::string("print socket(my $s, ") + family + ", 1, 0) ? 'open' : 'refused'");
    EXPECT_EQ(RunOrDie(command).out, "refused") << family;
    command.sandbox.allow_network = true;
    EXPECT_EQ(RunOrDie(command).out, "open") << family;
  }
}

struct DeniedCall {
  const char* name;
  const char* attempt;  // Perl, an expression that is false (0 or -1) when refused
};
class SandboxDenies : public SandboxTest, public ::testing::WithParamInterface<DeniedCall> {};
TEST_P(SandboxDenies, TheCall) {
  // syscall returns -1 and sets errno; EPERM is 1, ENOSYS is 38.
  const base::Completed completed =
      RunOrDie(ConfinedPerl(std::string("my $r = ") + GetParam().attempt + "; print $r == -1 ? $!+0 : 'allowed'"));
  EXPECT_TRUE(completed.out == "1" || completed.out == "38")
      << GetParam().name << ": " << completed.out << completed.err;
}
#if defined(__x86_64__)
INSTANTIATE_TEST_SUITE_P(
    All, SandboxDenies,
    ::testing::Values(DeniedCall{"ptrace", "syscall(101, 0, 0, 0, 0)"}, DeniedCall{"unshare", "syscall(272, 0)"},
                      DeniedCall{"clone into a user namespace", "syscall(56, 0x10000011, 0, 0, 0, 0)"},
                      DeniedCall{"clone3", "syscall(435, 0, 0)"}, DeniedCall{"bpf", "syscall(321, 0, 0, 0)"},
                      DeniedCall{"keyctl", "syscall(250, 0, 0)"}, DeniedCall{"io_uring_setup", "syscall(425, 1, 0)"},
                      DeniedCall{"userfaultfd", "syscall(323, 0)"}, DeniedCall{"chroot", "syscall(161, my $p = \"/\")"},
                      DeniedCall{"perf_event_open", "syscall(298, 0, 0, 0, 0, 0)"}),
    [](const auto& info) { return "case" + std::to_string(info.index); });
#endif

TEST_F(SandboxTest, NoChildrenWhereNoneAreAllowed) {
  base::Command command =
      ConfinedPerl("my $p = fork(); exit 0 if defined $p && $p == 0; print defined $p ? 'forked' : 'refused'");
  EXPECT_EQ(RunOrDie(command).out, "forked");
  command.sandbox.allow_children = false;
  EXPECT_EQ(RunOrDie(command).out, "refused");
}

#if defined(__x86_64__)
TEST_F(SandboxTest, AProcessWithoutChildrenSignalsOnlyItself) {
  // kill, tkill, pidfd_open, tgkill of the parent and of itself; signal 0 only checks the permission.
  base::Command command = ConfinedPerl(
      "my $p = getppid(); print join ',', map { $_ == -1 ? 'refused' : 'allowed' } syscall(62, $p, 0), syscall(200, "
      "$p, 0),"
      " syscall(434, $p, 0), syscall(234, $p, $p, 0), syscall(62, -1, 0), syscall(234, $$ + 0, $$ + 0, 0)");
  command.sandbox.allow_children = false;
  EXPECT_EQ(RunOrDie(command).out, "refused,refused,refused,refused,refused,allowed");
  base::Command aborting = ConfinedPerl("use POSIX; POSIX::abort()");
  aborting.sandbox.allow_children = false;
  EXPECT_EQ(RunOrDie(aborting).signal, SIGABRT);
}
#endif

TEST_F(SandboxTest, SandboxesNest) {
  // A confined program may confine its own children further, which needs the same calls again.
  const base::Completed completed =
      RunOrDie(ConfinedPerl("print syscall(157, 38, 1, 0, 0, 0)"));  // prctl PR_SET_NO_NEW_PRIVS
  EXPECT_EQ(completed.out, "0");
}

TEST_F(SandboxTest, AFolderToWriteInMustExist) {
  base::Command command = Confined({"/bin/true"});
  command.sandbox.writable = {folder_->path() / "absent"};
  const auto completed = warpwright::base::Run(command);
  ASSERT_FALSE(completed.has_value());
  EXPECT_NE(completed.error().message.find("absent"), std::string::npos);
  command.sandbox.writable = {};
  command.sandbox.readable = {folder_->path() / "absent"};  // nothing to read, and nothing to protect
  EXPECT_TRUE(warpwright::base::Run(command).has_value());
}

// Limits need no kernel feature that might be missing.
TEST(SandboxLimits, Memory) {
  base::Command command = ConfinedPerl("my $x = 'a' x (400 << 20); print 'grew'");
  EXPECT_EQ(warpwright::base::Run(command)->out, "grew");
  command.sandbox.memory_bytes = 200u << 20;
  const auto completed = warpwright::base::Run(command);
  EXPECT_EQ(completed->out, "");
  EXPECT_NE(completed->exit_code, 0);
}

TEST(SandboxLimits, FileSize) {
  const auto folder = base::TemporaryDirectory::Create("ww-sandbox");
  ASSERT_TRUE(folder.has_value());
  base::Command command = ConfinedShell("head -c 1000000 /dev/zero > " + (folder->path() / "f").string());
  command.sandbox.writable = {folder->path()};
  command.sandbox.file_bytes = 100'000;
  EXPECT_NE(warpwright::base::Run(command)->exit_code, 0);
  EXPECT_EQ(std::filesystem::file_size(folder->path() / "f"), 100'000u);
}

TEST(SandboxLimits, ProcessorTime) {
  base::Command command = ConfinedPerl("1 while 1");
  command.sandbox.cpu = std::chrono::seconds(1);
  command.deadline = std::chrono::minutes(10);  // on a busy machine a second of processor time takes long
  const auto completed = warpwright::base::Run(command);
  EXPECT_FALSE(completed->timed_out);
  EXPECT_TRUE(completed->signal == SIGXCPU || completed->signal == SIGKILL) << completed->signal;
}

}  // namespace
}  // namespace warpwright
