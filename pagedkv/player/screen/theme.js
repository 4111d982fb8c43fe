/** Light or dark: as asked, or by the page's background. */

export function themeOf(shell, asked) {
  if (asked === "light" || asked === "dark") return asked;
  const background = getComputedStyle(shell).getPropertyValue("--st-background-color").trim();
  const rgb = parseColour(background);
  if (rgb)
    return (0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]) / 255 < 0.4 ? "dark" : "light";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function parseColour(text) {
  const hex = /^#([0-9a-f]{6}|[0-9a-f]{3})/i.exec(text);
  if (hex) {
    const digits =
      hex[1].length === 3 ? [...hex[1]].map((digit) => digit + digit) : hex[1].match(/../g);
    return digits.map((pair) => parseInt(pair, 16));
  }
  const numbers = /^rgba?\(([^)]+)\)/i.exec(text);
  return numbers
    ? numbers[1]
        .split(/[\s,/]+/)
        .slice(0, 3)
        .map(Number)
    : null;
}
