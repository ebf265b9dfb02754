// How the system treats the calling thread. Nothing is lost where the system does not allow it.
#pragma once

namespace pits {

// For `top -H` and profilers; at most 15 letters.
void name_thread(const char* name);

// Others go first where cores are few.
void give_way();

// Short turns on the processor: since Linux 6.12 a thread that wakes up and asks for shorter turns than the one that
// runs takes its place at once, and does not wait until that one's turn of up to 3 ms is over. Its share stays the
// same.
void take_short_turns();

}  // namespace pits
