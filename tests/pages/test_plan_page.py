"""The planner's page: results at once, choices in the address, files, and bad input."""

import json
from dataclasses import replace

import pytest
from app_pages import Open, go_to
from streamlit.testing.v1 import AppTest

from pagedkv.figures import plan_memory_alt
from pagedkv.planner import (
    MODELS,
    Choices,
    Geometry,
    GpuMemory,
    KvMemory,
    Latent,
    make_plan,
    make_steps,
    note_words,
    steps_without_memory,
    warning_words,
)
from pagedkv.planner.split import split_memory
from pages._plan_fields import FIELDS, LABELS, Choice, Measure, Whole, key
from pages._plan_link import refused, refused_words
from pages._plan_result import numbers, steps_html

LLAMA = next(model for model in MODELS if "llama-3.1-8b" in model.names)
LATENT_MODEL = next(model for model in MODELS if model.title == "DeepSeek-V3 / R1")
USUAL = make_plan(Choices(LLAMA.geometry, GpuMemory(80, 0.9, 14.96, 2)))
HOSTILE = "<img src=x onerror=alert(1)> **b**"


def metrics(app: AppTest) -> list[tuple[str, str]]:
    return [(metric.label, metric.value) for metric in app.metric]


def shown(app: AppTest) -> str:
    return "\n".join(element.value for element in (*app.markdown, *app.warning))


def texts(app: AppTest) -> str:
    return "\n".join(text.value for text in app.text)


def choose(app: AppTest, name: str, value: object) -> AppTest:
    field = FIELDS[name]
    if isinstance(field, Choice):
        if name in ("model", "dtype"):
            app.selectbox(key=key(name)).set_value(value)
        else:
            (control,) = (b for b in app.button_group if b.key == key(name))
            control.set_value(value)
    else:
        app.number_input(key=key(name)).set_value(value)
    app.run()
    assert not app.exception
    return app


def test_the_page_answers_at_once_with_every_line(open_page: Open):
    app = open_page("plan")
    assert not app.exception
    assert metrics(app) == numbers(USUAL)
    assert steps_html(make_steps(USUAL)) in [html.proto.body for html in app.get("html")]
    plots = app.get("plotly_chart")
    assert len(plots) == 3
    assert plots[0].proto.alt == plan_memory_alt(split_memory(USUAL))
    assert all(plot.proto.alt in shown(app) for plot in plots)
    assert len(app.dataframe) == 3


def test_every_choice_counts_without_a_button(open_page: Open):
    app = open_page("plan")
    for name, value in {"tp": 2, "max_len": 5000, "block_size": 32, "dtype": "1"}.items():
        choose(app, name, value)
    for name, value in {"gpu": 48.0, "share": 0.8, "weights": 9.0, "overhead": 1.5}.items():
        choose(app, name, value)
    plan = make_plan(Choices(LLAMA.geometry, GpuMemory(48, 0.8, 9, 1.5), 1, 2, 32, 5000))
    assert metrics(app) == numbers(plan)
    choose(choose(app, "memory", "kv"), "kv", 3.0)
    assert metrics(app) == numbers(make_plan(Choices(LLAMA.geometry, KvMemory(3), 1, 2, 32, 5000)))


@pytest.mark.parametrize("model", MODELS[::6], ids=lambda model: model.title)
def test_a_model_shows_its_source(open_page: Open, model):
    app = open_page("plan", plan_model=model.title, plan_memory="KV alone")
    assert metrics(app) == numbers(make_plan(Choices(model.geometry, KvMemory(10))))
    assert model.source_words in texts(app)


def test_what_is_unverified_is_marked(open_page: Open):
    app = open_page("plan", plan_model="OPT-66B", plan_memory="KV alone")
    assert app.warning[0].value.startswith("Geometry unverified: recalled")
    assert shown(app).count("nverified") == 1 and "nverified" not in texts(app)


def test_weights_are_counted_until_they_are_said_and_shared_by_the_gpus(open_page: Open):
    app = open_page("plan", plan_model="Llama-3 / 3.1 / 3.3-70B", plan_tp="4")
    assert app.number_input(key="plan_weights").value is None
    assert app.number_input(key="plan_weights").placeholder == "32.86"  # 131.42 / 4, up


