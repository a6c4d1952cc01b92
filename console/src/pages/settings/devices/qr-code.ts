// QR codes for links: bytes, versions 1 to 10, error correction M (15 % may be unreadable). Enough for 213 bytes. After ISO/IEC 18004.

/** Rows from the top. True is dark. */
export type QrCode = readonly (readonly boolean[])[]

/** Of each version at level M: bytes of correction in each block, then the blocks, as [how many, bytes of data in each]. */
const versions: readonly (readonly [correction: number, ...blocks: (readonly [count: number, bytes: number])[]])[] = [
  [10, [1, 16]],
  [16, [1, 28]],
  [26, [1, 44]],
  [18, [2, 32]],
  [24, [2, 43]],
  [16, [4, 27]],
  [18, [4, 31]],
  [22, [2, 38], [2, 39]],
  [22, [3, 36], [2, 37]],
  [26, [4, 43], [1, 44]],
]

/** Where the small squares are that keep the grid straight, in both directions. */
const alignment: readonly (readonly number[])[] = [
  [],
  [6, 18],
  [6, 22],
  [6, 26],
  [6, 30],
  [6, 34],
  [6, 22, 38],
  [6, 24, 42],
  [6, 26, 46],
  [6, 28, 50],
]

/** Null: the text is too long. */
export function qrCode(text: string): QrCode | null {
  const bytes = new TextEncoder().encode(text)
  const version = versions.findIndex((_, i) => bytes.length + headerBytes(i + 1) <= dataBytes(i + 1)) + 1
  if (version === 0) return null
  const codewords = interleaved(dataOf(bytes, version), version)
  const candidates = masks.map((_, mask) => {
    const code = draw(codewords, version, mask)
    return { code, points: penalty(code) }
  })
  return candidates.reduce((best, one) => (one.points < best.points ? one : best)).code
}

const specOf = (version: number) => versions[version - 1] ?? [0]

function blockSizes(version: number): number[] {
  const [, ...blocks] = specOf(version)
  return blocks.flatMap(([count, bytes]) => Array<number>(count).fill(bytes))
}

const dataBytes = (version: number): number => blockSizes(version).reduce((sum, bytes) => sum + bytes, 0)

/** Four bits for the mode and 8 or 16 for the length, in whole bytes. */
const headerBytes = (version: number): number => (version < 10 ? 2 : 3)

/** The data: mode, length, bytes, an end, and what fills the rest. */
function dataOf(bytes: Uint8Array, version: number): number[] {
  const bits: number[] = []
  const push = (value: number, length: number) => {
    for (let i = length - 1; i >= 0; i--) bits.push((value >> i) & 1)
  }
  push(0b0100, 4)
  push(bytes.length, version < 10 ? 8 : 16)
  for (const byte of bytes) push(byte, 8)
  const capacity = dataBytes(version) * 8
  push(0, Math.min(4, capacity - bits.length))
  push(0, (8 - (bits.length % 8)) % 8)
  for (let filler = 0xec; bits.length < capacity; filler ^= 0xec ^ 0x11) push(filler, 8)
  return Array.from({ length: capacity / 8 }, (_, i) => Number.parseInt(bits.slice(i * 8, i * 8 + 8).join(''), 2))
}

/** One byte of each block after the other, so that a stain hits all of them a little and none of them much. */
function interleaved(data: readonly number[], version: number): number[] {
  const [correction] = specOf(version)
  let from = 0
  const blocks = blockSizes(version).map((size) => {
    from += size
    return data.slice(from - size, from)
  })
  const corrections = blocks.map((block) => errorCorrection(block, correction))
  return [...columns(blocks), ...columns(corrections)]
}

function columns(rows: readonly (readonly number[])[]): number[] {
  const longest = Math.max(...rows.map(({ length }) => length))
  return Array.from({ length: longest }, (_, i) => rows.flatMap((row) => row[i] ?? [])).flat()
}

/** A mask turns over some of the modules, so that nothing in the picture looks like its own signs. */
const masks: readonly ((y: number, x: number) => boolean)[] = [
  (y, x) => (y + x) % 2 === 0,
  (y) => y % 2 === 0,
  (_, x) => x % 3 === 0,
  (y, x) => (y + x) % 3 === 0,
  (y, x) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2 === 0,
  (y, x) => ((y * x) % 2) + ((y * x) % 3) === 0,
  (y, x) => (((y * x) % 2) + ((y * x) % 3)) % 2 === 0,
  (y, x) => (((y + x) % 2) + ((y * x) % 3)) % 2 === 0,
]

type Grid = (boolean | null)[][]

function draw(codewords: readonly number[], version: number, mask: number): QrCode {
  const size = version * 4 + 17
  const grid: Grid = Array.from({ length: size }, () => Array<boolean | null>(size).fill(null))
  drawFixed(grid, version)
  drawFormat(grid, mask)
  drawVersion(grid, version)
  const bits = codewords.flatMap((byte) => Array.from({ length: 8 }, (_, i) => ((byte >> (7 - i)) & 1) === 1))
  const isMasked = masks[mask] ?? (() => false)
  let next = 0
  for (const [y, x] of path(size)) {
    if (at(grid, y, x) !== null) continue
    set(grid, y, x, (bits[next] ?? false) !== isMasked(y, x))
    next += 1
  }
  return grid.map((row) => row.map((module) => module === true))
}

const at = (grid: Grid, y: number, x: number): boolean | null | undefined => grid[y]?.[x]

function set(grid: Grid, y: number, x: number, isDark: boolean): void {
  const row = grid[y]
  if (row !== undefined && x >= 0 && x < row.length) row[x] = isDark
}

