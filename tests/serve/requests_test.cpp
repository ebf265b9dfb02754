#include "pits/serve/requests.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "pits/core/damaged.h"
#include "pits/serve/status_error.h"

namespace pits {
namespace {

// A body with the bytes after it that simdjson may read.
std::string padded(const std::string& body) { return body + std::string(64, '\0'); }
std::string_view body_of(const std::string& with_padding) {
  return std::string_view(with_padding).substr(0, with_padding.size() - 64);
}

constexpr const char* schema =
    R"({"features": [{"name": "age", "kind": "number", "missing": "level"}, {"name": "member", "kind": "boolean"},
        {"name": "country", "kind": "category", "levels": ["de", "fr"], "unknown": "level"}]})";

std::string error_of(const std::function<void()>& call) {
  try {
    call();
    return {};
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Requests, ANamedContextIsEncodedAsTheSchemaEncodesItsText) {
  const std::optional<Schema> names(std::in_place, schema);
  for (const std::string context :
       {R"({"age": 31, "member": true, "country": "de"})", R"({"age": null, "member": false, "country": "xx"})",
        R"({"member": false, "country": "fr", "age": -1.5e3})",
        R"({"age": 18446744073709551615, "member": true, "country": ""})"}) {
    const std::string body = padded(R"({"context": )" + context + "}");
    const auto asked = read_decide(body_of(body), names, names->width());
    ASSERT_EQ(asked.requests.size(), 1U);
    EXPECT_FALSE(asked.many);
    EXPECT_EQ(asked.requests[0].x, names->encode(context));
    EXPECT_EQ(nlohmann::json::parse(asked.requests[0].labels.context), nlohmann::json::parse(context));
  }
}

TEST(Requests, OneOrMany) {
  const std::string body =
      padded(R"({"decisions": [{"context": [1, 2], "key": "k"}, {"context": [3, 4.5], "allowed": ["b"]}]})");
  const auto asked = read_decide(body_of(body), {}, 2);
  ASSERT_TRUE(asked.many);
  ASSERT_EQ(asked.requests.size(), 2U);
  EXPECT_EQ(asked.requests[0].labels.key, "k");
  EXPECT_EQ(asked.requests[1].x, (std::vector<float>{3.0F, 4.5F}));
  EXPECT_EQ(asked.requests[1].labels.allowed, std::vector<std::string>{"b"});
}

// Whoever prints or copies a value needs stack for each level.
TEST(Requests, AWholeBodyMayBeNestedAsDeepAsTheOthers) {
  const auto nested = [](std::size_t levels) {
    return R"({"schema": )" + std::string(levels - 1, '[') + "1" + std::string(levels - 1, ']') + "}";
  };
  EXPECT_EQ(read_object(nested(8)).dump(), nlohmann::json::parse(nested(8)).dump());
  for (const std::size_t levels : {9, 400'000}) {
    EXPECT_EQ(error_of([&] { read_object(nested(levels)); }), "the body is nested deeper than 8 levels");
  }
  EXPECT_NE(error_of([] { read_object("[1]"); }).find("a JSON object"), std::string::npos);
  for (const char* body : {"", "{", "{} x", "{\"a\": \xff}"}) {
    EXPECT_EQ(error_of([&] { read_object(body); }), "the body is not JSON") << body;
  }
}

TEST(StatusOf, DamageAndFailuresAreNotTheCallers) {
  EXPECT_EQ(status_of(std::make_exception_ptr(bad_input("x"))).status(), 400);
  for (const auto& error : {std::make_exception_ptr(damaged("x")), std::make_exception_ptr(failed("x"))}) {
    EXPECT_EQ(status_of(error).status(), 503);
    EXPECT_GE(status_of(error).retry_after(), 1);
  }
  EXPECT_EQ(status_of(std::make_exception_ptr(status_error(409, "x"))).status(), 409);
  EXPECT_EQ(status_of(std::make_exception_ptr(std::bad_alloc())).status(), 500);
}

TEST(Requests, WhatIsWrongIsNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not JSON"},
      {"[1]", "a JSON object"},
      {"{", "not JSON"},
      {R"({"context": [1, 2]} x)", "not JSON"},
      {R"({"contxt": [1, 2]})", "did you mean 'context'"},
      {R"({"allowed": ["a"]})", "'context' is missing"},
      {R"({"context": {"a": 1}})", "list of numbers"},
      {R"({"context": [1, "x"]})", "'context' is a number"},
      {R"({"context": [1, 1e39]})", "beyond"},
      {R"({"context": [1, 2], "allowed": []})", "'allowed' is empty"},
      {R"({"context": [1, 2], "key": 7})", "'key' is a text"},
      {R"({"context": [1, 2], "features": [[1], [1, 2]]})", "different lengths"},
      {R"({"decisions": []})", "1 to 1000"},
      {R"({"decisions": [{"context": [1, 2]}, {"context": 3}]})", "decisions[1]"},
      {R"({"decisions": [{"context": [1, 2]}], "key": "x"})", "stands alone"},
      {"{\"context\": [[[[[[[[[[1]]]]]]]]]]}", "not JSON"},
      {"{\"context\": [1, 2], \"key\": \"\xff\"}", "not JSON"}};
  for (const auto& [text, expected] : cases) {
    const std::string body = padded(text);
    const std::string error = error_of([&] { read_decide(body_of(body), {}, 2); });
    EXPECT_NE(error.find(expected), std::string::npos) << text << ": " << error;
  }
}

TEST(Requests, Rewards) {
  const std::string body =
      padded(R"({"rewards": [{"id": 9007199254740993, "value": 1}, {"token": "t", "value": -2.5, "key": "k"}]})");
  const auto asked = read_rewards(body_of(body));
  ASSERT_EQ(asked.requests.size(), 2U);
  EXPECT_EQ(asked.requests[0].id, 9007199254740993U);  // above 2^53: not rounded
  EXPECT_EQ(asked.requests[1].token, "t");
  EXPECT_EQ(asked.requests[1].value, -2.5F);
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {R"({"id": 1})", "'value' is missing"},
           {R"({"value": 1})", "which decision"},
           {R"({"id": -1, "value": 1})", "whole number"},
           {R"({"id": 1.5, "value": 1})", "whole number"},
           {R"({"id": 1, "value": "1"})", "'value' is a number"},
           {R"({"id": 1, "value": 1, "valeu": 2})", "did you mean 'value'"}}) {
    const std::string wrong = padded(text);
    const std::string error = error_of([&] { read_rewards(body_of(wrong)); });
    EXPECT_NE(error.find(expected), std::string::npos) << text << ": " << error;
  }
  const std::string cancel = padded(R"({"id": 1, "value": 1})");
  EXPECT_NE(error_of([&] { read_decision(body_of(cancel)); }), "");
}

}  // namespace
}  // namespace pits