def test_the_weights_of_each_gpu_are_those_that_advice_names(open_page: Open):
    """OPT-13B has 24.21 GiB: 6.0525 on each of 4 GPUs, which 6.05 would fall short of."""
    one = open_page("plan", plan_model="OPT-13B", plan_gpu="12")
    (warning,) = one.warning
    assert "over 4 such GPUs would do, each with 6.06 GiB of the weights" in warning.value
    four = open_page("plan", plan_model="OPT-13B", plan_gpu="12", plan_tp="4")
    assert four.number_input(key="plan_weights").placeholder == "6.06"


def test_where_weights_are_not_known_they_are_asked_for(open_page: Open):
    app = open_page("plan", plan_model="DeepSeek-V3 / R1", plan_tp="3")
    (info,) = app.info
    assert "Fill in “Weights, GiB”" in info.value and "1.86 GiB" in info.value
    plan = make_plan(Choices(LATENT_MODEL.geometry, KvMemory(10), tp=3))
    assert metrics(app) == [
        ("Bytes per token", "70,272"),
        ("Bytes of a block", f"{70_272 * 16:,}"),
        ("Blocks of a request", "512"),
    ]
    assert steps_html(steps_without_memory(plan)) in [html.proto.body for html in app.get("html")]
    (warning,) = app.warning
    assert "128 query heads between 3" in warning.value
    assert "not known" in app.number_input(key="plan_weights").help
    choose(app, "weights", 40.0)
    assert not app.info and len(app.metric) == 5


def test_own_numbers_and_files_show_what_is_known_before_the_weights(open_page: Open):
    app = open_page("plan", plan_source="Your own")
    assert app.info and ("Bytes per token", "131,072") in metrics(app)
    upload(app, json.dumps(FILES["heads"][0]).encode())
    assert app.info and ("Bytes per token", f"{42 * 2 * 8 * 256 * 2:,}") in metrics(app)
    choose(app, "weights", 0.0)
    assert not app.info and len(app.metric) == 5


def test_the_weights_field_says_what_is_taken_where_it_is_empty(open_page: Open):
    app = open_page("plan")
    assert "Empty: 2 bytes a parameter." in app.number_input(key="plan_weights").help


def test_the_requests_at_once_are_not_rounded_up(open_page: Open):
    """1,999 blocks, of which a request takes 1,000."""
    app = open_page("plan", plan_memory="KV alone", plan_kv="3.904296875", plan_max_len="16000")
    assert ("Requests at once", "1.99") in metrics(app)


def test_windows_ask_for_the_batched_tokens(open_page: Open):
    assert "plan_batched" not in [n.key for n in open_page("plan").number_input]
    app = open_page("plan", plan_model="Gemma-3-4B", plan_batched="2048", plan_memory="KV alone")
    geometry = next(model.geometry for model in MODELS if model.title == "Gemma-3-4B")
    plan = make_plan(Choices(geometry, KvMemory(10), batched_tokens=2048))
    assert metrics(app) == numbers(plan)
    assert " ".join(note_words(plan)) in shown(app)


def test_a_request_that_does_not_fit_is_told_with_what_would(open_page: Open):
    app = open_page("plan", plan_memory="KV alone", plan_kv="0.5")
    (warning,) = app.warning
    assert "Not even one request of 8,192 positions fits" in warning.value
    assert "A maximum length of 4,096 fits." in warning.value


def test_own_geometry_and_its_combinations(open_page: Open):
    app = open_page("plan", plan_source="Your own", plan_memory="KV alone", plan_layers="40")
    assert metrics(app) == numbers(make_plan(Choices(Geometry(40, 8, 128), KvMemory(10))))
    choose(app, "windowed", 20)
    assert "Window is not given, and Windowed layers is 20; give both" in texts(app)
    choose(app, "window", 512)
    own = Geometry(40, 8, 128, windowed_layers=20, window=512)
    assert metrics(app) == numbers(make_plan(Choices(own, KvMemory(10))))
    choose(app, "kind", "latent")
    own = Geometry(40, 1, 576, latent=Latent(512, 64), windowed_layers=20, window=512)
    assert metrics(app) == numbers(make_plan(Choices(own, KvMemory(10))))


