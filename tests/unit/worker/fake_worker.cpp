// A worker that misbehaves as its argument says. "echo" is the honest one: it replies to a message with the same
// message.
//   fake_worker MODE [FILE]   FILE records that the mode was played once; the next worker is honest
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "worker/frame.h"
#include "worker/shared_area.h"

namespace {

using warpwright::worker::Frame;
using warpwright::worker::FrameKind;
using warpwright::worker::FrameView;
const auto kForever = std::chrono::steady_clock::now() + std::chrono::hours(1);
std::optional<warpwright::worker::WorkerAreas> areas;

void Write(const FrameView& frame) {
  if (!warpwright::worker::WriteFrame(1, frame, kForever, areas ? &areas->writes : nullptr)) std::_Exit(9);
}
void WriteRaw(const std::string& bytes) {
  if (::write(1, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::_Exit(9);
}
[[noreturn]] void Hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}
void Echo(const Frame& call) {
  FrameView answer{FrameKind::kMessage, call.header, {}};
  for (const auto& attachment : call.attachments) answer.Attach(attachment);
  Write(answer);
}

void Play(const std::string& mode, const Frame& call) {
  if (mode == "crash") {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would exit
    std::raise(SIGSEGV);
  }
  if (mode == "exit") std::_Exit(4);
  if (mode == "hang") Hang();
  if (mode == "compile-crash" || mode == "compile-hang") {
    Write({FrameKind::kStage, "compile", {}});
    if (mode == "compile-hang") Hang();
    std::raise(SIGKILL);
  }
  if (mode == "stages") {
    for (const char* stage : {"compile", "run"}) Write({FrameKind::kStage, stage, {}});
    return Echo(call);
  }
  if (mode == "endless-stages")
    for (;;) Write({FrameKind::kStage, "again", {}});
  if (mode == "garbage") WriteRaw("Segmentation fault (core dumped)\n, and more text than a head has bytes\n");
  if (mode == "huge") {  // 4,096 attachments of 8 GiB each
    std::string head = "WWF1" + std::string("\0\0\0\0\0\0\0\0\0\x10\0\0", 12);
    for (int i = 0; i < 4096; ++i) head += std::string("\0\0\0\0\x02\0\0\0", 8);
    WriteRaw(head);
  }
  if (mode == "half") WriteRaw("WWF1" + std::string("\0\0\0\0\xff\0\0\0\0\0\0\0", 12) + "{\"ok\"");
  Hang();
}

}  // namespace

int main(int argc, char** argv) {
  std::string mode = argc > 1 ? argv[1] : "echo";
  if (argc > 2) {
    if (std::filesystem::exists(argv[2])) mode = "echo";
    std::ofstream(argv[2]) << "played\n";
  }
  if (mode == "no-hello") Hang();
  if (mode == "broken-environment") return 3;
  if (mode == "banner") WriteRaw("Welcome to gpu7! This text is no frame.\n");
  if (mode == "shares") areas = warpwright::worker::AdoptAreas();
  Write(
      {FrameKind::kHello, areas ? std::string(warpwright::worker::kSharesMemory) + "fake worker" : "fake worker", {}});
  if (mode == "deaf") Hang();
  for (;;) {
    const auto call = warpwright::worker::ReadFrame(0, kForever, areas ? &areas->reads : nullptr);
    if (!call) return 0;
    if (mode == "echo" || mode == "shares") Echo(*call);
    else Play(mode, *call);
  }
}
