#include "pits/data/source/transfer.h"

#include <curl/curl.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include "pits/core/error.h"
#include "pits/version.h"

namespace pits {
namespace {

using Clock = std::chrono::steady_clock;
using Curl = std::unique_ptr<CURL, void (*)(CURL*)>;

Curl new_curl() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  Curl curl(ready == CURLE_OK ? curl_easy_init() : nullptr, curl_easy_cleanup);
  if (!curl) throw failed("libcurl does not start");
  return curl;
}

// What the callbacks of one transfer see.
struct Running {
  const TransferWatch& watch;
  std::ofstream& out;
  std::uint64_t before;  // bytes that were there already
  std::uint64_t most_bytes;
  std::uint64_t fresh = 0;
  Clock::time_point last_byte = Clock::now();
  bool stalled = false;
  bool too_large = false;
};

std::size_t on_data(const char* data, std::size_t, std::size_t size, void* running) {
  auto& r = *static_cast<Running*>(running);
  r.too_large = r.before + r.fresh + size > r.most_bytes;
  if (r.too_large) return 0;
  if (!r.out.write(data, static_cast<std::streamsize>(size))) return 0;
  r.fresh += size;
  r.last_byte = Clock::now();
  return size;
}

// Called at least once a second. libcurl's own low-speed limit is slower: it sees the mean of some seconds.
int on_progress(void* running, curl_off_t total, curl_off_t, curl_off_t, curl_off_t) {
  auto& r = *static_cast<Running*>(running);
  if (r.watch.progress) {
    r.watch.progress(r.before + r.fresh, total > 0 ? r.before + static_cast<std::uint64_t>(total) : 0);
  }
  r.stalled = Clock::now() - r.last_byte > std::chrono::seconds(r.watch.stall_seconds);
  return r.stalled || (r.watch.stop != nullptr && *r.watch.stop) ? 1 : 0;
}

// The file of trusted certificates: $SSL_CERT_FILE, else the first that is here. libcurl knows the place of the system
// that it was built on only, and a wheel takes its libcurl to others. Empty: libcurl's own.
std::string trusted_certificates() {
  const char* const named = std::getenv("SSL_CERT_FILE");
  if (named != nullptr && *named != '\0') return named;
  for (const char* const usual : {
           "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Arch, Gentoo
           "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL
           "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // newer ones of them
           "/etc/ssl/ca-bundle.pem",                             // openSUSE
           "/etc/ssl/cert.pem",                                  // Alpine
       }) {
    if (std::error_code ignored; std::filesystem::exists(usual, ignored)) return usual;
  }
  return "";
}

void set_options(CURL* curl, const std::string& address, Running& running, char* reason) {
  curl_easy_setopt(curl, CURLOPT_URL, address.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_USERAGENT, fmt::format("pits/{}", version).c_str());
  if (const std::string file = trusted_certificates(); !file.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, file.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, static_cast<long>(running.watch.stall_seconds));
  curl_easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(running.before));
  if (running.before < running.most_bytes) {  // 0 would mean no limit
    curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(running.most_bytes - running.before));
  }
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &running);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &running);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
}

Transfer outcome(CURL* curl, CURLcode code, const Running& running, const std::string& reason) {
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (code == CURLE_OK || status == 416) return {Arrival::whole, ""};  // 416: the part is the whole
  if (running.too_large || code == CURLE_FILESIZE_EXCEEDED) {
    return {Arrival::too_large, fmt::format("the file there is larger than {} bytes", running.most_bytes)};
  }
  if (code == CURLE_RANGE_ERROR) return {Arrival::no_range, reason};
  const Arrival unfinished = running.fresh > 0 ? Arrival::broken : Arrival::refused;
  if (running.stalled) return {unfinished, fmt::format("no byte for {} s", running.watch.stall_seconds)};
  if (code == CURLE_ABORTED_BY_CALLBACK) return {Arrival::stopped, ""};
  return {unfinished, reason};
}

}  // namespace

Transfer download(const std::string& address, const std::filesystem::path& part, std::uint64_t most_bytes,
                  const TransferWatch& watch) {
  const Curl curl = new_curl();
  std::ofstream out(part, std::ios::binary | std::ios::app);
  if (!out) throw bad_input("cannot write '{}': {}", part.string(), std::strerror(errno));
  Running running{.watch = watch, .out = out, .before = std::filesystem::file_size(part), .most_bytes = most_bytes};
  std::array<char, CURL_ERROR_SIZE> reason{};
  set_options(curl.get(), address, running, reason.data());
  const CURLcode code = curl_easy_perform(curl.get());
  out.close();
  if ((code == CURLE_WRITE_ERROR && !running.too_large) || !out)
    throw failed("cannot write '{}': {}", part.string(), std::strerror(errno));
  if (running.before + running.fresh == 0) std::filesystem::remove(part);
  return outcome(curl.get(), code, running, reason[0] != '\0' ? reason.data() : curl_easy_strerror(code));
}

}  // namespace pits
