#include "traffic.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>

namespace pits::bench_serve {
namespace {

constexpr std::size_t prepared = 1024;  // contexts, sent in turn

// The value of a member of a flat JSON object, from its first character on; empty where it is not there.
std::string_view member(std::string_view json, std::string_view quoted_name) {
  const std::size_t at = json.find(quoted_name);
  if (at == std::string_view::npos) return {};
  std::size_t begin = at + quoted_name.size();
  while (begin < json.size() && (json[begin] == ':' || json[begin] == ' ')) ++begin;
  return json.substr(begin);
}

std::string_view text_of(std::string_view value) {
  if (value.empty() || value.front() != '"') return {};
  return value.substr(1, value.find('"', 1) - 1);
}

std::uint64_t number_of(std::string_view value) {
  std::uint64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

}  // namespace

Traffic::Traffic(const TrafficConfig& config, std::uint64_t seed) : config_(config), random_(seed) {
  if (config_.decide_path.empty()) config_.decide_path = "/v1/bandits/" + config_.bandit + "/decide";
  if (config_.reward_path.empty()) config_.reward_path = "/v1/bandits/" + config_.bandit + "/rewards";
  contexts_.resize(config_.requests == "fixed" ? 1 : prepared);
  for (Context& context : contexts_) {
    for (std::size_t i = 0; i < config_.numbers; ++i) context.x.push_back(normal_(random_));
  }
  for (Context& context : contexts_) {
    if (config_.requests == "fixed") {
      add_request(context.request, config_.path, config_.body);
    } else if (config_.batch > 1 && config_.requests == "decide") {
      context.request = decide_many(config_.batch);
    } else {
      add_request(context.request, config_.decide_path, context_text(context.x));
    }
  }
}

std::optional<Request> Traffic::next(std::string& out) {
  if (config_.requests == "rewards") {
    if (rewarded_ == decisions_.size()) return std::nullopt;
    std::string body = config_.batch > 1 ? "{\"rewards\":[" : "";
    for (std::size_t i = 0; i < config_.batch && rewarded_ < decisions_.size(); ++i, ++rewarded_) {
      if (i > 0) body += ',';
      add_reward(body, decisions_[rewarded_], rewarded_ % 3 == 0 ? 1.0F : 0.0F);
    }
    if (config_.batch > 1) body += "]}";
    add_request(out, config_.reward_path, body);
    return Request{Kind::reward, 0};
  }
  const auto which = static_cast<std::uint32_t>(sent_++ % contexts_.size());
  out += contexts_[which].request;
  return Request{config_.requests == "fixed" ? Kind::other : Kind::decide, which};
}

std::optional<Request> Traffic::follow_up(const Request& answered, std::string_view reply, std::string& out) {
  if (answered.kind != Kind::decide || config_.requests != "decide+reward") return std::nullopt;
  const Decision decision{number_of(member(reply, "\"id\"")), std::string(text_of(member(reply, "\"token\"")))};
  // Actions are called a0, a1, ...; of a service that gives numbers, the number.
  std::string_view action = member(reply, "\"action\"");
  action.remove_prefix(std::min(action.size(), action.find_first_of("0123456789")));
  std::string body;
  add_reward(body, decision, reward_of(contexts_[answered.context].x, number_of(action)));
  add_request(out, config_.reward_path, body);
  return Request{Kind::reward, 0};
}

std::string Traffic::decide_many(std::size_t n) {
  std::string body = "{\"decisions\":[";
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0) body += ',';
    body += context_text(contexts_[sent_++ % contexts_.size()].x);
  }
  std::string request;
  add_request(request, config_.decide_path, body + "]}");
  return request;
}

std::vector<Decision> Traffic::decisions_in(std::string_view reply) {
  std::vector<Decision> found;
  for (std::size_t at = reply.find("\"id\""); at != std::string_view::npos;) {
    const std::size_t end = reply.find("\"id\"", at + 4);
    const std::string_view one = reply.substr(at, end == std::string_view::npos ? end : end - at);
    found.push_back({number_of(member(one, "\"id\"")), std::string(text_of(member(one, "\"token\"")))});
    at = end;
  }
  return found;
}

void Traffic::add_request(std::string& out, std::string_view path, std::string_view body) const {
  fmt::format_to(std::back_inserter(out), "{} {} HTTP/1.1\r\nHost: {}\r\n", config_.method, path, config_.host);
  if (!config_.key.empty()) fmt::format_to(std::back_inserter(out), "Authorization: Bearer {}\r\n", config_.key);
  if (config_.method != "GET") {
    fmt::format_to(std::back_inserter(out), "Content-Type: application/json\r\nContent-Length: {}\r\n", body.size());
  }
  out += "\r\n";
  out += body;
}

void Traffic::add_reward(std::string& body, const Decision& decision, float value) {
  fmt::format_to(std::back_inserter(body), "{{\"id\":{},\"value\":{},\"key\":\"r\"", decision.id, value);
  if (config_.tokens && !decision.token.empty()) {
    fmt::format_to(std::back_inserter(body), ",\"token\":\"{}\"", decision.token);
  }
  body += '}';
}

std::string Traffic::context_text(const std::vector<float>& x) const {
  std::string text = "{\"context\":[";
  for (std::size_t i = 0; i < x.size(); ++i)
    fmt::format_to(std::back_inserter(text), "{}{:.5f}", i > 0 ? "," : "", x[i]);
  return text + "]}";
}

// A nonlinear truth with noise, as in bench/log/live.cpp.
float Traffic::reward_of(const std::vector<float>& x, std::size_t action) {
  const std::size_t d = x.size();
  return std::tanh(x[action % d] * x[(action + 1) % d] + x[(action + 2) % d]) + 0.3F * normal_(random_);
}

}  // namespace pits::bench_serve
