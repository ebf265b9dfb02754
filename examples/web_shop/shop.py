"""A small web shop that asks `pits serve` what to recommend. Clicks come late, or never.

    examples/web_shop/run                      # starts the service and the shop; then open http://127.0.0.1:8000
    examples/web_shop/run --visitors 3000      # simulated visitors instead of a browser

The shop keeps nothing: the page carries the decision's id and token, and the click brings them back, minutes later or
after a crash of either. Who has not clicked when the window closes counts as a 0, which the service learns by itself.
"""
import argparse
import heapq
import html
import http.server
import random
import time
import urllib.parse

import pits

AGENT = "pi-ts"
GOODS = {"tea": "Assam, 100 g", "milk": "from the farm, 1 l", "cake": "with almonds", "wine": "Barbera, 0.7 l"}
SCHEMA = {"features": [{"name": "country", "kind": "category", "levels": ["de", "fr", "it"], "unknown": "level"},
                       {"name": "age", "kind": "number", "missing": "level"}]}
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title>
<style>body{{font:18px/1.5 system-ui;max-width:36em;margin:3em auto;padding:0 1em}}a.buy{{display:block;padding:1em;border:2px solid #357;
border-radius:.5em;text-decoration:none;color:inherit}}small{{color:#666}}</style>
<h1>Shop</h1>
<form>You are <input name="age" type="number" min="0" max="120" value="{age}" size="3" aria-label="age"> years old and live in
<select name="country" aria-label="country">{countries}</select> <button>Look again</button></form>
<p>We recommend</p>
<a class="buy" href="/click?{link}"><b>{good}</b><br>{text}</a>
<p><small>Chosen with probability {propensity:.2f} by model {model}. <a href="{service}">What the service has learned</a></small></p>
"""
THANKS = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title><p style="font:18px system-ui;margin:3em">{said}
<a href="/">Back to the shop</a></p>"""
SAID = {"accepted": "Thank you for your click.", "duplicate": "You have clicked already.", "expired": "That offer is over.",
        "unknown": "We do not know that offer.", "full": "You have clicked too often."}


class Shop:
    def __init__(self, url, window, agent=AGENT):
        self.url, self.service = url, pits.Client(url)
        self.service.put("shop", agent=agent, actions=list(GOODS), schema=SCHEMA, floor=0.05, window=window)

    def recommend(self, age, country):
        return self.service.decide("shop", {"age": age, "country": country})

    def click(self, id, token):
        return self.service.reward("shop", pits.ServiceDecision("", 0.0, id, token=token), 1.0, key="click")

    def page(self, query):
        age, country = query.get("age", "30"), query.get("country", "de")
        shown = self.recommend(int(age) if age.isdecimal() else None, country)
        countries = "".join(f"<option{' selected' * (c == country)}>{c}</option>" for c in ["de", "fr", "it", "nl"])
        link = html.escape(urllib.parse.urlencode({"id": shown.id, "token": shown.token}))
        return PAGE.format(age=html.escape(age), countries=countries, link=link, good=shown.action, text=GOODS[shown.action],
                           propensity=shown.propensity, model=shown.model, service=self.url)

    def answer(self, target):
        """The status and the page for a path with its query."""
        parts = urllib.parse.urlsplit(target)
        query = dict(urllib.parse.parse_qsl(parts.query))
        try:
            if parts.path == "/":
                return 200, self.page(query)
            if parts.path == "/click":
                return 200, THANKS.format(said=SAID[self.click(int(query["id"]), query.get("token", ""))])
        except (KeyError, ValueError):
            return 400, THANKS.format(said="That link is broken.")
        except pits.ServiceError as error:
            return 503, THANKS.format(said=f"The shop is closed: {html.escape(str(error))}.")
        return 404, THANKS.format(said="There is no such page.")


def handler(shop):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, text = shop.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *words):
            pass

    return Handler


def click_rate(country, good):
    """Wine pleases everybody a little; the others please one country each."""
    liked = {"de": "tea", "fr": "milk", "it": "cake"}
    return 0.25 if good == "wine" else 0.6 if liked.get(country) == good else 0.05


def simulate(shop, visitors, rate, longest, seed=1):
    """Visitors come `rate` per second; who clicks does so up to `longest` seconds later. Returns what was answered."""
    world, on_the_way, answers, clicks = random.Random(seed), [], {}, []
    start = time.monotonic()

    def deliver(until):
        while on_the_way and on_the_way[0][0] <= until:
            _, _, decision = heapq.heappop(on_the_way)
            answer = shop.click(decision.id, decision.token)
            answers[answer] = answers.get(answer, 0) + 1

    for n in range(visitors):
        time.sleep(max(0.0, start + n / rate - time.monotonic()))
        country = world.choice(["de", "fr", "it"])
        decision = shop.recommend(world.choice([None, *range(18, 80)]), country)
        clicks.append(world.random() < click_rate(country, decision.action))
        if clicks[-1]:
            heapq.heappush(on_the_way, (time.monotonic() + world.uniform(0, longest), n, decision))
        deliver(time.monotonic())
    deliver(float("inf"))
    third = visitors // 3
    print(f"{visitors} visitors, {sum(clicks)} clicks, answered {answers}; clicks per visitor: first third "
          f"{sum(clicks[:third]) / third:.2f}, last third {sum(clicks[-third:]) / third:.2f}; chance has 0.24, the best choice 0.60")
    return answers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--service", default="http://127.0.0.1:8080", help="URL of pits serve")
    parser.add_argument("--port", type=int, default=8000, help="of the shop")
    parser.add_argument("--visitors", type=int, default=0, help="simulated; 0: serves the page")
    parser.add_argument("--rate", type=float, default=150, help="visitors per second, at most")
    parser.add_argument("--window", type=float, help="seconds in which clicks are taken; default: a minute, simulated 2 s")
    parser.add_argument("--agent", default=AGENT)
    options = parser.parse_args()
    shop = Shop(options.service, options.window or (2.0 if options.visitors else 60.0), options.agent)
    if options.visitors:
        simulate(shop, options.visitors, options.rate, longest=0.5)
        return
    print(f"the shop is at http://127.0.0.1:{options.port}, what it has learned at {options.service}", flush=True)
    try:
        http.server.ThreadingHTTPServer(("127.0.0.1", options.port), handler(shop)).serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
