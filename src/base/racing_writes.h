#pragma once

namespace weir {

// A scope whose writes may race with other threads because the program asks for that: updates of variables with
// use_locking=False. Numbers are written element by element with plain stores, which every processor that Weir runs on
// does whole, so that others read an element from before or after; atomic ones would keep the compiler from using
// vectors. The thread sanitizer leaves writes of such a scope out; everywhere else it is nothing.
#ifdef WEIR_THREAD_SANITIZER
extern "C" {
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
class RacingWrites {
 public:
  RacingWrites() { AnnotateIgnoreWritesBegin(__FILE__, __LINE__); }
  ~RacingWrites() { AnnotateIgnoreWritesEnd(__FILE__, __LINE__); }
  RacingWrites(const RacingWrites&) = delete;
  RacingWrites& operator=(const RacingWrites&) = delete;
};
#else
class RacingWrites {};
#endif

}  // namespace weir
