/** K and V as numbers: packed as float16, unpacked one by one when someone looks. */

export class Vectors {
  constructor({ shape, f16 }) {
    [this.count, , this.layers, this.kvHeads, this.dim] = shape;
    const bytes = Uint8Array.from(atob(f16), (char) => char.charCodeAt(0));
    this.view = new DataView(bytes.buffer);
  }

  /** `kind` 0 is K, 1 is V; `layer` counts the layers that are here; returns `dim` numbers. */
  get(vector, kind, layer, kvHead) {
    const start = (((vector * 2 + kind) * this.layers + layer) * this.kvHeads + kvHead) * this.dim;
    return Array.from({ length: this.dim }, (_, i) =>
      halfToNumber(this.view.getUint16((start + i) * 2, true)),
    );
  }
}

function halfToNumber(half) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