def test_a_geometry_that_cannot_be_hides_no_field(open_page: Open):
    own = {"plan_source": "Your own", "plan_kind": "A latent (MLA)", "plan_memory": "KV alone"}
    app = open_page("plan", **own, plan_windowed="20", plan_window="512", plan_num_heads="8")
    fields = [field.key for field in app.number_input]
    assert {"plan_num_heads", "plan_windowed", "plan_window", "plan_batched"} < set(fields)
    choose(app, "rank", 65_536)
    assert "together they must be at most 65,536" in texts(app) and not app.metric
    assert [field.key for field in app.number_input] == fields


def test_heads_that_gpus_cannot_share_are_counted_and_named(open_page: Open):
    app = open_page("plan", plan_memory="KV alone", plan_kv="7.5", plan_block_size="32")
    for tp, is_uneven in ((3, True), (4, False)):
        choose(app, "tp", tp)
        plan = make_plan(Choices(LLAMA.geometry, KvMemory(7.5), tp=tp, block_size=32))
        assert metrics(app) == numbers(plan)
        lines = steps_html(make_steps(plan))
        assert lines in [html.proto.body for html in app.get("html")]
        assert ("engines refuse to share 8 KV heads between 3" in lines) is is_uneven
        assert [warning.value for warning in app.warning] == list(warning_words(plan))
        assert len(app.warning) == is_uneven


def test_every_number_of_the_library_is_called_by_its_field():
    named = {field.label for field in FIELDS.values() if not isinstance(field, Choice)}
    assert set(LABELS.values()) == named | {FIELDS["dtype"].label}


OWN = {"plan_source": "Your own", "plan_num_heads": "32", "plan_windowed": "4", "plan_window": "9"}
LATENT = {**OWN, "plan_kind": "A latent (MLA)"}


@pytest.mark.parametrize("link", [OWN, LATENT])
def test_a_number_that_is_not_whole_is_refused_by_name_and_no_other_changes(open_page: Open, link):
    app = open_page("plan", **link, plan_memory="KV alone", plan_tp="2")
    before = {field.key: field.value for field in app.number_input}
    wholes = [name for name in FIELDS if isinstance(FIELDS[name], Whole) and key(name) in before]
    assert len(wholes) > 8
    for name in wholes:
        choose(app, name, 2.5)
        said = f"{FIELDS[name].label} is 2.5; it must be a whole number from"
        assert said in texts(app) and not app.metric, name
        after = {field.key: field.value for field in app.number_input}
        assert after == {**before, key(name): 2.5}
        choose(app, name, before[key(name)])
    assert app.metric
    assert refused({"plan_max_len": ["2.5"]}) == ["max_len"]


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize(
    "value",
    [
        *("", "0x1", "nan", "inf", "-1", "1e999", "9" * 5000, HOSTILE),
        *("8_0", "٨", "１", "8٫5", " 8", "8\n", "+8", "8,0", "1e1_0", ".", "e5", "8.0.0"),
    ],
)
def test_what_a_link_cannot_have_is_told_by_name_and_the_usual_is_taken(
    open_page: Open, name: str, value: str
):
    field = FIELDS[name]
    if value == "" and not isinstance(field, Choice) and field.usual is None:
        return  # an empty field may be empty
    assert refused({key(name): [value]}) == [name]


@pytest.mark.parametrize("value", ["nan", "inf", "1e999", HOSTILE, "9" * 5000])
def test_a_hostile_link_gives_notices_and_the_usual_plan(open_page: Open, value: str):
    app = open_page("plan", **{key(name): value for name in FIELDS})
    assert not app.exception
    assert metrics(app) == numbers(USUAL)
    (warning,) = app.warning
    assert warning.value == refused_words(list(FIELDS))
    assert all(f"“{field.label}”" in warning.value for field in FIELDS.values())
    assert "onerror" not in shown(app) + texts(app)
    choose(app, "tp", 2)
    assert app.query_params == {} and len(app.warning) == 1


