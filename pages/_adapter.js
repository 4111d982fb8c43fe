// Streamlit's side of the player, in the same module as player.js.
//
// Mounts the player once, hands it new data when the settings change, and keeps the address in step
// with what is shown. The address is written here alone and never by the server: a server that
// knows an older frame would take the learner back. No change of frame makes a round trip.

const views = new WeakMap();

export default function ({ parentElement, data, setTriggerValue }) {
  const view = views.get(parentElement);
  if (view) view.show(data);
  else views.set(parentElement, mountView(parentElement, data, setTriggerValue));
  return () => {
    views.get(parentElement)?.destroy();
    views.delete(parentElement);
  };
}

function mountView(parent, data, setTriggerValue) {
  const root = parent.appendChild(document.createElement("div"));
  const branch = data.branch && parent.appendChild(branchButton(setTriggerValue, () => player.index()));
  const link = parent.appendChild(permalink());
  let { arrival, address } = data;
  let { index, present } = arrival;

  let last = JSON.parse(data.lesson).frames.length - 1;

  function follow() {
    const query = addressQuery(address, index, present);
    history.replaceState(history.state, "", query || location.pathname);
    link.href = location.href;
  }

  const player = mountPlayer(root, JSON.parse(data.lesson), {
    index,
    present,
    onDraw(drawn) {
      if (branch) branch.disabled = drawn >= last;
    },
    onSettle(settled) {
      index = settled;
      follow();
    },
    onPresent(presenting) {
      present = presenting;
      follow();
    },
  });
  follow();

  return {
    show(next) {
      const isNewArrival = next.arrival.number !== arrival.number;
      if (isNewArrival) ({ index, present } = next.arrival);
      ({ arrival, address } = next);
      const lesson = JSON.parse(next.lesson);
      last = lesson.frames.length - 1;
      index = Math.min(index, last);
      player.update(lesson, isNewArrival ? { index, present } : {});
      follow();
    },
    destroy() {
      player.destroy();
      root.remove();
      if (branch) branch.remove();
      link.remove();
    },
  };
}

// The query of a view: parameters that are not ours stay, ours stand where they say something.
function addressQuery({ names, settings, home }, index, present) {
  const query = new URLSearchParams(location.search);
  for (const name of names) query.delete(name);
  for (const [name, value] of Object.entries(settings)) query.set(name, value);
  if (index !== home) query.set("step", index);
  if (present) query.set("present", "1");
  return query.size > 0 ? `?${query}` : "";
}

function permalink() {
  const link = document.createElement("a");
  link.className = "permalink";
  link.dataset.testid = "permalink";
  link.textContent = "Link to exactly this view";
  return link;
}

// Where a trace is the learner's own, any earlier frame can become the last.
function branchButton(setTriggerValue, indexNow) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "branch";
  button.dataset.testid = "branch";
  button.textContent = "Go on from this frame";
  button.addEventListener("click", () => setTriggerValue("branch", indexNow()));
  return button;
}
