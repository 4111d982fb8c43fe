/** Playback: which frame is shown, moving by hand and by itself, and the place the host knows. */

const SETTLE_MS = 250; // after the last move, until the host hears of it
const FRAME_MS = 8000; // how long a frame stays at speed 1: a caption of 30 words is to be read
const SPEEDS = [0.5, 1, 2, 4];

/** Tells `moved()`, `settled(index)` and, when it plays, pauses or changes speed, `changed()`. */
export class Playback {
  constructor(listener) {
    this.listener = listener;
    this.index = 0;
    this.last = 0;
    this.playing = false;
    this.speed = 1;
  }

  /** Take the host's index and the number of frames; return whether the index is news. */
  follow(index, count) {
    const isNews = index !== undefined && index !== this.hostIndex;
    if (isNews) this.index = this.hostIndex = index;
    this.last = count - 1;
    this.index = this.within(this.index);
    return isNews;
  }

  within(index) {
    return Math.min(Math.max(index, 0), this.last);
  }

  /** Go where the learner wants to be; moving by hand ends playing. */
  move(index) {
    this.pause();
    this.goTo(index);
  }

  goTo(index) {
    const wanted = this.within(index);
    if (wanted === this.index) return;
    this.index = wanted;
    this.listener.moved();
    this.settle();
  }

  settle() {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      this.hostIndex = this.index;
      this.listener.settled(this.index);
    }, SETTLE_MS);
  }

  toggle() {
    if (this.playing) return this.pause();
    this.playing = true;
    this.listener.changed();
    this.goTo(this.index === this.last ? 0 : this.index + 1);
    return this.tick();
  }

  tick() {
    clearTimeout(this.ticking);
    if (this.index === this.last) return this.pause();
    this.ticking = setTimeout(() => {
      this.goTo(this.index + 1);
      this.tick();
    }, FRAME_MS / this.speed);
    return undefined;
  }

  pause() {
    clearTimeout(this.ticking);
    if (!this.playing) return;
    this.playing = false;
    this.listener.changed();
  }

  nextSpeed() {
    this.speed = SPEEDS[(SPEEDS.indexOf(this.speed) + 1) % SPEEDS.length];
    this.listener.changed();
    if (this.playing) this.tick();
  }

  /** End whatever is still to come. */
  stop() {
    this.pause();
    clearTimeout(this.settling);
  }
}
