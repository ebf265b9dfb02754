// pits serve: the decision service. pits key: keys for its callers.
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "pits/cli/commands.h"
#include "pits/cli/options.h"
#include "pits/cli/terminal.h"
#include "pits/core/io/files.h"
#include "pits/serve/service.h"
#include "pits/serve/systemd.h"

namespace pits::cli {
namespace {

struct ServeOptions {
  ServiceConfig service;
  HttpConfig http;
  std::string store, decisions = "token", keys;
  int drain = 10;  // seconds
  FleetConfig fleet;
  bool follows = false;  // in a fleet: never learns
};

constexpr std::size_t other_files = 64;  // besides connections

// As many open files as the system allows; fewer connections where that is not enough.
void allow_connections(HttpConfig& http) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto most = static_cast<std::size_t>(limit.rlim_cur);
  if (http.most_connections + other_files <= most) return;
  http.most_connections = most > 2 * other_files ? most - other_files : other_files;
  note("pits: at most {} connections, for only {} files may be open\n", http.most_connections, most);
}

bool is_local(const HttpConfig& http) {
  if (!http.sockets.empty()) return std::ranges::all_of(http.sockets, is_local_socket);
  const std::string_view listen = http.listen;
  return listen.starts_with("127.") || listen.starts_with("localhost:") || listen.starts_with("[::1]:") ||
         listen.starts_with("unix:");
}

void check(const ServeOptions& options) {
  if (options.decisions != "token" && options.decisions != "durable") {
    throw bad_usage("--decisions is token or durable, not '{}'", options.decisions);
  }
  for (const std::string& page : options.service.pages) {
    const std::size_t scheme = page.find("://");
    if (scheme == page.npos || page.find_first_of("/ \r\n*", scheme + 3) != page.npos || page.size() == scheme + 3) {
      throw bad_usage("--allow-origin is an origin such as https://shop.example or http://localhost:3000, not '{}'",
                      page);
    }
  }
  if (options.http.certificate.empty() != options.http.private_key.empty()) {
    throw bad_usage("--tls-cert and --tls-key belong together");
  }
  if (!(options.fleet.lease >= 0.2) || !(options.fleet.model_age >= 0.01)) {
    throw bad_usage("--lease is at least 0.2 s and --model-age at least 0.01 s");
  }
  if (options.keys.empty() && !is_local(options.http)) {
    throw bad_usage("{} can be reached from other machines: --keys FILE is needed (`pits key` makes keys)",
                    options.http.sockets.empty() ? options.http.listen : "the socket that was handed over");
  }
}

std::string_view scheme(const HttpConfig& http) {
  if (http.listen.starts_with("unix:") && http.sockets.empty()) return "";
  return http.certificate.empty() ? "http://" : "https://";
}

// Memory is kept for the next who need it. Where it goes back to the system and comes again, with every model that is
// replaced, all threads are interrupted, and those that decide are late.
void keep_memory() {
  mallopt(M_MMAP_THRESHOLD, 8 << 20);
  mallopt(M_TRIM_THRESHOLD, 32 << 20);
}

// Signals come to the one thread that waits for them.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~Signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int wait(std::chrono::milliseconds most) const {  // 0: none came
    const timespec time{.tv_sec = most.count() / 1000, .tv_nsec = most.count() % 1000 * 1'000'000};
    const int signal = sigtimedwait(&set_, nullptr, &time);
    return signal < 0 ? 0 : signal;
  }
  int wait() const { return sigwaitinfo(&set_, nullptr); }

 private:
  sigset_t set_{}, before_{};
};

void reload(Service& service, HttpServer& server) {
  try {
    service.reload();
    server.reload_certificates();
    note("pits: keys and certificates were read again\n");
  } catch (const std::exception& e) {
    note("pits: the old keys and certificates stay: {}\n", e.what());
  }
}

// Until SIGTERM or SIGINT. Tells the supervisor when every log is recovered, until then that it takes longer, and
// after that that the threads which answer go on.
void serve_until_signal(Service& service, HttpServer& server, const Signals& signals) {
  using std::chrono::milliseconds;
  constexpr int waits_per_word = 500;
  const auto watchdog = std::chrono::duration_cast<milliseconds>(watchdog_interval());
  const milliseconds pause = watchdog.count() > 0 ? std::min(milliseconds(500), watchdog / 3) : milliseconds(500);
  bool ready = false;
  for (int waits = 0;; ++waits) {
    if (!ready && service.recovered()) {
      ready = true;
      notify_supervisor("READY=1");
    }
    if (!ready && waits % waits_per_word == 0) notify_supervisor("EXTEND_TIMEOUT_USEC=60000000");
    const int signal = signals.wait(ready ? pause : milliseconds(10));
    if (signal == SIGHUP) reload(service, server);
    if (signal == SIGTERM || signal == SIGINT) return;
    if (ready && watchdog.count() > 0 && server.alive()) notify_supervisor("WATCHDOG=1");
  }
}

// The process and the configs, as the options say.
void prepare(ServeOptions& options) {
  options.http.sockets = handed_sockets();
  check(options);
  allow_connections(options.http);
  options.service.store = options.store;
  options.service.durable_decisions = options.decisions == "durable";
  options.service.keys = options.keys;
  options.service.threads = options.http.threads;
  options.service.report = [](const std::string& line) { note("pits: {}\n", line); };
  if (is_postgres_url(options.store)) {
    options.fleet.url = options.store;
    options.fleet.learns = !options.follows;
    options.service.fleet = options.fleet;
  }
  keep_memory();
  umask(077);                // logs hold contexts
  signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write
}