def test_every_value_that_a_link_gives_a_field_is_looked_at(open_page: Open):
    assert refused({"plan_tp": ["9999", "2"], "plan_layers": ["2", "x"]}) == ["layers", "tp"]
    assert refused({"plan_tp": ["2", "4"]}) == []
    app = open_page("plan", plan_source=["xx", "From the table"])
    assert [warning.value for warning in app.warning] == [refused_words(["source"])]
    assert metrics(app) == numbers(USUAL) and app.query_params == {}


def test_a_link_that_can_be_honoured_has_no_notice():
    for name, field in FIELDS.items():
        good = {
            Whole: lambda f: [str(f.allowed[0]), str(f.allowed[-1])],
            Measure: lambda f: [str(f.least), str(f.most), "1", "0.5", "1e-1"],
            Choice: lambda f: list(f.words.values()),
        }[type(field)](field)
        for text in good:
            assert refused({key(name): [text]}) == []


def test_coming_back_finds_what_was_chosen(open_page: Open):
    app = choose(open_page("plan"), "tp", 2)
    go_to(app, "growth")
    go_to(app, "plan")
    assert app.number_input(key="plan_tp").value == 2


def upload(app: AppTest, data: bytes) -> AppTest:
    app.file_uploader(key="plan_config").set_value(("config.json", data, "application/json")).run()
    assert not app.exception
    return app


FILES = {
    "heads": (
        {
            **{"num_hidden_layers": 42, "num_attention_heads": 16, "num_key_value_heads": 8},
            **{"head_dim": 256, "model_type": "gemma2", "sliding_window": 4096},
        },
        Geometry(42, 8, 256, num_heads=16, windowed_layers=21, window=4096),
    ),
    "latent": (
        {
            **{"num_hidden_layers": 61, "num_attention_heads": 128, "kv_lora_rank": 512},
            **{"qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128},
        },
        Geometry(61, 128, 192, num_heads=128, v_head_dim=128, latent=Latent(512, 64)),
    ),
    "latent alone": (
        {
            **{"num_hidden_layers": 7, "num_attention_heads": 4},
            **{"kv_lora_rank": 512, "qk_rope_head_dim": 64},
        },
        Geometry(7, 1, 576, latent=Latent(512, 64)),
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_fills_the_fields(open_page: Open, name: str):
    fields, geometry = FILES[name]
    app = open_page("plan", plan_source="Your own", plan_memory="KV alone")
    upload(app, json.dumps(fields).encode())
    assert metrics(app) == numbers(make_plan(Choices(geometry, KvMemory(10))))
    assert "Read from the file" in texts(app)
    app.run()
    assert metrics(app) == numbers(make_plan(Choices(geometry, KvMemory(10))))


def test_fields_that_a_file_filled_can_be_changed(open_page: Open):
    app = open_page("plan", plan_source="Your own", plan_memory="KV alone")
    upload(app, json.dumps(FILES["heads"][0]).encode())
    choose(app, "layers", 44)
    changed = replace(FILES["heads"][1], num_layers=44)
    assert metrics(app) == numbers(make_plan(Choices(changed, KvMemory(10))))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (json.dumps({"num_hidden_layers": HOSTILE}).encode(), "num_hidden_layers is '<img"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\xff", "no JSON"),
    ],
)
def test_a_bad_file_is_told_as_plain_text_and_the_fields_stay(
    open_page: Open, data: bytes, message: str
):
    app = open_page("plan", plan_source="Your own", plan_memory="KV alone", plan_layers="9")
    before = metrics(app)
    upload(app, data)
    assert metrics(app) == before
    assert message in texts(app)
    assert "<img" not in shown(app)


def test_the_figures_follow_the_theme(open_page: Open):
    app = open_page("plan")
    for theme in ("light", "dark"):
        app.context["theme"] = theme
        app.run()
        for plot in app.get("plotly_chart"):
            ink = json.loads(plot.proto.spec)["layout"]["font"]["color"]
            assert (int(ink[1:3], 16) > 127) == (theme == "dark")
