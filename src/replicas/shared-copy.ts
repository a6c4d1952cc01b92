// Shared records of which each process keeps a copy in memory, and that must not count anywhere once they are removed: tokens, devices.
//
// Each process writes down which change of the topic its copy has. Whoever removes a record waits until all of them have that change. A
// process that does not write it down within `FRESH_MS` is dead, or knows that its copy is old: it reads the records at each use. Only
// durations are measured, so clocks that are set change nothing.

import { type Clock, sleep } from '../domain/clock.ts'
import type { Shared } from '../store/ports/shared.ts'

export interface SharedCopy {
  /** Reads the records. The look begins after the call. Throws if the store cannot be asked. */
  refresh(): Promise<void>
  /** False: a record may have been removed of which this process has not heard. Then `refresh` before the copy is used. */
  isFresh(): boolean
  close(): Promise<void>
}

export interface CopyDeps {
  shared: Pick<Shared, 'get' | 'list' | 'put' | 'take'>
  /** Name of this process. No other one has it. */
  owner: string
  clock: Clock
}

/** A copy counts for so long after the last look for changes. Nobody who removes a record waits longer. */
export const FRESH_MS = 5_000
/** Monotonic clocks of two machines do not run equally fast. */
const MARGIN_MS = 100
const LOOK_EVERY_MS = 50
/** What a dead process has left behind, if nobody removes a record. */
const KEPT_MS = 24 * 3_600_000
const RENEW_MS = 3_600_000

const heardBy = (topic: string): string => `heard/${topic}`

export function createSharedCopy({ shared, owner, clock }: CopyDeps, topic: string, read: () => Promise<void>) {
  const kind = heardBy(topic)
  /** When the look began that found nothing newer than the copy. */
  let currentAt = Number.NEGATIVE_INFINITY
  /** What others read about this copy: the change that it has, and the version of the record. */
  let note: { change: number; version: number; at: number } | null = null

  // One look after the other, so that an old answer never replaces a newer one. Whoever asks gets one that begins afterwards: many
  // who ask at once cost two looks.
  let looking: Promise<unknown> = Promise.resolve()
  let next: Promise<void> | null = null
  function refresh(): Promise<void> {
    next ??= looking.then(() => {
      next = null
      const done = read()
      looking = done.catch(() => {})
      return done
    })
    return next
  }

  /** Null: somebody has removed the record, because this process was not heard of. */
  async function write(change: number, version: number | null): Promise<typeof note> {
    const expiresAt = clock.now() + KEPT_MS
    const isWritten = await shared.put({ kind, key: owner, value: String(change), version, expiresAt })
    const record = isWritten ? await shared.get(kind, owner) : null
    return record === null ? null : { change, version: record.version, at: clock.mono() }
  }

  return {
    refresh,
    isFresh: () => clock.mono() - currentAt < FRESH_MS,
    /** `change`: the latest of the topic, found by a look that began at `since`. */
    async catchUp(change: number, since: number): Promise<void> {
      if (note?.change !== change || clock.mono() - note.at > RENEW_MS) {
        // Before the records are read: whoever removes one later must find the note.
        note ??= await write(0, null)
        await refresh()
        note = note === null ? null : await write(change, note.version)
        // The next look begins anew.
        if (note === null) return
      }
      currentAt = since
    },
    async close(): Promise<void> {
      currentAt = Number.NEGATIVE_INFINITY
      await shared.take(kind, owner).catch(() => {})
    },
  }
}

/** Resolves when every process has the change in its copy, or does not use its copy any more. */
export async function untilHeard(
  { shared, clock }: Omit<CopyDeps, 'owner'>,
  topic: string,
  change: number,
): Promise<void> {
  const until = clock.mono() + FRESH_MS + MARGIN_MS
  for (;;) {
    const late = (await shared.list(heardBy(topic))).filter(({ value }) => Number(value) < change)
    if (late.length === 0) return
    if (clock.mono() >= until) {
      // Nobody waits for them again. One that comes at this moment stays: its record has another version by then.
      const over = { kind: heardBy(topic), value: '', expiresAt: clock.now() }
      for (const { key, version } of late) await shared.put({ ...over, key, version })
      return
    }
    await sleep(clock, LOOK_EVERY_MS)
  }
}
