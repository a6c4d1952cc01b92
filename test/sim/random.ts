// Randomness from one seed. Each part of the simulator forks its own stream, so that switching one kind of fault off does not
// change what the other parts draw.

export interface Random {
  u32(): number
  /** 0 ≤ x < 1 */
  float(): number
  /** An integer, 0 ≤ n < `limit`. */
  below(limit: number): number
  /** An integer, `min` ≤ n ≤ `max`. */
  between(min: number, max: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly [T, ...T[]]): T
  bytes(size: number): Uint8Array
  /** A stream of its own that depends on this seed and the label alone. */
  fork(label: string): Random
}

export function createRandom(seed: number | string): Random {
  const name = String(seed)
  let state = hashText(name)

  // mulberry32
  function u32(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }

  const float = () => u32() / 2 ** 32
  const below = (limit: number) => Math.floor(float() * limit)
  return {
    u32,
    float,
    below,
    between: (min, max) => min + below(max - min + 1),
    chance: (probability) => float() < probability,
    pick: (list) => list[below(list.length)] ?? list[0],
    bytes(size) {
      const bytes = new Uint8Array(size)
      for (let i = 0; i < size; i += 1) bytes[i] = u32()
      return bytes
    },
    fork: (label) => createRandom(`${name}/${label}`),
  }
}

/** FNV-1a, 32 bits, with a final mix: neighbouring seeds must not give neighbouring streams. */
export function hashText(text: string, start = 0x811c9dc5): number {
  let hash = start
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  return hash >>> 0
}
