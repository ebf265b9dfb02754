#include "pits/bench/references.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "pits/core/io/files.h"
#include "pits/core/io/process.h"
#include "pits/core/matrix.h"
#include "pits/core/simd/kernels.h"

namespace pits::bench {
namespace {

using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
constexpr int row_major = 101, no_transpose = 111;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// For us and for the programs that we start: one thread, and the kernels for this machine's vectors. Left alone, an
// OpenBLAS that is older than the processor takes its oldest kernels, which reach a fifth of the peak.
void set_up_openblas() {
  ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
  const std::string widest = simd_targets().front();
  if (widest.starts_with("AVX3")) ::setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  if (widest.starts_with("AVX2")) ::setenv("OPENBLAS_CORETYPE", "Haswell", 0);
}

Sgemm find_sgemm() {
  set_up_openblas();
  void* library = ::dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<Sgemm>(::dlsym(library, "cblas_sgemm"));
}

// What the program prints; nothing where it fails.
std::string output_of(const std::vector<std::string>& words) {
  const auto result = run_process(words, std::chrono::hours(24));
  return result && result->exit_code == 0 ? result->output : std::string();
}

ScriptTimes parsed(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  ScriptTimes times{.version = json["version"]};
  for (const auto& [name, entry] : json["work"].items()) {
    ScriptTime& time = times.work[name] = {.seconds = entry["seconds"], .p50 = {}, .p99 = {}};
    if (!entry.contains("p50")) continue;
    time.p50 = entry["p50"].get<double>();
    time.p99 = entry["p99"].get<double>();
  }
  return times;
}

// Debian's libraries belong to /usr/bin/python3, which need not be the first on the path.
ScriptTimes script_times(std::string_view text_of_script, const std::vector<std::string>& work, int repetitions,
                         double seconds, const std::vector<std::string>& env_options = {}) {
  const std::filesystem::path directory = std::filesystem::temp_directory_path();
  const std::filesystem::path script = directory / fmt::format("pits-bench-{}.py", ::getpid());
  write_file_atomically(script, text_of_script);
  set_up_openblas();
  std::string text;
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    std::vector<std::string> words = {"env"};
    words.insert(words.end(), env_options.begin(), env_options.end());
    words.insert(words.end(), {"OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1", python, script.string(),
                               fmt::format("{}", repetitions), fmt::format("{}", seconds)});
    words.insert(words.end(), work.begin(), work.end());
    text = output_of(words);
    if (!text.empty()) break;
  }
  std::filesystem::remove(script);
  return text.empty() ? ScriptTimes{} : parsed(text);
}

}  // namespace

double sgemm_flops(int repetitions) {
  static const Sgemm sgemm = find_sgemm();
  if (sgemm == nullptr) return 0.0;
  constexpr int n = 2048;
  Matrix<float> a(n, n), b(n, n), c(n, n);
  std::ranges::fill(a.flat(), 0.5F);
  std::ranges::fill(b.flat(), 0.25F);
  double best = 0.0;
  for (int i = 0; i < repetitions; ++i) {
    const double before = cpu_seconds();
    sgemm(row_major, no_transpose, no_transpose, n, n, n, 1.0F, a.data(), n, b.data(), n, 0.0F, c.data(), n);
    best = std::max(best, 2.0 * n * n * n / (cpu_seconds() - before));
  }
  return best;
}

ScriptTimes torch_times(const std::vector<std::string>& work, int repetitions, double seconds) {
  return script_times(torch_script(), work, repetitions, seconds);
}

ScriptTimes numpy_times(const std::vector<std::string>& work, int repetitions, double seconds) {
  return script_times(numpy_script(), work, repetitions, seconds, {"-u", "OPENBLAS_CORETYPE"});
}

ScriptTimes tuned_numpy_times(const std::vector<std::string>& work, int repetitions, double seconds) {
  return script_times(numpy_script(), work, repetitions, seconds);
}

}  // namespace pits::bench
