import type { Clock } from '../../domain/clock.ts'

/**
 * Wall time that tells how long something stored has been idle. When the wall clock jumps ahead, the jump counts only after
 * `windowMs`: before that, things would look idle for longer than they were. A jump back counts at once. So a jump may delay what
 * is due, by `windowMs` at most, but never makes it due early.
 */
export function createSteadyTime(clock: Pick<Clock, 'now' | 'mono'>, windowMs: number): () => number {
  // How far the wall clock was ahead of the monotonic clock, and when. Each entry is later and larger than the one before.
  let leads: { at: number; ms: number }[] = []

  function steadyTime(): number {
    const at = clock.mono()
    // Whole seconds, because the two clocks drift apart a little, and that is not a jump.
    const ms = Math.floor((clock.now() - at) / 1_000) * 1_000
    leads = leads.filter((lead) => lead.ms < ms && lead.at > at - windowMs)
    leads.push({ at, ms })
    // The monotonic clock has fractions, and what is stored has none.
    return Math.floor(at) + (leads[0]?.ms ?? ms)
  }

  steadyTime()
  return steadyTime
}
