// A token of the fake model says which one it is and when it was written, so that the load client can prove that none
// is missing, doubled or out of order, and how long each was on its way. Merged deltas stay readable.

/** `sentAt` in microseconds of `monotonicMicros`; 0 where the text was made beforehand and carries no time. */
export const tokenText = (index: number, sentAt: number): string => ` ${index}@${sentAt}`

/** Calls `take` for each token in the text of a delta; false when the text is not made of whole tokens. */
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

/** CLOCK_MONOTONIC, which on Linux is one clock for all processes: their times may be subtracted from each other. */
export function monotonicMicros(): number {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1_000_000 + Math.floor(nanos / 1000)
}
