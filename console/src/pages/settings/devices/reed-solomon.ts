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
