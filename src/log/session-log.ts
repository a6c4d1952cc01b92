// The log of all sessions: group commit in front of the store, readers behind it. An entry reaches a reader only after it is
// committed, and if it is of the synced class only after it is on disk.

import { type ByteBudget, createByteBudget, type Holder, READERS_BYTES } from '../domain/byte-budget.ts'
import type { Clock } from '../domain/clock.ts'
import type { Entry } from '../domain/entry.ts'
import { ServerError } from '../domain/errors.ts'
import { type Command, needsSync, type Result } from '../store/ports/command.ts'
import type { NewEntry } from '../store/ports/entry.ts'
import type { Journal } from '../store/ports/journal.ts'
import type { Store } from '../store/store.ts'
import { createLocalWake, type Wake } from './wake.ts'
import { createWatcher, type Watcher, type WatcherHandle } from './watcher.ts'

export type Done = Extract<Result, { ok: true }>

export interface SessionLog {
  /**
   * Adds a command to the next group commit. Resolves when it is as durable as its class demands; rejects with the
   * `ServerError` it was refused with.
   */
  commit(command: Command): Promise<Done>
  /** Resolves when what was committed in the session by now, and needs the disk, is on it. */
  synced(sessionId: string): Promise<void>
  /** A reader of one session from behind `after`. `holder` says who reads, for what is large. */
  watch(sessionId: string, after: number, holder?: Holder): Watcher
  readonly watchers: number
  /** Waits for what was handed in, then refuses more. */
  close(): Promise<void>
}

interface Waiting {
  command: Command
  resolve(done: Done): void
  reject(error: unknown): void
}

/** Under load a commit takes in what arrives within this time; an idle log commits at once. */
const GROUP_MS = 2

export interface SessionLogOptions {
  store: Journal & Pick<Store, 'sessions'>
  clock: Clock
  /** For what readers hold that lag. */
  room?: ByteBudget
  /** Left out, this is the only log of its store. */
  wake?: Wake
}

