import type { Clock } from '../domain/clock.ts'
import { MOST_KEY_CHARS, MOST_VALUE_CHARS, type Shared, type SharedRecord } from './ports/shared.ts'

interface Kept extends SharedRecord {
  /** Monotonic ms: a wall clock that jumps makes nothing older. */
  endsAt: number
}

/** What is over is removed this often. */
const SWEEP_EVERY_MS = 60_000

/** For a store that one process owns. It lives in memory and is gone with the process. */
export function createLocalShared(clock: Clock): Shared {
  // Maps, because keys come from clients.
  const records = new Map<string, Map<string, Kept>>()
  const counters = new Map<string, { count: number; endsAt: number }>()
  const jobs = new Map<string, { owner: string; endsAt: number }>()
  let lastVersion = 0
  let sweepAt = clock.mono() + SWEEP_EVERY_MS

  function ofKind(kind: string): Map<string, Kept> {
    const known = records.get(kind)
    if (known !== undefined) return known
    const made = new Map<string, Kept>()
    records.set(kind, made)
    return made
  }

  function find(kind: string, key: string): Kept | null {
    const kept = records.get(kind)?.get(key)
    return kept === undefined || kept.endsAt <= clock.mono() ? null : kept
  }

  function sweep(): void {
    const now = clock.mono()
    if (now < sweepAt) return
    sweepAt = now + SWEEP_EVERY_MS
    for (const map of [...records.values(), counters, jobs]) {
      for (const [key, { endsAt }] of map) if (endsAt <= now) map.delete(key)
    }
  }

  return {
    async get(kind, key) {
      const kept = find(kind, key)
      return kept === null ? null : shown(kept)
    },
    async list(kind) {
      const now = clock.mono()
      const found = [...(records.get(kind)?.values() ?? [])].filter(({ endsAt }) => endsAt > now)
      return found.sort(byKey).map(shown)
    },
    async put({ kind, key, value, version, expiresAt }) {
      refuseLong(key, value)
      sweep()
      if (version !== null && version !== (find(kind, key)?.version ?? 0)) return false
      lastVersion += 1
      const endsAt = expiresAt === null ? Number.POSITIVE_INFINITY : clock.mono() + expiresAt - clock.now()
      ofKind(kind).set(key, { key, value, version: lastVersion, expiresAt, endsAt })
      return true
    },
    async take(kind, key) {
      const kept = find(kind, key)
      records.get(kind)?.delete(key)
      return kept === null ? null : shown(kept)
    },
    async count(kind, added, windowMs) {
      sweep()
      const now = clock.mono()
      return added.map(({ key, n }) => {
        refuseLong(key, '')
        const id = JSON.stringify([kind, key])
        const known = counters.get(id)
        const isOver = known === undefined || known.endsAt <= now
        const counter = isOver ? { count: n, endsAt: now + windowMs } : { ...known, count: known.count + n }
        counters.set(id, counter)
        return { count: counter.count, endsAt: clock.now() + counter.endsAt - now }
      })
    },
    async hold(job, owner, ms) {
      const now = clock.mono()
      const holder = jobs.get(job)
      if (holder !== undefined && holder.owner !== owner && holder.endsAt > now) return false
      jobs.set(job, { owner, endsAt: now + ms })
      return true
    },
    async release(job, owner) {
      if (jobs.get(job)?.owner === owner) jobs.delete(job)
    },
  }
}

/** Throws a RangeError: whoever lets strangers choose keys or values limits them first. */
export function refuseLong(key: string, value: string): void {
  if (key.length > MOST_KEY_CHARS) throw new RangeError(`a shared key has at most ${MOST_KEY_CHARS} characters`)
  if (value.length > MOST_VALUE_CHARS) throw new RangeError(`a shared value has at most ${MOST_VALUE_CHARS} characters`)
}

export const byKey = (a: SharedRecord, b: SharedRecord): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)

const shown = ({ key, value, version, expiresAt }: Kept): SharedRecord => ({ key, value, version, expiresAt })
