"""In which iteration a request is there: times as they are written, in whole numbers."""

from fractions import Fraction

NANOSECONDS = 1_000_000_000  # in a second; what arrivals are closer together makes no difference


class Clock:
    """Moves on by ``iteration_ms`` milliseconds an iteration; iteration 0 begins at 0.

    Floats would not do: 0.3 / 0.1 is less than 3, and 16.065 * 1000 more than 16065. So an
    iteration is as long as its decimals say, and an arrival is taken to the nanosecond.

    >>> Clock(0.1).first_iteration_at(0.0003)
    3
    """

    def __init__(self, iteration_ms: float) -> None:
        length = Fraction(str(iteration_ms)) * (NANOSECONDS // 1000)
        self._numerator, self._denominator = length.as_integer_ratio()

    def first_iteration_at(self, seconds: float) -> int:
        """The first iteration that begins when so many seconds have passed."""
        return -(-round(seconds * NANOSECONDS) * self._denominator // self._numerator)
