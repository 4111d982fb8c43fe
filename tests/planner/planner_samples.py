"""Geometries and choices for the tests of the planner, at random and by hand."""

from dataclasses import replace

from hypothesis import strategies as st

from pagedkv.planner import Choices, Geometry, GpuMemory, KvMemory, Latent

LLAMA = Geometry(32, 8, 128, num_heads=32)
HYBRID = Geometry(34, 4, 256, num_heads=8, windowed_layers=29, window=1024)
WINDOWED = Geometry(32, 8, 128, num_heads=32, windowed_layers=32, window=4096)
LATENT = Geometry(61, 128, 192, num_heads=128, v_head_dim=128, latent=Latent(512, 64))


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    """Small models of every kind."""
    layers = draw(st.integers(1, 12))
    windowed = draw(st.integers(0, layers))
    return Geometry(
        num_layers=layers,
        num_kv_heads=draw(st.sampled_from([1, 2, 3, 4, 8])),
        head_dim=draw(st.sampled_from([8, 64, 80])),
        v_head_dim=draw(st.sampled_from([None, 16])),
        windowed_layers=windowed,
        window=draw(st.integers(1, 40)) if windowed else None,
        latent=draw(st.none() | st.builds(Latent, st.integers(1, 64), st.integers(1, 16))),
    )


@st.composite
def choices(draw: st.DrawFn) -> Choices:
    """A small model in a memory of few blocks, so that every edge is met."""
    geometry = draw(geometries())
    return Choices(
        geometry=geometry,
        memory=KvMemory(draw(st.integers(1, 2**21)) / 2**30),
        dtype_bytes=draw(st.sampled_from([1, 2, 4, 8])),
        tp=draw(st.sampled_from([1, 2, 3, 4, 8, 16])),
        block_size=draw(st.integers(1, 20)),
        max_len=draw(st.integers(1, 200)),
        batched_tokens=draw(st.integers(1, 40)),
    )


@st.composite
def any_choices(draw: st.DrawFn) -> Choices:
    """Choices whose query heads may be known, in a memory of numbers with many digits."""
    chosen = draw(choices())
    heads = draw(
        st.none() | st.integers(1, 9).map(lambda each: each * chosen.geometry.num_kv_heads)
    )
    few = st.floats(0, 0.002)
    share = st.floats(0.001, 1)
    whole_gpu = st.builds(GpuMemory, few.filter(bool), share, few, few)
    memory = st.builds(KvMemory, (few | st.floats(0, 1_000_000)).filter(bool))
    return replace(
        chosen,
        geometry=replace(chosen.geometry, num_heads=heads),
        memory=draw(st.just(chosen.memory) | whole_gpu | memory),
    )
