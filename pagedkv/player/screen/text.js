/** Text around numbers: templates with `{names}`, numbers with a sign. */

/** Fill the `{names}` of a template. */
export function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (match, name) => (name in values ? values[name] : match));
}

export function signed(number) {
  return number.toFixed(2).replace("-", "−");
}
