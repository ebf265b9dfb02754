// The way to a PostgreSQL, by tests/fleet/proxy.py, which can hold back what comes.
#pragma once

#include "fleet/cluster.h"

namespace pits::test {

class SlowLink {
 public:
  explicit SlowLink(const std::string& url) {
    std::filesystem::permissions(scratch_.path(), std::filesystem::perms(0755));
    const std::size_t at = url.find("host=") + 5;
    url_ = url.substr(0, at) + scratch_.path().string();
    const std::string command = fmt::format("python3 {}/fleet/proxy.py {} {} 2>/dev/null", PITS_TEST_DIR,
                                            scratch_.path().string(), url.substr(at));
    proxy_ = ::popen(command.c_str(), "w");
    there_ = proxy_ != nullptr && comes_true([&] { return answers(); });
  }
  ~SlowLink() {
    if (proxy_ != nullptr) ::pclose(proxy_);
  }
  SlowLink(const SlowLink&) = delete;
  SlowLink& operator=(const SlowLink&) = delete;

  bool there() const { return there_; }  // else python3 is not installed
  const std::string& url() const { return url_; }
  // From now on each piece of some 64 kB waits so many seconds; 0: none does.
  void delay(double seconds) {
    fmt::print(proxy_, "delay {} 600\n", seconds);
    std::fflush(proxy_);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }

 private:
  bool answers() const {  // a moment after its socket is there
    if (!std::filesystem::exists(scratch_ / ".s.PGSQL.5432")) return false;
    try {
      return Postgres(url_).run("SELECT 1").size() == 1;
    } catch (const Error&) {
      return false;
    }
  }

  Scratch scratch_;
  std::string url_;
  FILE* proxy_ = nullptr;
  bool there_ = false;
};

}  // namespace pits::test