export function createSessionLog({
  store,
  clock,
  room = createByteBudget(READERS_BYTES, clock),
  wake = createLocalWake({ clock, pollMs: null }),
}: SessionLogOptions): SessionLog {
  let waiting: Waiting[] = []
  let scheduled = false
  let committing = false
  let closed = false
  let lastCommit = Number.NEGATIVE_INFINITY
  let watcherCount = 0
  const watchers = new Map<string, Set<WatcherHandle>>()
  // Per session, the seqs of commits whose sync is still on its way: readers are not shown them before it is done.
  const unsynced = new Map<string, number[]>()
  // Sessions with commits that were kept from their readers because they lie behind one of those.
  const hidden = new Set<string>()
  // Who waits for a session's syncs.
  const syncing = new Map<string, (() => void)[]>()
  // Resolves when the commit that is under way is settled.
  let underWay: Promise<void> = Promise.resolve()
  const idle: (() => void)[] = []
  const otherLogs = wake.join('entries', lookAgain)

  function schedule(): void {
    if (scheduled || committing) return
    scheduled = true
    const wait = lastCommit + GROUP_MS - clock.mono()
    if (wait <= 0) clock.soon(flush)
    else clock.after(wait, flush, true)
  }

  function flush(): void {
    scheduled = false
    underWay = commitGroup(waiting)
  }

  async function commitGroup(group: readonly Waiting[]): Promise<void> {
    waiting = []
    committing = true
    try {
      const { results, synced } = await store.commit(group.map((one) => one.command))
      settle(group, results, synced)
    } catch (error) {
      for (const one of group) one.reject(error)
    }
    committing = false
    lastCommit = clock.mono()
    if (waiting.length > 0) schedule()
    else for (const resolve of idle.splice(0)) resolve()
  }

  function settle(group: readonly Waiting[], results: readonly Result[], synced: Promise<void>): void {
    const later: (() => void)[] = []
    for (const [i, one] of group.entries()) {
      const result = results[i]
      if (result === undefined || !result.ok) {
        one.reject(result?.error ?? new Error('the store gave no result'))
        continue
      }
      const sessionId = sessionOf(one.command, result)
      const entries = newEntries(one.command, result)
      if (needsSync(one.command)) {
        if (result.firstSeq > 0) hold(sessionId, result.firstSeq)
        later.push(() => {
          if (result.firstSeq > 0) unhold(sessionId, result.firstSeq)
          publish(sessionId, runOf(one.command), result.firstSeq, entries)
          if (one.command.type === 'delete_session') {
            closeReaders(sessionId)
            otherLogs.notify(sessionId)
          }
          one.resolve(result)
        })
      } else {
        publish(sessionId, runOf(one.command), result.firstSeq, entries)
        one.resolve(result)
      }
    }
    if (later.length === 0) return
    void synced.then(() => {
      for (const done of later) done()
    })
  }

  function hold(sessionId: string, seq: number): void {
    const seqs = unsynced.get(sessionId)
    if (seqs === undefined) unsynced.set(sessionId, [seq])
    else seqs.push(seq)
  }

  function unhold(sessionId: string, seq: number): void {
    const seqs = (unsynced.get(sessionId) ?? []).filter((other) => other !== seq)
    if (seqs.length > 0) return void unsynced.set(sessionId, seqs)
    unsynced.delete(sessionId)
    for (const resolve of syncing.get(sessionId) ?? []) resolve()
    syncing.delete(sessionId)
  }

  /** The first seq that readers may not see yet. */
  function horizon(sessionId: string): number {
    const seqs = unsynced.get(sessionId)
    return seqs === undefined ? Number.POSITIVE_INFINITY : seqs.reduce((first, seq) => Math.min(first, seq))
  }

  function publish(sessionId: string, runId: string | null, firstSeq: number, entries: readonly NewEntry[]): void {
    const readers = watchers.get(sessionId)
    if (entries.length === 0) return
    const end = horizon(sessionId)
    // What is behind the horizon is not pushed; the sync that lifts it tells the readers to look.
    if (firstSeq >= end) {
      hidden.add(sessionId)
      return
    }
    const isLook = hidden.has(sessionId)
    if (end === Number.POSITIVE_INFINITY) hidden.delete(sessionId)
    otherLogs.notify(sessionId)
    if (readers === undefined) return
    const batch = isLook ? [] : entries.map(({ kind, data }, i): Entry => ({ seq: firstSeq + i, runId, kind, data }))
    for (const reader of readers) reader.push(batch)
  }

  /** Nothing will ever come again for whoever reads a deleted session. */
  function closeReaders(sessionId: string): void {
    for (const reader of watchers.get(sessionId) ?? []) reader.close()
  }

  /** Another log of the same store has written to the session; null: it may have written to any. */
  function lookAgain(sessionId: string | null): void {
    for (const id of sessionId === null ? [...watchers.keys()] : [sessionId]) if (watchers.has(id)) void lookInto(id)
  }

  async function lookInto(sessionId: string): Promise<void> {
    try {
      const session = await store.sessions.get(sessionId)
      if (session === null || session.status === 'terminated') closeReaders(sessionId)
      else for (const reader of watchers.get(sessionId) ?? []) reader.push([])
    } catch {
      // The store is in trouble. The readers wait; the next wake, or the next poll, looks again.
    }
  }

  return {
    commit(command) {
      if (closed) return Promise.reject(new ServerError('shutting_down', 'The server is stopping.'))
      return new Promise((resolve, reject) => {
        waiting.push({ command, resolve, reject })
        schedule()
      })
    },

    async synced(sessionId) {
      await underWay
      if (!unsynced.has(sessionId)) return
      await new Promise<void>((resolve) => syncing.set(sessionId, [...(syncing.get(sessionId) ?? []), resolve]))
    },

    watch(sessionId, after, holder) {
      const handle = createWatcher({
        after,
        read: async (seq, limit, maxChars) => {
          const entries = await store.entries(sessionId, seq, limit, maxChars)
          // A commit under way may have written some of these. Once it is settled it is known which of them need a sync first.
          await underWay
          const end = horizon(sessionId)
          return entries.filter((entry) => entry.seq < end)
        },
        room,
        holder,
        onClose() {
          watcherCount -= 1
          const readers = watchers.get(sessionId)
          readers?.delete(handle)
          if (readers?.size === 0) watchers.delete(sessionId)
        },
      })
      const readers = watchers.get(sessionId) ?? new Set()
      readers.add(handle)
      watchers.set(sessionId, readers)
      watcherCount += 1
      return handle
    },

    get watchers() {
      return watcherCount
    },

    async close() {
      closed = true
      while (waiting.length > 0 || committing || scheduled) await new Promise<void>((resolve) => idle.push(resolve))
      otherLogs.leave()
    },
  }
}

function sessionOf(command: Command, result: Done): string {
  return 'sessionId' in command ? command.sessionId : (result.run?.sessionId ?? '')
}

function runOf(command: Command): string | null {
  if (command.type === 'accept_run') return command.run.id
  return 'runId' in command ? command.runId : null
}

/** The entries a command added; those of a run that was queued are its acceptance alone. */
function newEntries(command: Command, result: Done): readonly NewEntry[] {
  if (result.firstSeq === 0) return []
  switch (command.type) {
    case 'accept_run':
      return result.run?.status === 'queued'
        ? command.acceptEntries
        : [...command.acceptEntries, ...command.start.entries]
    case 'start_run':
      return command.start.entries
    case 'append':
    case 'finish_run':
    case 'claim_run':
    case 'request_cancel':
      return command.entries
    default:
      return []
  }
}
