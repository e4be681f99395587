// Which work of a call is ordered with its caller's: everything that a call enqueues must follow what its caller had
// enqueued before, and precede what the caller enqueues after it. The caller has the stream that it passes, which is
// taken for one that does not wait for the default stream; without such a parameter, the default stream.
//
// Every stream has a clock: whether it follows the beginning of the call, and how many operations of each stream it
// follows. Events carry clocks from stream to stream; the host has one, too.
#pragma once

#include <map>
#include <string>

namespace ww {

class CallOrder {
 public:
  // Streams by the numbers of the recording: 0 is the caller's.
  void BeginCall(bool has_own_stream);
  void SetBlocking(int stream, bool blocking) { blocking_[stream] = blocking; }
  void Work(int stream, const char* file, int line);
  // What the latest operation of the stream uses, and whether memory that is freed on a stream may be in use then.
  void Uses(int buffer, int stream) { uses_[buffer][stream] = last_[stream].number; }
  bool MayBeInUse(int buffer, int stream);
  void Record(long long event, int stream);
  void Wait(long long event, int stream);
  void HostWaitsFor(int stream);
  void HostWaitsForEvent(long long event);
  void HostWaitsForAll();
  void EndCall();

  // The first operation that is not ordered with the caller's work; line < 0: none.
  const std::string& file() const { return file_; }
  int line() const { return line_; }

 private:
  struct Clock {
    bool begun = false;             // follows the caller's work before the call
    std::map<int, long long> seen;  // operations by stream
    void Merge(const Clock& other);
  };
  struct Last {
    long long number = 0;
    std::string file;
    int line = 0;
  };
  Clock& Of(int stream);
  bool WaitsForDefault(int stream) const;
  void Report(const std::string& file, int line);

  bool has_own_stream_ = false;
  std::map<int, bool> blocking_;
  std::map<int, Clock> streams_;
  std::map<long long, Clock> events_;
  Clock host_;
  std::map<int, Last> last_;
  std::map<int, std::map<int, long long>> uses_;  // by buffer: by stream the last operation
  std::string file_;
  int line_ = -1;
};

}  // namespace ww
