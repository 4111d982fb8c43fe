"""Each surface has its own names for what the library refuses: none is left without one."""

import pytest

from pagedkv.planner import Choices, Geometry, GpuMemory, KvMemory, Latent, PlanError
from pagedkv.planner.checking import Named
from pagedkv.planner.command import FLAGS

WRONG = {
    "layers": lambda: Geometry(0, 8, 128),
    "kv_heads": lambda: Geometry(1, 0, 128),
    "head_dim": lambda: Geometry(1, 8, 0),
    "v_head_dim": lambda: Geometry(1, 8, 8, v_head_dim=0),
    "num_heads": lambda: Geometry(1, 8, 8, num_heads=0),
    "windowed_layers": lambda: Geometry(1, 8, 8, windowed_layers=2, window=5),
    "window": lambda: Geometry(1, 8, 8, windowed_layers=1, window=0),
    "mla_rank": lambda: Latent(0, 64),
    "rope_dim": lambda: Latent(64, 0),
    "dtype_bytes": lambda: Choices(Geometry(1, 1, 1), KvMemory(1), dtype_bytes=3),
    "tp": lambda: Choices(Geometry(1, 1, 1), KvMemory(1), tp=0),
    "block_size": lambda: Choices(Geometry(1, 1, 1), KvMemory(1), block_size=0),
    "max_len": lambda: Choices(Geometry(1, 1, 1), KvMemory(1), max_len=0),
    "batched_tokens": lambda: Choices(Geometry(1, 1, 1), KvMemory(1), batched_tokens=0),
    "gpu_gib": lambda: GpuMemory(0, 1, 1, 1),
    "utilization": lambda: GpuMemory(1, 0, 1, 1),
    "weights_gib": lambda: GpuMemory(1, 1, -1, 1),
    "overhead_gib": lambda: GpuMemory(1, 1, 1, -1),
    "kv_gib": lambda: KvMemory(0),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused_can_be_named_as_anybody_does(name):
    with pytest.raises(PlanError) as refused:
        WRONG[name]()
    said = str(refused.value)
    assert said.startswith(f"{name} is ")
    assert refused.value.named({name: "This field"}) == "This field" + said.removeprefix(name)


def test_every_name_has_a_flag_but_those_that_no_flag_sets():
    assert set(WRONG) - set(FLAGS) == {"v_head_dim", "num_heads"}


def test_a_value_that_looks_like_a_name_stays_as_it_is():
    error = PlanError(Named("tp"), " is 'tp'; it must be a whole number")
    assert error.named({"tp": "--tp"}) == "--tp is 'tp'; it must be a whole number"
