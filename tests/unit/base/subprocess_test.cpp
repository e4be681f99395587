#include "base/subprocess.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "base/file.h"

namespace warpwright {
namespace {

using std::chrono::milliseconds;

base::Command Shell(const std::string& script) {
  base::Command command;
  command.argv = {"/bin/sh", "-c", script};
  command.env = base::MinimalEnvironment();
  command.deadline = milliseconds(5000);
  return command;
}

base::Completed RunOrDie(const base::Command& command) {
  auto completed = warpwright::base::Run(command);
  if (!completed) throw std::runtime_error(completed.error().Format());
  return *completed;
}

// A killed orphan stays a zombie until init reaps it, which counts as gone.
bool IsGone(pid_t pid) {
  if (::kill(pid, 0) != 0) return true;
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  return text.find(") Z ") != std::string::npos;
}

bool GoneWithin(pid_t pid, milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!IsGone(pid)) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

struct EndCase {
  const char* script;
  int exit_code, signal;
  const char *out, *err;
};
class RunEnds : public ::testing::TestWithParam<EndCase> {};
TEST_P(RunEnds, AreReported) {
  const base::Completed completed = RunOrDie(Shell(GetParam().script));
  EXPECT_EQ(completed.exit_code, GetParam().exit_code);
  EXPECT_EQ(completed.signal, GetParam().signal);
  EXPECT_EQ(completed.out, GetParam().out);
  EXPECT_EQ(completed.err, GetParam().err);
  EXPECT_FALSE(completed.timed_out);
  EXPECT_FALSE(completed.truncated);
}
INSTANTIATE_TEST_SUITE_P(
    All, RunEnds,
    ::testing::Values(EndCase{"echo out; echo err >&2", 0, 0, "out\n", "err\n"}, EndCase{"exit 7", 7, 0, "", ""},
                      EndCase{"printf partial; kill -SEGV $$", 139, SIGSEGV, "partial", ""},
                      EndCase{"cat", 0, 0, "", ""},                         // no input: end of file
                      EndCase{"sleep 60 & echo bye", 0, 0, "bye\n", ""}));  // a grandchild holds the pipe

TEST(Run, PassesInputBeyondThePipesCapacityBothWays) {
  base::Command command = Shell("cat");
  command.input.assign(3'000'000, 'x');
  EXPECT_EQ(RunOrDie(command).out, command.input);
}

TEST(Run, SurvivesAChildThatDoesNotReadItsInput) {
  base::Command command = Shell("exec 0<&-; exit 3");
  command.input.assign(3'000'000, 'x');
  EXPECT_EQ(RunOrDie(command).exit_code, 3);
}

TEST(Run, CutsEachStreamAtItsLimitAndLetsTheChildFinish) {
  base::Command command = Shell("head -c 300000 /dev/zero; head -c 50 /dev/zero >&2; exit 4");
  command.output_limit_bytes = 100'000;
  const base::Completed completed = RunOrDie(command);
  EXPECT_EQ(completed.out.size(), 100'000u);
  EXPECT_EQ(completed.err.size(), 50u);
  EXPECT_TRUE(completed.truncated);
  EXPECT_EQ(completed.exit_code, 4);
}

TEST(Run, KillsTheWholeGroupAtTheDeadline) {
  base::Command command = Shell("sleep 61 & echo $!; sleep 62 & echo $!; wait");
  command.deadline = milliseconds(300);
  const auto start = std::chrono::steady_clock::now();
  const base::Completed completed = RunOrDie(command);
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(3000));
  EXPECT_TRUE(completed.timed_out);
  EXPECT_EQ(completed.signal, SIGKILL);
  std::istringstream pids(completed.out);
  int count = 0;
  for (pid_t pid; pids >> pid; ++count) EXPECT_TRUE(GoneWithin(pid, milliseconds(2000))) << pid;
  EXPECT_EQ(count, 2);
}

TEST(Run, TheDeadlineAlsoEndsAChildThatWritesForever) {
  base::Command command = Shell("exec yes");
  command.deadline = milliseconds(200);
  command.output_limit_bytes = 1000;
  const base::Completed completed = RunOrDie(command);
  EXPECT_TRUE(completed.timed_out);
  EXPECT_TRUE(completed.truncated);
  EXPECT_EQ(completed.out.size(), 1000u);
}

TEST(Run, GivesTheChildExactlyTheStatedEnvironment) {
  ::setenv("WW_SECRET_TOKEN", "hunter2", 1);
  base::Command command;
  command.argv = {"env"};  // found on PATH
  command.env = {{"A", "1"}, {"B", "x=y"}};
  EXPECT_EQ(RunOrDie(command).out, "A=1\nB=x=y\n");
  command.env = base::MinimalEnvironment();
  EXPECT_EQ(RunOrDie(command).out.find("hunter2"), std::string::npos);
  ::unsetenv("WW_SECRET_TOKEN");
}

TEST(Run, ClosesEveryOtherDescriptor) {
  const base::Fd leaked(::open("/dev/null", O_RDONLY));  // without O_CLOEXEC
  ASSERT_GT(leaked.get(), 2);
  EXPECT_EQ(RunOrDie(Shell("ls /proc/self/fd")).out, "0\n1\n2\n3\n");  // 3 is ls reading the folder
}

TEST(Run, ResetsSignalsThatTheParentIgnores) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const base::Completed completed = RunOrDie(Shell("kill -PIPE $$; exit 0"));
  ::signal(SIGPIPE, before);
  EXPECT_EQ(completed.signal, SIGPIPE);
}

TEST(Run, RunsInTheFolderGiven) {
  base::Command command = Shell("pwd");
  command.directory = "/usr";
  EXPECT_EQ(RunOrDie(command).out, "/usr\n");
}

struct StartError {
  const char *program, *directory, *message;
};
class RunRefuses : public ::testing::TestWithParam<StartError> {};
TEST_P(RunRefuses, WithTheStepThatFailed) {
  base::Command command;
  command.argv = {GetParam().program};
  command.directory = GetParam().directory;
  const auto completed = warpwright::base::Run(command);
  ASSERT_FALSE(completed.has_value());
  EXPECT_EQ(completed.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(completed.error().message.find(GetParam().message), std::string::npos) << completed.error().Format();
}
INSTANTIATE_TEST_SUITE_P(All, RunRefuses,
                         ::testing::Values(StartError{"no-such-program-ww", "", "not on PATH"},
                                           StartError{"/no/such/program", "", "execve: No such file"},
                                           StartError{"/etc/passwd", "", "execve: Permission denied"},
                                           StartError{"/bin/true", "/no/such/folder", "chdir: No such file"}));

TEST(Child, TalksOverPipesAndSaysHowItEnded) {
  auto child = base::Child::Start(Shell("read line; echo \"got $line\"; exit 5"));
  ASSERT_TRUE(child.has_value()) << child.error().Format();
  EXPECT_FALSE(child->End().has_value());
  ASSERT_EQ(::write(child->to_child(), "hello\n", 6), 6);
  char buffer[64] = {};
  ASSERT_GT(::read(child->from_child(), buffer, sizeof buffer), 0);
  EXPECT_STREQ(buffer, "got hello\n");
  for (int i = 0; i < 400 && !child->End(); ++i) std::this_thread::sleep_for(milliseconds(5));
  ASSERT_TRUE(child->End().has_value());
  EXPECT_EQ(child->End()->exit_code, 5);
  EXPECT_EQ(child->End()->Describe(), "exit code 5");
  EXPECT_EQ(child->pid(), -1);
}

TEST(Child, IsKilledWithItsGroupByTheDestructor) {
  pid_t grandchild = 0;
  {
    auto child = base::Child::Start(Shell("sleep 63 & echo $!; wait"));
    ASSERT_TRUE(child.has_value());
    char buffer[32] = {};
    ASSERT_GT(::read(child->from_child(), buffer, sizeof buffer - 1), 0);
    grandchild = static_cast<pid_t>(std::strtol(buffer, nullptr, 10));
    ASSERT_EQ(::kill(grandchild, 0), 0);
    base::Child moved = std::move(*child);
    EXPECT_EQ(child->pid(), -1);
    EXPECT_GT(moved.pid(), 0);
  }
  EXPECT_TRUE(GoneWithin(grandchild, milliseconds(2000)));
}

TEST(Child, KillGivesTheSignal) {
  auto child = base::Child::Start(Shell("exec sleep 64"));
  ASSERT_TRUE(child.has_value());
  child->Kill();
  ASSERT_TRUE(child->End().has_value());
  EXPECT_EQ(child->End()->signal, SIGKILL);
  EXPECT_EQ(child->End()->Describe(), "signal 9 (Killed)");
}

TEST(Child, WritesItsErrorsToTheFileGiven) {
  const auto folder = base::TemporaryDirectory::Create("ww-test");
  ASSERT_TRUE(folder.has_value());
  const auto path = folder->path() / "stderr";
  auto child = base::Child::Start(Shell("echo complaint >&2"), path);
  ASSERT_TRUE(child.has_value());
  for (int i = 0; i < 400 && !child->End(); ++i) std::this_thread::sleep_for(milliseconds(5));
  EXPECT_EQ(base::ReadFile(path).value_or(""), "complaint\n");
}

TEST(Child, DiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {  // starts a child, prints its PID, and exits without running destructors
    // Without exec the shell may leave a sleep process, which holds our stderr open.
    auto child = base::Child::Start(Shell("exec sleep 65"));
    const pid_t pid = child ? child->pid() : -1;
    [[maybe_unused]] const ssize_t sent = ::write(ends[1], &pid, sizeof pid);
    ::_exit(0);
  }
  ::waitpid(parent, nullptr, 0);
  pid_t orphan = -1;
  ASSERT_EQ(::read(ends[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  ASSERT_GT(orphan, 0);
  EXPECT_TRUE(GoneWithin(orphan, milliseconds(2000)));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace warpwright
