// Messages on their way to the server. Each keeps its key until the conversation shows it, so that it can be sent again after a failure
// or a reload and still counts once. The messages of a session go one after the other.

import { type Client, ClientError, type HostChoice } from 'quarterdeck/client'
import { errorText } from '../error-text.ts'
import { given } from '../given.ts'

/** A file that the server has already. */
export interface SentFile {
  file_id: string
  name: string
  mime_type: string
  bytes: number
}

export interface Words {
  text: string
  files: readonly SentFile[]
  /** Null: the session's own, or the default one. */
  agent: string | null
  /** The model that is tried in the place of the agent's own. */
  model?: string
  /** What is chosen with it of the program of a hosted agent. */
  host?: HostChoice
  /** The id of the message that it replaces. */
  replaces?: string
}

export interface Outgoing extends Words {
  /** The Idempotency-Key. */
  key: string
  sessionId: string
  /** `sent`: the server has it. It is shown here until its run begins. */
  status: 'sending' | 'failed' | 'sent'
  /** What the server said, if it failed. */
  problem: string | null
  /** Nothing answered: it is sent again by itself. */
  isCutOff: boolean
  runId: string | null
  messageId: string | null
  /** It is the first message of its session. */
  begins: boolean
}

export interface Outbox {
  /** Oldest first. The list is the same one until something in it changes. */
  of(sessionId: string): readonly Outgoing[]
  subscribe(listener: () => void): () => void
  /** `begins`: it is the first message of a new session. */
  send(sessionId: string, words: Words, options?: { begins?: boolean }): void
  retry(key: string): void
  discard(key: string): void
  /** The conversation shows these messages, or these runs were stopped before they began. */
  settle(sessionId: string, isDone: (message: Outgoing) => boolean): void
  /** The server is back: what nothing answered to goes out again. */
  retryCutOff(): void
  /** The session begins with a message that has not reached the server yet: the server does not know it. */
  isNew(sessionId: string): boolean
}

interface OutboxOptions {
  client: Pick<Client, 'send'>
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  makeId: () => string
}

const STORED = 'quarterdeck.outbox'
const NONE: readonly Outgoing[] = []

export function createOutbox({ client, storage, makeId }: OutboxOptions): Outbox {
  let all: readonly Outgoing[] = read(storage)
  const lists = new Map<string, readonly Outgoing[]>()
  const listeners = new Set<() => void>()
  /** Sessions with a request under way. */
  const busy = new Set<string>()

  function set(next: readonly Outgoing[]): void {
    all = next
    lists.clear()
    if (next.length === 0) storage.removeItem(STORED)
    else storage.setItem(STORED, JSON.stringify(next))
    for (const listener of listeners) listener()
  }
  const change = (key: string, changes: Partial<Outgoing>): void =>
    set(all.map((one) => (one.key === key ? { ...one, ...changes } : one)))

  async function work(sessionId: string): Promise<void> {
    if (busy.has(sessionId)) return
    busy.add(sessionId)
    try {
      for (;;) {
        // A message that failed holds back those behind it: they were written after it.
        const next = all.find((one) => one.sessionId === sessionId && one.status !== 'sent')
        if (next === undefined || next.status === 'failed') return
        await deliver(next)
      }
    } finally {
      busy.delete(sessionId)
    }
  }

  async function deliver({ key, sessionId, text, files, agent, model, host, replaces }: Outgoing): Promise<void> {
    try {
      const sent = await client.send(sessionId, text, {
        onBusy: 'queue',
        idempotencyKey: key,
        files: files.map(({ file_id }) => ({ file_id })),
        ...given({ agent, model: model ?? null, host: host ?? null, replaces: replaces ?? null }),
      })
      change(key, { status: 'sent', runId: sent.run_id, messageId: sent.message_id, problem: null, isCutOff: false })
    } catch (error) {
      const isCutOff = error instanceof ClientError && (error.code === 'unreachable' || error.status === 503)
      change(key, { status: 'failed', problem: errorText(error), isCutOff })
    }
  }

  function retry(key: string): void {
    const found = all.find((one) => one.key === key)
    if (found === undefined || found.status !== 'failed') return
    change(key, { status: 'sending', problem: null })
    void work(found.sessionId)
  }

  // A reload may have come between the request and its answer. The key makes a second try harmless.
  for (const sessionId of new Set(all.map((one) => one.sessionId))) void work(sessionId)

  return {
    of(sessionId) {
      const known = lists.get(sessionId)
      if (known !== undefined) return known
      const found = all.filter((one) => one.sessionId === sessionId)
      const list = found.length === 0 ? NONE : found
      lists.set(sessionId, list)
      return list
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    send(sessionId, words, { begins = false } = {}) {
      const made = { status: 'sending', problem: null, isCutOff: false, runId: null, messageId: null, begins } as const
      set([...all, { key: makeId(), sessionId, ...words, ...made }])
      void work(sessionId)
    },
    retry,
    discard(key) {
      const found = all.find((one) => one.key === key)
      set(all.filter((one) => one.key !== key))
      if (found !== undefined) void work(found.sessionId)
    },
    settle(sessionId, isDone) {
      const left = all.filter((one) => one.sessionId !== sessionId || one.status !== 'sent' || !isDone(one))
      if (left.length < all.length) set(left)
    },
    retryCutOff() {
      for (const { key, isCutOff } of all) if (isCutOff) retry(key)
    },
    isNew: (sessionId) => all.some((one) => one.sessionId === sessionId && one.begins && one.status !== 'sent'),
  }
}

/** What an earlier page left. A hand that changed it must not break the page. */
function read(storage: OutboxOptions['storage']): Outgoing[] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(STORED) ?? '[]')
    return Array.isArray(kept)
      ? kept.filter((one) => typeof one?.key === 'string' && typeof one?.text === 'string')
      : []
  } catch {
    return []
  }
}
