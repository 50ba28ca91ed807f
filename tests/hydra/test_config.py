"""Effective values, their origins and inheritance; faults with their kind; trees that are not read."""

from __future__ import annotations

import pytest

from checks.hydra.compose import Composer, Composition, Unresolvable
from checks.hydra.config import ABSENT, UNKNOWN, EffectiveConfig
from checks.hydra.entry import Entry, Flags, NoEntry, NotHydra, OutsideTree, find_entry
from checks.hydra.overrides import Fault, Override
from checks.hydra.unknown import MARKER
from checks.model import Span
from checks.snapshot import TreeEntry
from tests.mini import REF_CONFIG, base_files, edited, line_of, snapshot

ENTRY = Entry("verl.trainer.main_ppo", "verl/trainer/config", "ppo_trainer", None, "")
ACTOR_OTC = "actor_rollout_ref.actor.megatron.override_transformer_config"
REF_OTC = "actor_rollout_ref.ref.megatron.override_transformer_config"
ENGINE = "verl/trainer/config/engine/megatron.yaml"


def overrides(*texts: str) -> tuple[Override, ...]:
    return tuple(
        Override(text, Span("x.sh", number, 1, number, 9), ()) for number, text in enumerate(texts, 1)
    )


def composition(*texts: str, files: dict[str, str] | None = None) -> Composition:
    composed = Composer(snapshot(files or base_files())).compose(ENTRY, overrides(*texts))
    assert isinstance(composed, Composition)
    return composed


def config(*texts: str) -> EffectiveConfig:
    return EffectiveConfig(composition("model_engine=megatron", *texts))


def test_values_are_resolved() -> None:
    effective = config(f"+{ACTOR_OTC}.moe_router_dtype=fp32")
    assert effective.value(f"{REF_OTC}.moe_router_dtype") == "fp32"
    assert effective.value("actor_rollout_ref.ref.nothing") is ABSENT
    assert effective.value(REF_OTC)["recompute_modules"] == ["core_attn"]


def test_an_unknown_override_makes_dependent_values_unknown_and_no_others() -> None:
    effective = config(f"actor_rollout_ref.actor.megatron.tensor_model_parallel_size={MARKER}")
    assert effective.value("actor_rollout_ref.ref.megatron.tensor_model_parallel_size") is UNKNOWN
    assert effective.value("actor_rollout_ref.ref.megatron.pipeline_model_parallel_size") == 1


def test_the_environment_of_the_host_is_never_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "must-not-appear")
    effective = config("trainer.project_name=${oc.env:SECRET}", "+a.b=${hydra:runtime.cwd}")
    assert effective.value("trainer.project_name") is UNKNOWN
    assert effective.value("a.b") is UNKNOWN


def test_origins_are_the_last_place_that_sets_the_value() -> None:
    effective = config("actor_rollout_ref.rollout.n=4")
    text = base_files()[ENGINE]
    origin = effective.origin(f"{ACTOR_OTC}.attention_backend")
    assert origin is not None
    assert (origin.path, origin.line) == (ENGINE, line_of(text, "attention_backend"))
    overridden = effective.origin("actor_rollout_ref.rollout.n")
    assert overridden is not None
    assert (overridden.path, overridden.line) == ("x.sh", 2)
    later = effective.origin("actor_rollout_ref.ref.strategy")
    assert later is not None
    assert later.path == REF_CONFIG
    interpolated = effective.origin(REF_OTC)
    assert interpolated is not None
    assert (interpolated.path, interpolated.line) == (
        REF_CONFIG, line_of(base_files()[REF_CONFIG], "override_transformer_config"),
    )  # fmt: skip
    assert effective.origin(f"{REF_OTC}.attention_backend") is None


def test_inheritance_names_node_source_and_line() -> None:
    inherited = config().inherits_from(f"{REF_OTC}.attention_backend")
    assert inherited is not None
    assert (inherited.node, inherited.source, inherited.origin.path) == (REF_OTC, ACTOR_OTC, REF_CONFIG)
    severed = config(f"++{REF_OTC}.x=1")
    assert severed.inherits_from(f"{REF_OTC}.x") is None
    assert severed.tree_inherits_from(f"{REF_OTC}.x") is not None


def test_every_fault_is_found_with_its_kind() -> None:
    faults = composition(
        "model_engine=megatron",
        "trainer.nowhere=1",
        "+trainer.nnodes=2",
        "trainer.nnodes=3",
        "data.a b=1",
        "trainer.total_epochs=1,2",
        f"{REF_OTC}.attention_backend=fused",
        f"+{REF_OTC}.attention_backend=fused",
        "~trainer.absent",
    ).faults
    assert [(fault.override.text if fault.override else None, fault.kind) for fault in faults] == [
        ("data.a b=1", "grammar"),
        ("trainer.total_epochs=1,2", "grammar"),
        ("trainer.nowhere=1", "unknown-key"),
        ("+trainer.nnodes=2", "already-there"),
        (f"{REF_OTC}.attention_backend=fused", "unknown-key"),
        (f"+{REF_OTC}.attention_backend=fused", "already-there"),
        ("~trainer.absent", "value"),
    ]