/** In pairs of columns from the right, up and down in turns. The column of the timing pattern is left out. */
function* path(size: number): Generator<[y: number, x: number]> {
  let isUp = true
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5
    for (let i = 0; i < size; i++) {
      const y = isUp ? size - 1 - i : i
      yield [y, right]
      yield [y, right - 1]
    }
    isUp = !isUp
  }
}

/** The signs by which a camera finds the picture. */
function drawFixed(grid: Grid, version: number): void {
  const size = grid.length
  for (let i = 8; i < size - 8; i++) {
    set(grid, 6, i, i % 2 === 0)
    set(grid, i, 6, i % 2 === 0)
  }
  for (const [top, left] of [
    [0, 0],
    [0, size - 7],
    [size - 7, 0],
  ] as const) {
    square(grid, top + 3, left + 3, 4, (ring) => ring !== 2 && ring !== 4)
  }
  const places = alignment[version - 1] ?? []
  const last = places.at(-1) ?? 0
  for (const y of places) {
    for (const x of places) {
      // There are the large squares.
      if ((y === 6 && (x === 6 || x === last)) || (y === last && x === 6)) continue
      square(grid, y, x, 2, (ring) => ring !== 1)
    }
  }
  set(grid, size - 8, 8, true)
}

/** Rings around a middle. */
function square(grid: Grid, y: number, x: number, reach: number, isDark: (ring: number) => boolean): void {
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      set(grid, y + dy, x + dx, isDark(Math.max(Math.abs(dy), Math.abs(dx))))
    }
  }
}

/** The value, followed by the remainder that tells a camera whether it has read them right. */
function withRemainder(value: number, divisor: number): number {
  const length = 31 - Math.clz32(divisor)
  let rest = value << length
  for (let i = 31 - Math.clz32(rest); i >= length; i--) if ((rest >> i) & 1) rest ^= divisor << (i - length)
  return (value << length) | rest
}

function drawFormat(grid: Grid, mask: number): void {
  const size = grid.length
  // 00 is the level M.
  const bits = withRemainder(mask, 0b10100110111) ^ 0b101010000010010
  const isDark = (i: number) => ((bits >> i) & 1) === 1
  const aroundCorner = [0, 1, 2, 3, 4, 5, 7, 8]
  for (const [i, place] of aroundCorner.entries()) {
    set(grid, place, 8, isDark(i))
    set(grid, 8, place, isDark(14 - i))
  }
  for (let i = 0; i < 8; i++) set(grid, 8, size - 1 - i, isDark(i))
  for (let i = 0; i < 7; i++) set(grid, size - 1 - i, 8, isDark(14 - i))
  set(grid, size - 8, 8, true)
}

function drawVersion(grid: Grid, version: number): void {
  if (version < 7) return
  const bits = withRemainder(version, 0b1111100100101)
  for (let i = 0; i < 18; i++) {
    const [near, far] = [Math.floor(i / 3), grid.length - 11 + (i % 3)]
    set(grid, near, far, ((bits >> i) & 1) === 1)
    set(grid, far, near, ((bits >> i) & 1) === 1)
  }
}

/** How hard it is to read: long runs, blocks, what looks like the large squares, too much of one colour. */
function penalty(code: QrCode): number {
  const turned = code.map((_, i) => code.map((row) => row[i] === true))
  const lines = [...code, ...turned].map((line) => line.map((isDark) => (isDark ? '1' : '0')).join(''))
  let points = 0
  for (const line of lines) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) points += run.length - 2
    points += 40 * ([...line.matchAll(/(?=00001011101)/g)].length + [...line.matchAll(/(?=10111010000)/g)].length)
  }
  for (const [y, row] of code.entries()) {
    for (const [x, isDark] of row.entries()) {
      if (y + 1 === code.length || x + 1 === row.length) continue
      if (row[x + 1] === isDark && code[y + 1]?.[x] === isDark && code[y + 1]?.[x + 1] === isDark) points += 3
    }
  }
  const dark = code.flat().filter(Boolean).length / code.length ** 2
  return points + 10 * Math.floor(Math.abs(dark * 100 - 50) / 5)
}

// Reed–Solomon codes over the field of 256 elements that QR codes use. They let a camera read a picture of which parts are missing.

const exponents = new Uint8Array(255)
const logarithms = new Uint8Array(256)
for (let i = 0, value = 1; i < 255; i++) {
  exponents[i] = value
  logarithms[value] = i
  value = (value << 1) ^ (value >= 128 ? 0x11d : 0)
}

const times = (a: number, b: number): number =>
  a === 0 || b === 0 ? 0 : (exponents[((logarithms[a] ?? 0) + (logarithms[b] ?? 0)) % 255] ?? 0)

/** The product of (x - 2^0) (x - 2^1) …, without its first factor, which is 1. */
function divisorOf(degree: number): number[] {
  let factors = [1]
  for (let i = 0; i < degree; i++) {
    const root = exponents[i] ?? 0
    const next = [...factors, 0]
    for (const [at, factor] of factors.entries()) next[at + 1] = (next[at + 1] ?? 0) ^ times(factor, root)
    factors = next
  }
  return factors.slice(1)
}

/** So many bytes more, which belong behind `data`. */
export function errorCorrection(data: readonly number[], length: number): number[] {
  const divisor = divisorOf(length)
  let rest = Array<number>(length).fill(0)
  for (const byte of data) {
    const lead = byte ^ (rest[0] ?? 0)
    rest = [...rest.slice(1), 0].map((value, i) => value ^ times(divisor[i] ?? 0, lead))
  }
  return rest
}