int serve(ServeOptions& options) {
  prepare(options);
  const Signals signals;  // before there are threads
  std::optional<DirectoryLock> lock;
  if (!options.service.fleet) {
    create_directories_durably(options.store);
    lock.emplace(options.store);
  }
  std::optional<std::jthread> second;  // waits for the signal that ends at once
  Service service(options.service);
  {
    HttpServer server(
        options.http,
        [&](const HttpRequest& request, Answerer answerer) { service.handle(request, std::move(answerer)); },
        [&] { return service.end_turn(); });
    service.watch(server);
    note("pits: serving {} at {}{}\n", lock ? options.store : without_password(options.store), scheme(options.http),
         server.address());
    serve_until_signal(service, server, signals);
    notify_supervisor("STOPPING=1");
    note("pits: stopping; a second signal ends at once\n");
    service.begin_drain();
    service.stop_recovery();
    second.emplace([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const int signal = signals.wait(std::chrono::milliseconds(100));
        if (signal == SIGTERM || signal == SIGINT) _exit(130);
      }
    });
    server.drain(std::chrono::seconds(options.drain));
    service.stop_watching();
    for (const std::string& line : service.unwritten()) note("pits: {}\n", line);
  }
  return 0;
}

struct KeyOptions {
  std::string name, file;
  std::vector<std::string> scopes{"decide", "reward"};
  double rate = 0.0;
};

// Appends a line; the file is made with access for its owner only.
void append_line(const std::string& file, const std::string& line) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor < 0) throw failed("cannot write '{}': {}", file, std::strerror(errno));
  const bool written = write(descriptor, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int reason = errno;
  if (close(descriptor) != 0 || !written) throw failed("cannot write '{}': {}", file, std::strerror(reason));
}

int make_key(const KeyOptions& options) {
  std::vector<Scope> scopes;
  for (const std::string& word : options.scopes) {
    Scope scope{};
    parse_value(word, scope);
    if (scope == Scope::none) throw bad_usage("a scope is decide, reward, read or admin");
    scopes.push_back(scope);
  }
  const NewKey made = new_key(options.name, scopes, options.rate);
  append_line(options.file, made.line);
  fmt::print("{}\n", made.key);
  note("pits: the key is shown only now; '{}' keeps its hash. A running service reads the file again on SIGHUP\n",
       options.file);
  return 0;
}

}  // namespace

std::function<int()> add_serve(CLI::App& app) {
  auto* command = app.add_subcommand("serve", "The decision service: decide, reward and learn over HTTP");
  auto options = std::make_shared<ServeOptions>();
  add_text(*command, "--store", options->store,
           "directory of the bandits' logs, made where it is not there; or postgresql://..., which a fleet shares")
      ->required();
  add_text(*command, "--listen", options->http.listen, "ADDRESS:PORT or unix:PATH; default: " + options->http.listen);
  add_whole(*command, "--threads", options->http.threads, "that answer requests; default: 1");
  add_text(*command, "--decisions", options->decisions,
           "token: answered at once, with a token that brings them back after a crash; durable: written first");
  add_text(*command, "--keys", options->keys, "file of keys (`pits key`); needed unless only this machine can connect");
  command
      ->add_option("--allow-origin", options->service.pages,
                   "origin of pages whose scripts may call, such as https://shop.example; may be repeated")
      ->type_name("ORIGIN")
      ->allow_extra_args(false);
  add_text(*command, "--tls-cert", options->http.certificate, "certificate chain, PEM");
  add_text(*command, "--tls-key", options->http.private_key, "its private key, PEM");
  add_whole(*command, "--connections", options->http.most_connections, "at most; default: 4096");
  add_whole(*command, "--connections-per-address", options->http.most_per_address,
            "at most; 0, the default: as many as all may have");
  add_whole(*command, "--drain", options->drain, "seconds that requests in flight have after SIGTERM; default: 10");
  add_text(*command, "--name", options->fleet.name, "fleet: name of this server, for people");
  command->add_option("--lease", options->fleet.lease,
                      "fleet: seconds after which a server that is frozen has lost its leases; default: 2");
  command->add_option("--model-age", options->fleet.model_age,
                      "fleet: seconds after which other servers get what was learned; default: 0.5");
  command->add_option("--oldest-model", options->service.oldest_model,
                      "fleet: seconds of age of a policy with which the service is not ready; default: 60");
  command->add_flag("--follow", options->follows, "fleet: this server decides and takes rewards, but does not learn");
  command->footer("Example:\n  pits serve --store shop.db");
  return [options] { return serve(*options); };
}

std::function<int()> add_key(CLI::App& app) {
  auto* command = app.add_subcommand("key", "Make a key for a caller of the service, and add its hash to a file");
  auto options = std::make_shared<KeyOptions>();
  add_text(*command, "FILE", options->file, "file of keys, for pits serve --keys")->required();
  add_text(*command, "NAME", options->name, "who will use it")->required();
  command->add_option("--scopes", options->scopes, "decide, reward, read, admin; default: decide,reward")
      ->delimiter(',')
      ->type_name("SCOPE");
  command->add_option("--rate", options->rate, "requests per second that it may make; default: any number");
  command->footer("Example:\n  pits key keys web --scopes decide,reward");
  return [options] { return make_key(*options); };
}

}  // namespace pits::cli
