// Keeps the address in step with a run of which no moment is open. It is written once for each run,
// so that whoever has gone on to another page meanwhile does not find it changed there.

const written = new WeakMap();

export default function ({ parentElement, data }) {
  const text = JSON.stringify(data.query);
  if (written.get(parentElement) === text) return;
  written.set(parentElement, text);
  const query = new URLSearchParams(location.search);
  for (const name of data.names) query.delete(name);
  for (const [name, value] of Object.entries(data.query)) query.set(name, value);
  history.replaceState(history.state, "", `?${query}`);
  const link = parentElement.querySelector("a") ?? parentElement.appendChild(runLink());
  link.href = location.href;
}

function runLink() {
  const link = document.createElement("a");
  link.className = "permalink";
  link.dataset.testid = "run-link";
  link.textContent = "Link to this run";
  return link;
}
