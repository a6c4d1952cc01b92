// Each token of the fake model holds its number and the time of its write. So the load client can check that no token is missing,
// doubled or out of order, and measure how long each one took. It also works when deltas are merged.

/** `sentAt` in microseconds of `monotonicMicros`, or 0 for a text without a time that was made beforehand. */
export const tokenText = (index: number, sentAt: number): string => ` ${index}@${sentAt}`

/** Calls `take` for each token in the text of a delta. False when the text does not consist of whole tokens. */
export function eachToken(delta: string, take: (index: number, sentAt: number) => void): boolean {
  let start = 0
  while (start < delta.length) {
    if (delta[start] !== ' ') return false
    let end = delta.indexOf(' ', start + 1)
    if (end === -1) end = delta.length
    const at = delta.indexOf('@', start)
    if (at === -1 || at > end) return false
    const index = Number(delta.slice(start + 1, at))
    const sentAt = Number(delta.slice(at + 1, end))
    if (!Number.isInteger(index) || !Number.isInteger(sentAt)) return false
    take(index, sentAt)
    start = end
  }
  return true
}

/** CLOCK_MONOTONIC, which on Linux is one clock for all processes, so their times can be compared. */
export function monotonicMicros(): number {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1_000_000 + Math.floor(nanos / 1000)
}
