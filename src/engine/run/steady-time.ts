import type { Clock } from '../../domain/clock.ts'

/**
 * Wall time for judging how long something that is stored has been idle. A wall clock that jumps ahead is believed only when
 * it has stood there for `windowMs`: until then, what was idle for less would look idle for longer. One that jumps back is
 * believed at once. So a jump can put off what is due, by `windowMs` at most, and never brings it forward.
 */
export function createSteadyTime(clock: Pick<Clock, 'now' | 'mono'>, windowMs: number): () => number {
  // How far the wall clock was ahead of the monotonic one, and when; each later and larger than the one before it.
  let leads: { at: number; ms: number }[] = []

  function steadyTime(): number {
    const at = clock.mono()
    // Whole seconds: the two clocks tick apart by a hair, and that is no jump.
    const ms = Math.floor((clock.now() - at) / 1_000) * 1_000
    leads = leads.filter((lead) => lead.ms < ms && lead.at > at - windowMs)
    leads.push({ at, ms })
    return at + (leads[0]?.ms ?? ms)
  }

  steadyTime()
  return steadyTime
}
