"""Trace files: every format is recognised, and whatever is wrong is told with its line."""

import json

import pytest

from pagedkv.workloads.trace_file import MOST_KEPT, ReadTrace, TraceError, read_trace

AZURE = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:17:03.9799600,4808,10
2023-11-16 18:17:04.0319600,110,27
2023-11-16 18:17:14.9799600,7,8
"""
BURST_GPT = """Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,GPT-4,1087,230,1317,API log
"""
BURST_GPT_NEWER = """Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,\
Total tokens,Log Type
5.5,12,3.1,ChatGPT,472,18,490,Conversation log
45.25,,2.0,GPT-4,1087,230,1317,API log
"""
MOONCAKE = """{"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47]}
{"timestamp": 30535, "input_length": 6472, "output_length": 26, "hash_ids": [46, 48]}
"""
PLAIN = "arrival,input,output\n0,10,20\n1.5,11,21\n"
PLAIN_JSONL = (
    '{"arrival": 0, "input": 10, "output": 20}\n{"output": 21, "input": 11, "arrival": 1.5}'
)


def read(text: str | bytes, **more: bool) -> ReadTrace:
    return read_trace("sample", text.encode() if isinstance(text, str) else text, **more)


def rows(trace: ReadTrace) -> list[tuple[float, int, int]]:
    return [(r.arrival, r.num_inputs, r.num_outputs) for r in trace.workload]


def refusal(text: str | bytes, **more: bool) -> TraceError:
    with pytest.raises(TraceError) as caught:
        read(text, **more)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    return caught.value


SAMPLES = [
    (AZURE, "Azure LLM inference trace", [(0, 4808, 10), (0.052, 110, 27), (11, 7, 8)]),
    (BURST_GPT, "BurstGPT", [(0, 472, 18), (40, 1087, 230)]),
    (BURST_GPT_NEWER, "BurstGPT", [(0, 472, 18), (39.75, 1087, 230)]),
    (MOONCAKE, "Mooncake", [(0, 6955, 52), (3.053, 6472, 26)]),
    (PLAIN, "plain CSV", [(0, 10, 20), (1.5, 11, 21)]),
    (PLAIN_JSONL, "plain JSONL", [(0, 10, 20), (1.5, 11, 21)]),
]


@pytest.mark.parametrize(("text", "name", "expected"), SAMPLES)
def test_every_format_is_recognised_and_read(text, name, expected) -> None:
    trace = read(text)
    assert trace.format.name == name
    assert rows(trace) == expected
    assert (trace.num_left_out, trace.left_out) == (0, ())


@pytest.mark.parametrize(("text", "name", "expected"), SAMPLES)
def test_byte_order_mark_windows_line_ends_and_empty_lines_do_not_matter(
    text, name, expected
) -> None:
    windows = "\ufeff" + text.replace("\n", "\r\n") + "\r\n\r\n"
    trace = read(windows)
    assert (trace.format.name, rows(trace)) == (name, expected)


def test_columns_are_found_by_name_in_any_order_and_more_of_them_are_passed_over() -> None:
    assert rows(read("note,output,arrival, input\nx,7,1,2\n")) == [(0, 2, 7)]


def test_a_time_zone_may_be_given() -> None:
    form = "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.009930+00:00,1,2\n"
    assert read(form).workload.inputs.tolist() == [1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        (" \r\n \n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        ("arrival,input,output\n", "no rows"),
        (b"\xff\xfea\x00r\x00", "not UTF-8 text (byte 1 is 0xff) in line 1; it looks like UTF-16"),
        (
            b"arrival,input,output\r0,1,1\r\n\xe9,1,1",
            "(byte 29 is 0xe9) in line 3; save it as UTF-8",
        ),
        ("arrival,input,output\n0,1,1".encode("utf-16-le"), "begins with null bytes"),
        ("arrival,input\n1,2\n", "the columns 'arrival, input' are of no known CSV trace"),
        ("arrival;input;output\n1;2;3\n", "parted by semicolons and must be by commas"),
        ("arrival\tinput\toutput\n1\t2\t3\n", "parted by tabs and must be by commas"),
        ("Arrival,Input,Output\n1,2,3\n", "capitals count: arrival, input, output"),
        ("arrival,input,input ,output\n1,2,3,4\n", "line 1: input stands 2 times in the header"),
        ('\n"arrival,input,output\n1,2,3\n', "line 2: a quote is opened and not closed"),
        ("1,2,3\n", "plain CSV: arrival, input, output"),
        ('{"arrival": 1, "input": 2}', "of no known JSONL trace"),
        ('[\n{"arrival": 1},', "each line must be one JSON object"),
        ("[[1, 2, 3]]", "Mooncake: timestamp, input_length, output_length"),
        ("[" * 100_000, "of no known JSONL trace"),
        ("x" * 300_000, "line 1: is no CSV (field larger than field limit"),
    ],
)
def test_what_is_no_trace_is_refused_and_leaving_rows_out_is_not_offered(text, words) -> None:
    for skip in (False, True):
        error = refusal(text, skip_bad_rows=skip)
        assert words in str(error)
        assert error.num_bad_rows == 0


def test_a_file_that_is_too_large_is_not_even_decoded() -> None:
    """The size is told before what is wrong with the first byte: up to 50 MB, and one more."""
    assert "not UTF-8 text (byte 1 is 0xff)" in str(refusal(b"\xff" * 50_000_000))
    assert "must have at most 50 MB" in str(refusal(b"\xff" * 50_000_001))


BAD_ROWS = [
    ("0,0,5", "line 3: input is '0'; it must be a whole number of tokens from 1 to 10,000,000"),
    ("0,5,0", "line 3: output is '0'"),
    ("0,-5,5", "line 3: input is '-5'"),
    ("0,5.5,5", "line 3: input is '5.5'"),
    ("0,nan,5", "line 3: input is 'nan'"),
    ("0,five,5", "line 3: input is 'five'"),
    ("0,10000001,5", "line 3: input is '10000001'"),
    (f"0,{'9' * 5000},5", "line 3: input is '99999"),
    ("nan,5,5", "line 3: arrival is 'nan'; it must be a number of seconds"),
    ("inf,5,5", "line 3: arrival is 'inf'"),
    ("-1,5,5", "line 3: arrival is '-1'"),
    (",5,5", "line 3: arrival is ''"),
    ("8_0,5,5", "line 3: arrival is '8_0'; it must be a number of seconds"),
    ("１,5,5", "line 3: arrival is '１'; it must be a number of seconds"),
    ("1e400,5,5", "line 3: arrival is '1e400'; it must be a number of seconds from 0 to 1e+12"),
    ("Infinity,5,5", "line 3: arrival is 'Infinity'; it must be a number of seconds"),
    ("0,8_0,5", "line 3: input is '8_0'; it must be a whole number of tokens"),
    ("0,１２,5", "line 3: input is '１２'; it must be a whole number of tokens"),
    ("0,inf,5", "line 3: input is 'inf'; it must be a whole number of tokens"),
    ('0,"5,5', "line 3: a quote is opened and not closed in the line"),
    ('"0,5,5', "line 3: a quote is opened and not closed in the line"),
    ('0,"5"5,5', "line 3: is no CSV (',' expected after '\"')"),
    ("0,5,5\u2028", "line 3: output is '5\\u2028'"),
    ("0", "line 3: has 1 field; the header has 3"),
    ("arrival,input,output", "line 3: is the header again"),
    ("\ufeffarrival,input,output", "line 3: is the header again"),
    ("soon,5,5", "line 3: arrival is 'soon'; it must be a number of seconds"),
    ("0,5", "line 3: has 2 fields; the header has 3"),
    ("0,5,5,5", "line 3: has 4 fields; the header has 3"),
    ("<b>0</b>,5,5", "line 3: arrival is '<b>0</b>'"),
]


@pytest.mark.parametrize(("row", "words"), BAD_ROWS)
def test_a_bad_row_is_named_by_line_and_left_out_only_on_request(row: str, words: str) -> None:
    text = f"arrival,input,output\n0,1,1\n{row}\n9,2,2\n"
    error = refusal(text)
    assert str(error).startswith(f"1 row is bad, 2 good: {words}")
    assert error.num_bad_rows == 1
    trace = read(text, skip_bad_rows=True)
    assert rows(trace) == [(0, 1, 1), (9, 2, 2)]
    assert trace.num_left_out == 1
    assert trace.left_out[0].startswith(words)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ('{"timestamp": NaN, "input_length": 1, "output_length": 1}', "timestamp is nan"),
        ('{"timestamp": "7", "input_length": 1, "output_length": 1}', "timestamp is '7'"),
        ('{"timestamp": true, "input_length": 1, "output_length": 1}', "timestamp is True"),
        ('{"timestamp": -7, "input_length": 1, "output_length": 1}', "number of milliseconds"),
        ('{"timestamp": 7, "input_length": true, "output_length": 1}', "input_length is True"),
        ('{"timestamp": 7, "input_length": 1e999, "output_length": 1}', "input_length is inf"),
        ('{"timestamp": 7, "input_length": [1], "output_length": 1}', "input_length is [1]"),
        ('{"timestamp": 7, "input_length": 1}', "output_length is missing"),
        ("[7, 1, 1]", "is no JSON object"),
        ("{7, 1, 1}", "is no JSON"),
        ("[" * 100_000, "is no JSON that can be read (too deep, or a number too long): '[[["),
        ("[" * 900 + "]" * 900, "is no JSON object: '[[["),
        ('{"timestamp": -0.5, "input_length": 1, "output_length": 1}', "timestamp is -0.5"),
        (f'{{"timestamp": 1{"0" * 4000}, "input_length": 1, "output_length": 1}}', "from 0 to"),
        ('{"timestamp": 7, "input_length": -0.0, "output_length": 1}', "input_length is -0.0"),
        (
            '{"timestamp": 7, "input_length": 1, "input_length": 2, "output_length": 1}',
            "input_length stands there more than once",
        ),
        (
            f'{{"timestamp": {"9" * 9000}}}',
            "is no JSON that can be read (too deep, or a number too",
        ),
    ],
)
def test_bad_rows_of_jsonl_are_named_too(row: str, words: str) -> None:
    text = f"{MOONCAKE}{row}\n"
    error = refusal(text)
    assert "line 3: " in str(error) and words in str(error)
    assert rows(read(text, skip_bad_rows=True)) == rows(read(MOONCAKE))


def test_a_line_that_ends_with_a_carriage_return_alone_is_a_line() -> None:
    text = "arrival,input,output\n0,1,1\n0,0,1\n9,2,2\n".replace("\n", "\r")
    assert "line 3: input is '0'" in str(refusal(text))
    assert rows(read(text, skip_bad_rows=True)) == [(0, 1, 1), (9, 2, 2)]
    assert rows(read(MOONCAKE.replace("\n", "\r"))) == rows(read(MOONCAKE))


def test_quoted_fields_and_lines_of_commas_alone_do_no_harm() -> None:
    text = '"arrival", "input","output","note"\n"0","1","2","a, ""b"""\n,,,\n,\n \n1,3,4,\n'
    assert rows(read(text)) == [(0, 1, 2), (1, 3, 4)]


def test_whole_numbers_may_be_written_with_a_point_as_pandas_does() -> None:
    assert rows(read("arrival,input,output\n0.0,3.0,4.0\n")) == [(0, 3, 4)]
    assert rows(read('{"arrival": -0.0, "input": 3.0, "output": 4e0}')) == [(0, 3, 4)]


@pytest.mark.parametrize(
    ("first", "words"),
    [
        ('{"timestamp": 27482}', "line 1: input_length is missing"),
        ("{}", "line 1: timestamp is missing"),
        ("[1, 2, 3]", "line 1: is no JSON object: '[1, 2, 3]'"),
        ("{timestamp", "line 1: is no JSON: '{timestamp'"),
        ("a word", "line 1: is no JSON: 'a word'"),
        ('"a quote', "line 1: is no JSON: '\"a quote'"),
    ],
)
def test_a_first_line_that_is_bad_hides_no_format(first: str, words: str) -> None:
    error = refusal(f"{first}\n{MOONCAKE}")
    assert str(error) == f"1 row is bad, 2 good: {words}"
    trace = read(f"{first}\n{MOONCAKE}", skip_bad_rows=True)
    assert (trace.format.name, rows(trace)) == ("Mooncake", rows(read(MOONCAKE)))


def test_columns_that_are_passed_over_may_stand_twice() -> None:
    assert rows(read("note,arrival,input,output,note\nx,0,1,2,y\n")) == [(0, 1, 2)]
    assert rows(read('{"x": 1, "x": 2, "arrival": 0, "input": 1, "output": 2}')) == [(0, 1, 2)]


@pytest.mark.parametrize(
    "written",
    ["2023-11-16", "16/11/2023 18:17", "２023-11-16 18:17:04", "2023-02-30 18:17:04", "7"],
)
def test_azures_clock_is_a_date_and_a_time(written: str) -> None:
    error = refusal(f"{AZURE}{written},1,1\n")
    assert f"line 5: TIMESTAMP is '{written}'; it must be a date and time such as" in str(error)


@pytest.mark.parametrize("tokens", ["0", "0.0"])
def test_a_request_that_failed_is_named_so_in_burst_gpt(tokens: str) -> None:
    text = f"{BURST_GPT}50,ChatGPT,472,{tokens},472,Conversation log\n"
    assert f"line 4: Response tokens is '{tokens}'" in str(refusal(text))
    assert str(refusal(text)).endswith("this request failed")
    assert rows(read(text, skip_bad_rows=True)) == rows(read(BURST_GPT))
    negative = f"{BURST_GPT}50,ChatGPT,472,-1,472,Conversation log\n"
    assert "failed" not in str(refusal(negative))


def test_rows_that_go_back_in_time_are_bad() -> None:
    text = "arrival,input,output\n7,1,1\n3,2,2\n8,3,3\n"
    error = refusal(text)
    assert str(error) == "1 row is bad, 2 good: line 3: arrival is '3', 4 s earlier than line 2"
    assert rows(read(text, skip_bad_rows=True)) == [(0, 1, 1), (1, 3, 3)]


def test_one_arrival_that_is_far_too_late_costs_one_row() -> None:
    text = "arrival,input,output\n\n0,1,1\n999,2,2\n1,0,3\n1,3,3\n2,4,4\n"
    late = "line 4: arrival is '999', 998 s later than line 6"
    error = refusal(text)
    assert str(error).startswith(f"2 rows are bad, 3 good: {late}; line 5: input is '0'")
    assert error.num_bad_rows == 2
    trace = read(text, skip_bad_rows=True)
    assert rows(trace) == [(0, 1, 1), (1, 3, 3), (2, 4, 4)]
    assert (trace.num_left_out, trace.left_out[0]) == (2, late)


def test_arrivals_count_from_the_first_row_that_stays() -> None:
    text = "arrival,input,output\n999,1,1\n5,2,2\n7,3,3\n"
    assert rows(read(text, skip_bad_rows=True)) == [(0, 2, 2), (2, 3, 3)]


@pytest.mark.parametrize(
    "times", [(0, 0.3), (0.1, 0.4), (7.1, 7.4), (1_700_000_000.1, 1_700_000_000.4)]
)
def test_arrivals_are_as_far_apart_as_they_are_written(times: tuple[float, float]) -> None:
    text = "arrival,input,output\n" + "".join(f"{at},1,1\n" for at in times)
    assert rows(read(text)) == [(0, 1, 1), (0.3, 1, 1)]


def test_a_file_in_no_order_is_told_to_be_sorted() -> None:
    azure = AZURE.splitlines(keepends=True)
    text = "".join([azure[0], *reversed(azure[1:])])
    error = refusal(text)
    assert "line 3: TIMESTAMP is '2023-11-16 18:17:04.0319600', 10.948 s earlier than line 2" in (
        str(error)
    )
    assert str(error).endswith(". 2 stand out of order: sort the file by arrival")


def test_of_many_rows_out_of_order_the_first_are_told_too() -> None:
    text = "arrival,input,output\n" + "".join(f"{1000 - n},1,1\n" for n in range(1000)) + "0,0,0\n"
    error = refusal(text)
    assert "1,000 rows are bad, 1 good: line 3: arrival is '999', 1 s earlier than line 2" in (
        str(error)
    )
    assert str(error).endswith("(and 995 more). 999 stand out of order: sort the file by arrival")
    trace = read(text, skip_bad_rows=True)
    assert (trace.num_left_out, len(trace.left_out)) == (1000, MOST_KEPT)
    assert trace.left_out[-1].startswith(f"line {MOST_KEPT + 2}: ")


def test_of_many_bad_rows_the_first_are_told_and_the_others_counted() -> None:
    text = "arrival,input,output\n0,1,1\n" + "0,0,0\n" * 1000
    error = refusal(text)
    assert "1,000 rows are bad, 1 good" in str(error)
    assert "line 7" in str(error) and "line 8" not in str(error)
    assert str(error).endswith("(and 995 more)")
    trace = read(text, skip_bad_rows=True)
    assert (trace.num_left_out, len(trace.left_out)) == (1000, MOST_KEPT)


def test_a_file_without_a_good_row_has_nothing_to_offer() -> None:
    text = "arrival,input,output\n0,0,0\n"
    assert refusal(text).num_bad_rows == 0
    assert "no row that can be read" in str(refusal(text, skip_bad_rows=True))


def test_twenty_thousand_rows_are_all_read() -> None:
    lines = [
        json.dumps({"timestamp": n, "input_length": n + 1, "output_length": 1})
        for n in range(20_000)
    ]
    workload = read("\n".join(lines)).workload
    assert len(workload) == 20_000
    assert workload.inputs.sum() == sum(range(1, 20_001))
    assert workload.arrivals[-1] == pytest.approx(19.999)


def test_nothing_in_a_file_is_executed(tmp_path) -> None:
    hostile = tmp_path / "made"
    code = f"__import__('pathlib').Path({str(hostile)!r}).touch()"
    refusal(f"arrival,input,output\n{code},1,1\n")
    refusal('{"arrival": 0, "input": "__import__(\\"os\\")", "output": 1}')
    assert not hostile.exists()
