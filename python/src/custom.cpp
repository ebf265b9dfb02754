#include "custom.h"

#include "arrays.h"

namespace pits::python {
namespace {

// A Python object that any thread may copy and drop.
class Shared {
 public:
  explicit Shared(py::object object)
      : object_(new py::object(std::move(object)), [](py::object* held) {
          const py::gil_scoped_acquire gil;
          delete held;
        }) {}
  const py::object& operator*() const { return *object_; }

 private:
  std::shared_ptr<py::object> object_;
};

// A view of our memory that numpy must not outlive: what Python is given is a copy.
py::array_t<float> copied(ContextView x) { return array_of(x); }

class CustomAgent final : public Agent {
 public:
  CustomAgent(Shared object, const AgentSetup& setup) : object_(std::move(object)), setup_(setup) {}

  Decision choose(const Query& query) const override {
    const py::gil_scoped_acquire gil;
    const py::object answer = (*object_).attr("choose")(copied(query.x));
    const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(answer.ptr()));
    if (!index) throw py::error_already_set();
    const auto action = index.cast<std::int64_t>();
    if (action < 0 || static_cast<std::size_t>(action) >= setup_.actions) {
      throw bad_input("choose gave the action {}, not one from 0 to {}", action, setup_.actions - 1);
    }
    return {.action = static_cast<Action>(action), .propensity = std::nullopt};
  }

  void learn(std::span<const Feedback> events) override {
    const py::gil_scoped_acquire gil;
    for (const Feedback& event : events) (*object_).attr("learn")(copied(event.x), event.action, event.reward);
  }

  std::unique_ptr<const Policy> snapshot() const override { throw failed("an agent in Python has no snapshots"); }

 private:
  Shared object_;
  AgentSetup setup_;
};

void copy_numbers(py::handle given, const char* name, std::size_t size, std::vector<double>& out) {
  const py::array_t<double> numbers = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(given);
  if (!numbers) throw py::error_already_set();
  if (numbers.ndim() != 1 || static_cast<std::size_t>(numbers.size()) != size) {
    throw bad_input("draw gave {} {}, not {}", numbers.size(), name, size);
  }
  out.assign(numbers.data(), numbers.data() + size);
  for (const double x : out) {
    if (!std::isfinite(x)) throw bad_input("draw gave {} that are not finite", name);
  }
}

class CustomEnvironment final : public Environment {
 public:
  explicit CustomEnvironment(Shared object)
      : object_(std::move(object)), context_size_(whole("n_features")), actions_(whole("n_actions")) {
    if (py::hasattr(*object_, "horizon") && !(*object_).attr("horizon").is_none()) horizon_ = whole("horizon");
  }

  std::size_t context_size() const override { return context_size_; }
  std::size_t actions() const override { return actions_; }
  std::size_t horizon() const override { return horizon_; }

  void draw(std::size_t t, Round& round) const override {
    const py::gil_scoped_acquire gil;
    const py::tuple drawn = (*object_).attr("draw")(t);
    if (drawn.size() != 2 && drawn.size() != 3) {
      throw bad_input("draw must give (context, rewards) or (context, rewards, mean_rewards), not {} things",
                      drawn.size());
    }
    const Numbers<float> context(drawn[0], "the context of draw", 1);
    if (context.flat().size() != context_size_) {
      throw bad_input("draw gave a context of {} numbers, not {}", context.flat().size(), context_size_);
    }
    round.context.assign(context.flat().begin(), context.flat().end());
    copy_numbers(drawn[1], "rewards", actions_, round.rewards);
    copy_numbers(drawn[drawn.size() - 1], "mean rewards", actions_, round.mean_rewards);
  }

 private:
  std::size_t whole(const char* name) const {
    const auto value = (*object_).attr(name).cast<std::int64_t>();
    if (value < 1) throw bad_input("{} of an environment must be at least 1, not {}", name, value);
    return static_cast<std::size_t>(value);
  }

  Shared object_;
  std::size_t context_size_;
  std::size_t actions_;
  std::size_t horizon_ = std::numeric_limits<std::size_t>::max();
};

// Things without fields; `make` calls the factory with the GIL held.
template <class Product, class Setup, class Make>
Entry<Product, Setup> entry(const std::string& name, const py::object& factory, Make make) {
  struct CustomRecipe final : Recipe<Product, Setup> {
    CustomRecipe(Shared f, Make m) : factory_(std::move(f)), make_(m) {}
    Fields fields() override { return {}; }
    std::unique_ptr<Product> make(const Setup& setup) const override {
      const py::gil_scoped_acquire gil;
      return make_(*factory_, setup);
    }
    Shared factory_;
    Make make_;
  };
  return {name, "", {}, [shared = Shared(factory), make](std::string_view) {
            return std::make_unique<CustomRecipe>(shared, make);
          }};
}

}  // namespace

AgentEntry custom_agent(const std::string& name, py::object factory) {
  return entry<Agent, AgentSetup>(name, factory, [](const py::object& make, const AgentSetup& setup) {
    using namespace py::literals;
    return std::make_unique<CustomAgent>(Shared(make("n_actions"_a = setup.actions, "n_features"_a = setup.context_size,
                                                     "seed"_a = setup.seed, "realization"_a = setup.realization)),
                                         setup);
  });
}

EnvironmentEntry custom_environment(const std::string& name, py::object factory) {
  return entry<Environment, EnvironmentSetup>(name, factory, [](const py::object& make, const EnvironmentSetup& setup) {
    using namespace py::literals;
    return std::make_unique<CustomEnvironment>(
        Shared(make("seed"_a = setup.seed, "realization"_a = setup.realization, "steps"_a = setup.steps)));
  });
}

}  // namespace pits::python
