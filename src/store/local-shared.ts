import type { Clock } from '../domain/clock.ts'
import {
  type KeptKind,
  type KeptRecord,
  MOST_KEY_CHARS,
  MOST_VALUE_CHARS,
  type Shared,
  type SharedRecord,
} from './ports/shared.ts'

interface Held extends SharedRecord {
  /** Monotonic ms: a wall clock that jumps makes nothing older. */
  endsAt: number
}

/** What is over is removed this often. */
const SWEEP_EVERY_MS = 60_000

/** For a store that one process owns. Kinds in `kept` stay on disk. All others live in memory and are gone with the process. */
export function createLocalShared(clock: Clock, kept: ReadonlyMap<string, KeptKind> = new Map()): Shared {
  // Maps, because keys come from clients.
  const records = new Map<string, Map<string, Held>>()
  const counters = new Map<string, { count: number; endsAt: number }>()
  const jobs = new Map<string, { owner: string; endsAt: number }>()
  let lastVersion = 0
  let sweepAt = clock.mono() + SWEEP_EVERY_MS

  function ofKind(kind: string): Map<string, Held> {
    const known = records.get(kind)
    if (known !== undefined) return known
    const read = (kept.get(kind)?.read() ?? []).map((record) => [record.key, held(record)] as const)
    const made = new Map(read)
    records.set(kind, made)
    return made
  }

  function held({ key, value, expiresAt }: KeptRecord): Held {
    lastVersion += 1
    const endsAt = expiresAt === null ? Number.POSITIVE_INFINITY : clock.mono() + expiresAt - clock.now()
    return { key, value, version: lastVersion, expiresAt, endsAt }
  }

  const isAlive = ({ endsAt }: Held): boolean => endsAt > clock.mono()

  function find(kind: string, key: string): Held | null {
    const found = ofKind(kind).get(key)
    return found !== undefined && isAlive(found) ? found : null
  }

  /** Disk first, so that a restart finds what counts now. */
  function change(kind: string, key: string, record: Held | null): void {
    const disk = kept.get(kind)
    if (disk !== undefined) {
      const next = new Map(ofKind(kind))
      if (record === null) next.delete(key)
      else next.set(key, record)
      disk.write([...next.values()].filter(isAlive), key)
    }
    if (record === null) ofKind(kind).delete(key)
    else ofKind(kind).set(key, record)
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
      const found = find(kind, key)
      return found === null ? null : shown(found)
    },
    async list(kind) {
      return [...ofKind(kind).values()].filter(isAlive).sort(byKey).map(shown)
    },
    async put({ kind, key, value, version, expiresAt }) {
      refuseLong(key, value)
      sweep()
      if (version !== null && version !== (find(kind, key)?.version ?? 0)) return false
      change(kind, key, held({ key, value, expiresAt }))
      return true
    },
    async take(kind, key) {
      const found = find(kind, key)
      if (found === null) return null
      change(kind, key, null)
      return shown(found)
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

const shown = ({ key, value, version, expiresAt }: Held): SharedRecord => ({ key, value, version, expiresAt })
