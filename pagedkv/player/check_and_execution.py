"""What was asked before memory was given, and what one run of the model took in."""

from typing import Any

from pagedkv.player.roster import Roster
from pagedkv.player.text import explained, say, say_count
from pagedkv.trace.frame import Check, ExecutionView

Data = dict[str, Any]


def check_data(check: Check | None, roster: Roster) -> Data | None:
    """Describe what was asked before memory was given, and the answer."""
    if check is None:
        return None
    steps: list[str | Data] = [say_count("check_inputs", check.num_inputs)]
    if check.copies:
        steps.append(explained(say("check_shared"), "copy-on-write"))
    elif check.empty_in_last_block:
        steps.append(say_count("check_fit", min(check.empty_in_last_block, check.num_inputs)))
    steps += [say_count("check_needs", check.needed), say("check_free", count=check.free)]
    return {
        "r": roster.index(check.request),
        "title": say("check", request=check.request),
        "steps": steps,
        "fits": check.fits,
        "verdict": say("check_yes" if check.fits else "check_no"),
    }


def execution_data(execution: ExecutionView | None, roster: Roster) -> Data | None:
    """Describe one execution: inputs of each request, their sum, the budget."""
    if execution is None:
        return None
    within = execution.num_tokens <= execution.token_budget
    return {
        "title": say("execution"),
        "parts": [[roster.index(count.request), count.num_tokens] for count in execution.inputs],
        "total": [execution.num_tokens, say_count("inputs", execution.num_tokens)],
        "within": within,
        "budget": say("budget_ok" if within else "budget_over", budget=execution.token_budget),
    }
