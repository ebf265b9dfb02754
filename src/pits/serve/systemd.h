// What a supervisor such as systemd and a service say to each other: sockets handed over (LISTEN_FDS), and notes about
// its state (NOTIFY_SOCKET). Both protocols are documented in sd_listen_fds(3) and sd_notify(3).
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

namespace pits {

// Listening sockets that the supervisor has opened; none where there is no supervisor. An Error where they are no
// sockets.
std::vector<int> handed_sockets();
// "READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=..."; nothing where nobody listens.
void notify_supervisor(std::string_view state);
// How often WATCHDOG=1 is expected; 0: never.
std::chrono::microseconds watchdog_interval();
// Whether only this machine can reach a listening socket.
bool is_local_socket(int descriptor);

}  // namespace pits