def test_a_refused_override_leaves_no_trace() -> None:
    composed = composition("model_engine=megatron", f"{REF_OTC}.attention_backend=fused")
    effective = EffectiveConfig(composed)
    assert effective.inherits_from(REF_OTC) is not None


def test_an_option_that_does_not_exist_is_one_fault_with_its_override() -> None:
    fault = Composer(snapshot(base_files())).compose(ENTRY, overrides("model_engine=mindspeed"))
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.override) == ("option", overrides("model_engine=mindspeed")[0])


def test_an_option_that_is_not_known_is_not_guessed() -> None:
    with pytest.raises(Unresolvable, match="model_engine"):
        Composer(snapshot(base_files())).compose(ENTRY, overrides(f"model_engine={MARKER}"))


@pytest.mark.parametrize(
    "searchpath",
    ["pkg://os", "file:///etc", "file://../..", "/etc", "http://x", "file://verl/trainer/nowhere"],
)
def test_search_paths_outside_the_tree_give_no_file(searchpath: str) -> None:
    files = edited(base_files(), "verl/trainer/config/ppo_trainer.yaml", "defaults:",
                   f"hydra:\n  searchpath: ['{searchpath}']\n\ndefaults:\n  - passwd")  # fmt: skip
    composed = Composer(snapshot(files)).compose(ENTRY, ())
    assert isinstance(composed, Fault)
    assert composed.override is None


def test_search_paths_inside_the_tree_are_mapped() -> None:
    files = {
        "other/config/main.yaml": "hydra:\n  searchpath: ['pkg://verl.trainer.config']\n"
        "defaults: [ppo_trainer, _self_]\n",
        **base_files(),
    }
    entry = Entry("x", "other/config", "main", None, "")
    composed = Composer(snapshot(files)).compose(entry, overrides("model_engine=megatron"))
    assert isinstance(composed, Composition)
    assert composed.config.actor_rollout_ref.actor.strategy == "megatron"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("verl/trainer/config/ppo_trainer.yaml", "a: &a [1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n"
         "c: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\n"
         "f: [*e,*e,*e,*e,*e,*e,*e,*e]\n"),
        ("verl/trainer/config/ppo_trainer.yaml", "[" * 5000),
        ("verl/trainer/config/ppo_trainer.yaml", "- " * 5000 + "a"),
        ("verl/trainer/config/ppo_trainer.yaml", "a: !!python/object/apply:os.system [id]"),
        ("verl/trainer/config/ppo_trainer.yaml", "a: b: c"),
        ("verl/trainer/config/ppo_trainer.yaml", "a: 1\na: 2"),
        ("verl/trainer/config/ppo_trainer.yaml", f"a: {'9' * 5000}"),
        ("verl/trainer/config/ref/dp_ref.yaml", "defaults: 1"),
    ],
)  # fmt: skip
def test_a_hostile_or_broken_tree_is_a_fault_of_the_tree(path: str, text: str) -> None:
    composed = Composer(snapshot({**base_files(), path: text})).compose(ENTRY, ())
    assert isinstance(composed, Fault)
    assert composed.override is None
    assert composed.reason


MODULE = (
    "import hydra\n@hydra.main(config_path='config', config_name='c', version_base=None)\ndef main(): ..."
)


def test_the_entry_is_read_from_the_decorator() -> None:
    tree = snapshot({"a/b.py": "import hydra\n" + MODULE})
    assert find_entry(tree, "a.b", Flags(), "") == Entry("a.b", "a/config", "c", None, "")
    flags = Flags(config_path="../other", config_name="d.yaml")
    assert find_entry(tree, "a.b", flags, "").config == "other/d.yaml"
    assert find_entry(tree, "b.py", Flags(), "a").folder == "a/config"


@pytest.mark.parametrize(
    ("files", "module", "flags", "error"),
    [
        ({"a.py": "x = 1"}, "a", Flags(), NotHydra),
        ({}, "a", Flags(), NoEntry),
        ({"a.py": MODULE.replace("'c'", "NAME")}, "a", Flags(), NoEntry),
        ({"a.py": MODULE}, "a", Flags(config_dir="/x"), NoEntry),
        ({"a.py": MODULE}, "a", Flags(config_path="/etc"), NoEntry),
        ({"a.py": MODULE}, "a", Flags(config_path="../.."), NoEntry),
        ({"a.py": "def ("}, "a", Flags(), NoEntry),
        ({"a.py": MODULE.replace("config_name='c', ", "")}, "a", Flags(), NoEntry),
    ],
)
def test_what_is_no_entry(files: dict[str, str], module: str, flags: Flags, error: type[Exception]) -> None:
    with pytest.raises(error):
        find_entry(snapshot(files), module, flags, "")


def test_a_module_of_a_submodule_is_outside_the_tree() -> None:
    tree = snapshot({})
    tree.tree = {"recipe": TreeEntry("0" * 40, "160000")}
    with pytest.raises(OutsideTree, match="recipe"):
        find_entry(tree, "recipe.dapo.main_dapo", Flags(), "")
