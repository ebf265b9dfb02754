// Names and values that no run can have: exit code 3.
#include "cli/bad_input.h"

namespace pits::test {
namespace {

class BadConfig : public testing::TestWithParam<BadInput> {};

TEST_P(BadConfig, IsOneClearLine) { expect_refused(GetParam()); }

constexpr int bad = bad_data_or_config;

const std::vector<BadInput> names = {
    {"Agent", "run --agent lin-t --env linear", bad, {"agent 'lin-t'", "did you mean 'lin-ts'"}},
    {"FarAgent", "run --agent oracle --env linear", bad, {"agent 'oracle'", "Known: pi-ts, feature-ts"}},
    {"EnvironmentIsAFile",
     "run --agent lin-ts --env DIR/config.toml",
     bad,
     {"is a file: csv:", "--label"},
     "a,b\n1,2\n"},
    {"Environment", "run --agent lin-ts --env whel", bad, {"environment 'whel'", "did you mean 'wheel'"}},
    {"Preset",
     "run --agent pi-ts:relased --env linear",
     bad,
     {"'pi-ts': unknown preset 'relased'", "did you mean 'released'"}},
    {"PresetOfNone", "run --agent lin-ucb:paper --env linear", bad, {"'lin-ucb' has no presets", "'paper'"}},
    {"EmptyPreset", "run --agent pi-ts: --env linear", bad, {"'pi-ts:'", "no preset"}},
    {"Field", "run --agent pi-ts,particle=5 --env linear", bad, {"'pi-ts'", "did you mean 'particles'"}},
    {"FieldOfEnvironment", "run --agent lin-ts --env wheel,dleta=1", bad, {"'wheel'", "did you mean 'delta'"}},
    {"Feedback", "run --agent lin-ts --env linear --feedback al", bad, {"feedback", "'al'", "did you mean 'all'"}},
    {"Regret", "run --agent lin-ts --env linear --regret mean", bad, {"regret", "'mean'", "did you mean 'means'"}},
    {"Compare", "run --agent lin-ts --env linear --compare lin-t", bad, {"'lin-t'", "did you mean 'lin-ts'"}},
    {"Truth", "run --agent lin-ts --env click,truth=liner", bad, {"truth", "'liner'", "did you mean 'linear'"}},
    {"Flow", "run --agent pi-ts,flow=svg --env linear", bad, {"flow", "'svg'", "did you mean 'svgd'"}},
    {"SampleFlow", "sample --flow spo", bad, {"flow", "'spo'", "did you mean 'spos'"}},
    {"SampleTarget", "sample --target bananna", bad, {"target 'bananna'", "did you mean 'banana'"}},
    {"SampleTargetLikeAPath", "sample --target no/where", bad, {"target 'no/where'", "Known: gaussian"}},
    {"SampleField", "sample --set bandwith=1", bad, {"'bandwith'", "did you mean 'bandwidth'"}},
    {"ListKind", "list agent", bad, {"'agent'", "did you mean 'agents'"}},
    {"ListName", "list agents lin-t", bad, {"agent 'lin-t'", "did you mean 'lin-ts'"}},
    {"SimdTarget",
     "run --agent lin-ts --env linear",
     bad,
     {"PITS_SIMD", "'MMX'", "Known: "},
     "",
     {{"PITS_SIMD", "MMX"}}},
};

const std::vector<BadInput> numbers = {
    {"StepsZero", "run --agent lin-ts --env linear --steps 0", bad, {"steps: must be at least 1", "not 0"}},
    {"StepsNegative", "run --agent lin-ts --env linear --steps -5", bad, {"steps: must be at least 1", "not -5"}},
    {"StepsHuge", "run --agent lin-ts --env linear --steps 5000000000", bad, {"steps", "at most 4000000000"}},
    {"RealizationsZero", "run --agent lin-ts --env linear --realizations 0", bad, {"realizations: must be at least 1"}},
    {"SeedNegative", "run --agent lin-ts --env linear --seed -1", bad, {"seed: must be at least 0", "not -1"}},
    {"ThreadsNegative", "run --agent lin-ts --env linear --threads -1", bad, {"--threads must be at least 0", "-1"}},
    {"ThreadsHuge", "run --agent lin-ts --env linear --threads 99999999999", bad, {"--threads", "at most 4096"}},
    {"NoParticles", "run --agent pi-ts,particles=0 --env linear", bad, {"particles: must be at least 1", "not 0"}},
    {"NoHiddenUnits", "run --agent pi-ts,hidden=0 --env linear", bad, {"hidden: must be at least 1", "not 0"}},
    {"StepNan", "run --agent pi-ts,step=nan --env linear", bad, {"step: must be above 0", "not nan"}},
    {"StepNegative", "run --agent pi-ts,step=-1 --env linear", bad, {"step: must be above 0", "not -1"}},
    {"StepInfinite", "run --agent pi-ts,step=inf --env linear", bad, {"step: must be above 0 and finite", "not inf"}},
    {"GammaNegative", "run --agent pi-ts,gamma=-1 --env linear", bad, {"gamma: must be at least 0", "not -1"}},
    {"ParticlesNoNumber", "run --agent pi-ts,particles=ten --env linear", bad, {"particles: must be a whole number"}},
    {"DeltaAboveOne", "run --agent lin-ts --env wheel,delta=2", bad, {"delta: must be at least 0 and at most 1"}},
    {"NoDimension", "run --agent lin-ts --env linear,dimension=0", bad, {"dimension: must be at least 1"}},
    {"NoActions", "run --agent lin-ts --env linear,actions=0", bad, {"actions: must be at least 1"}},
    {"BaseRate", "run --agent lin-ts --env click,base_rate=0", bad, {"base_rate: must be above 0", "not 0"}},
    {"Batch", "run --agent lin-ts --env click,batch=0", bad, {"batch: must be at least 1", "not 0"}},
    {"Appears", "run --agent lin-ts --env click,appears=9,actions=1", bad, {"appears: actions must be at least 2"}},
    {"CovarianceSize",
     "run --agent lin-ts --env linear,covariance=1x2x3",
     bad,
     {"covariance", "1, 10 or 100", "not 3"}},
    {"CovarianceNegative", "run --agent lin-ts --env linear,covariance=-1", bad, {"covariance", "above 0"}},
    {"SampleNoParticles", "sample --particles 0", bad, {"particles: must be at least 1", "not 0"}},
    {"SampleNoIterations", "sample --iterations 0", bad, {"iterations: must be at least 1", "not 0"}},
    {"SampleSeedNegative", "sample --seed -1", bad, {"seed must be at least 0", "not -1"}},
    {"SampleRecordEvery", "sample --set record_every=0", bad, {"record_every: must be at least 1", "not 0"}},
    {"SampleStepNan", "sample --set step=nan", bad, {"step: must be above 0", "not nan"}},
};

const std::vector<BadInput> combinations = {
    {"NoAgent", "run --env linear", bad, {"no agent given", "--agent NAME", "pits list agents"}},
    {"NoEnvironment", "run --agent lin-ts", bad, {"no environment given", "--env NAME", "pits list environments"}},
    {"AgentTwice", "run --agent lin-ts --agent lin-ts --env linear", bad, {"agent 'lin-ts'", "twice"}},
    {"EnvironmentTwice", "run --agent lin-ts --env wheel --env wheel", bad, {"environment 'wheel'", "twice"}},
    {"FieldTwice", "run --agent pi-ts,particles=5,particles=6 --env linear", bad, {"gives particles twice"}},
    {"ArgumentTwice", "run --agent lin-ts --env csv:a.csv,file=b.csv", bad, {"gives file twice"}},
    {"SpecWithoutEquals", "run --agent lin-ts,lambda --env linear", bad, {"'lambda'", "field=value"}},
    {"SetWithoutEquals",
     "run --agent lin-ts --env linear --set lin-ts.lambda",
     bad,
     {"'lin-ts.lambda'", "field=value"}},
    {"SetWithoutAgent", "run --agent lin-ts --env linear --set lambda=1", bad, {"'lambda=1'", "agent.field=value"}},
    {"SetWithEmptyAgent", "run --agent lin-ts --env linear --set .lambda=1", bad, {"'.lambda=1'", "agent.field=value"}},
    {"SetOfAbsentAgent", "run --agent lin-ts --env linear --set pi-ts.step=1", bad, {"'pi-ts'", "Known: lin-ts"}},
    {"SetEnvOfNone", "run --agent lin-ts --env linear --set-env delta=1", bad, {"of an environment", "'delta'"}},
    {"SetEnvOfAbsent", "run --agent lin-ts --env linear --set-env wheel.delta=1", bad, {"'wheel'", "Known: linear"}},
    {"NoiseWithAdam", "run --agent pi-ts,flow=spos --env linear", bad, {"flow spos", "optimizer=sgd", "adam"}},
    {"SampleNoiseWithAdam", "sample --flow spos --set optimizer=adam", bad, {"flow spos", "optimizer=sgd", "adam"}},
    {"SampleSetWithoutEquals", "sample --set step", bad, {"'step'", "field=value"}},
};

constexpr const char* from_file = "run --config DIR/config.toml";
constexpr const char* two_runs =
    "agents = ['uniform']\nsteps = 9\n[[run]]\nname = 'a'\nenvironments = ['wheel']\n"
    "[[run]]\nname = 'b'\nenvironments = ['linear']\n";

const std::vector<BadInput> runs = {
    {"NoName", from_file, bad, {"config.toml:1", "a run needs a name"}, "[[run]]\nsteps = 3\n"},
    {"NameOfAPath", from_file, bad, {"config.toml:1", "a run needs a name of letters"}, "[[run]]\nname = '../a'\n"},
    {"NameTwice", from_file, bad, {"config.toml:3", "'a' is there already"}, "[[run]]\nname='a'\n[[run]]\nname='a'\n"},
    {"NoTables", from_file, bad, {"config.toml:1", "[[run]]"}, "run = 3\n"},
    {"NameOfNoRun", from_file, bad, {"config.toml:1", "unknown key 'name'"}, "name = 'a'\n"},
    {"KeyOfARun", from_file, bad, {"config.toml:3", "did you mean 'steps'"}, "[[run]]\nname='a'\nstep = 3\n"},
    {"Only", "run --config DIR/config.toml --only c", bad, {"'c'", "Known: a, b"}, two_runs},
    {"OnlyOfNoFile", "run --agent uniform --env wheel --only a", wrong_usage, {"--only needs --config"}},
    {"EnvironmentOfWhich", "run --config DIR/config.toml --env wheel", wrong_usage, {"--only NAME"}, two_runs},
};

INSTANTIATE_TEST_SUITE_P(Runs, BadConfig, testing::ValuesIn(runs), name_of);
INSTANTIATE_TEST_SUITE_P(Unknown, BadConfig, testing::ValuesIn(names), name_of);
INSTANTIATE_TEST_SUITE_P(OutOfRange, BadConfig, testing::ValuesIn(numbers), name_of);
INSTANTIATE_TEST_SUITE_P(Combination, BadConfig, testing::ValuesIn(combinations), name_of);

}  // namespace
}  // namespace pits::test
