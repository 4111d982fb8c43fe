// Streamlit's side of the player, in the same module as player.js.
//
// Mounts the player once, hands it new data when the settings change, and keeps the address in step
// with what is shown. The address is written here alone and never by the server: a server that
// knows an older frame would take the learner back. No frame change makes a round trip.

const mounted = new WeakMap();

export default function ({ parentElement, data }) {
  const view = mounted.get(parentElement) ?? mountView(parentElement, data);
  mounted.set(parentElement, view);
  view.show(data);
  return () => {
    view.destroy();
    mounted.delete(parentElement);
  };
}

function mountView(parent, data) {
  const root = parent.appendChild(document.createElement("div"));
  const link = parent.appendChild(permalink());
  let { arrival, address } = data;
  let { index, present } = arrival;

  const follow = () => {
    const query = addressQuery(address, index, present);
    history.replaceState(history.state, "", query || location.pathname);
    link.href = location.href;
  };
  const callbacks = {
    onSettle(settled) {
      index = settled;
      follow();
    },
    onPresent(presenting) {
      present = presenting;
      follow();
    },
  };
  const player = mountPlayer(root, data.lesson, { index, present, ...callbacks });
  let shown = data.lesson;

  return {
    show(next) {
      if (next.arrival.number !== arrival.number) ({ index, present } = next.arrival);
      ({ arrival, address } = next);
      if (next.lesson.key !== shown.key) {
        shown = next.lesson;
        index = Math.min(index, shown.frames.length - 1);
        player.update(shown, { index, present, ...callbacks });
      }
      follow();
    },
    destroy() {
      player.destroy();
      root.remove();
      link.remove();
    },
  };
}

// The query of the view: parameters that are not ours stay, ours stand only where they say something.
function addressQuery({ names, settings }, index, present) {
  const query = new URLSearchParams(location.search);
  names.forEach((name) => query.delete(name));
  Object.entries(settings).forEach(([name, value]) => query.set(name, value));
  if (index > 0) query.set("step", index);
  if (present) query.set("present", "1");
  return query.size ? `?${query}` : "";
}

function permalink() {
  const link = document.createElement("a");
  link.className = "permalink";
  link.dataset.testid = "permalink";
  link.textContent = "Link to exactly this view";
  return link;
}
