// One thread for each session in a room, so that a room with ten agents stays readable. The message that begins it tells how the session is.

import { hash } from 'node:crypto'
import type { Clock } from '../../domain/clock.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { OutboxReads } from '../../store/ports/outbox.ts'
import { createTurns } from '../../supervision/sessions/turns.ts'
import { sessionRoot } from './cards/session-root.ts'
import type { SlackCalls } from './create-slack-api.ts'
import type { PostUrgency } from './post-pace.ts'
import type { CardLooks } from './slack-desk.ts'

export interface PostHow {
  urgency: PostUrgency
  signal?: AbortSignal
}

export interface SessionThreads {
  /** `ts` of the message that begins the thread; null: the session has none. */
  find(session: Pick<SessionRecord, 'id' | 'createdAt'>): Promise<string | null>
  /** The same, but it begins the thread if there is none. */
  begin(session: SessionRecord, how: PostHow): Promise<string>
  /** Brings the first message up to date. */
  update(session: SessionRecord): Promise<void>
  /** Somebody has deleted the first message. The next one begins a new thread. */
  forget(sessionId: string): Promise<void>
  /** The session that this message belongs to, as the first one of a thread; null: none. */
  sessionOf(ts: string): Promise<string | null>
  /** Remembers that replies to this message are about the session. */
  add(ts: string, sessionId: string): Promise<void>
  /** False: the session certainly has no thread here. */
  mayHave(sessionId: string): boolean
}

interface ThreadDeps {
  room: string
  /** Under which the notes are kept. */
  channel: string
  api: Pick<SlackCalls, 'post' | 'update' | 'keys'>
  outbox: Pick<OutboxReads, 'note' | 'notes'>
  log: Pick<SessionLog, 'commit'>
  looks: CardLooks
  clock: Pick<Clock, 'now'>
}

/** It is being posted, or a crash came between the post and the note. */
const BEGUN = 'begun'
/** Clocks of two machines differ. */
const EARLIER_MS = 10 * 60_000
const MOST_KNOWN = 10_000

const sessionKey = (id: string): string => `session/${id}`
const threadKey = (ts: string): string => `thread/${ts}`

export function createSessionThreads(deps: ThreadDeps): SessionThreads {
  const { room, channel, api, outbox, log, looks, clock } = deps
  const turns = createTurns()
  const known = new Map<string, string>()
  /** What the first messages show, by their `ts`. */
  const shown = new Map<string, string>()
  const withNotes = new Set<string>()
  let isLoaded = false
  outbox.notes(channel).then(
    (notes) => {
      for (const { key, session } of notes) if (session !== null && key === sessionKey(session)) withNotes.add(session)
      isLoaded = true
    },
    // It stays unknown which sessions have a thread, so each may have one.
    () => {},
  )

  const write = (key: string, sessionId: string, value: string): Promise<unknown> =>
    log.commit({ type: 'note_for_channel', channel, key, value, session: sessionId, at: clock.now() })

  async function keep(sessionId: string, ts: string): Promise<string> {
    await write(threadKey(ts), sessionId, sessionId)
    await write(sessionKey(sessionId), sessionId, ts)
    remember(known, sessionId, ts, MOST_KNOWN)
    withNotes.add(sessionId)
    return ts
  }

  /** `begun`: perhaps. Slack knows. */
  async function look({ id, createdAt }: Pick<SessionRecord, 'id' | 'createdAt'>): Promise<string | null> {
    const before = known.get(id)
    if (before !== undefined) return before
    const note = await outbox.note(channel, sessionKey(id))
    if (note === null) return null
    if (note.value !== BEGUN) {
      remember(known, id, note.value, MOST_KNOWN)
      return note.value
    }
    const found = (await api.keys(room, null, createdAt - EARLIER_MS)).get(sessionKey(id))
    return found === undefined ? null : await keep(id, found)
  }

  async function begin(session: SessionRecord, { urgency, signal }: PostHow): Promise<string> {
    const found = await look(session)
    if (found !== null) return found
    await write(sessionKey(session.id), session.id, BEGUN)
    const message = sessionRoot(looks.session(session), looks.root)
    const how = { thread: null, key: sessionKey(session.id), urgency, ...(signal === undefined ? {} : { signal }) }
    const ts = await api.post(room, message, how)
    remember(shown, ts, hash('sha256', JSON.stringify(message)), MOST_KNOWN)
    return await keep(session.id, ts)
  }

  return {
    find: (session) => turns(session.id, () => look(session)),
    begin: (session, how) => turns(session.id, () => begin(session, how)),

    update: (session) =>
      turns(session.id, async () => {
        const ts = await look(session)
        if (ts === null) return
        const message = sessionRoot(looks.session(session), looks.root)
        const digest = hash('sha256', JSON.stringify(message))
        if (shown.get(ts) === digest) return
        await api.update(room, ts, message)
        remember(shown, ts, digest, MOST_KNOWN)
      }),

    forget: (sessionId) =>
      turns(sessionId, async () => {
        known.delete(sessionId)
        await log.commit({ type: 'note_for_channel', channel, key: sessionKey(sessionId), value: null })
      }),

    sessionOf: async (ts) => (await outbox.note(channel, threadKey(ts)))?.value ?? null,
    add: async (ts, sessionId) => void (await write(threadKey(ts), sessionId, sessionId)),
    mayHave: (sessionId) => !isLoaded || withNotes.has(sessionId),
  }
}

/** A map that forgets what was not written for the longest time. */
export function remember<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= most) return
    map.delete(oldest)
  }
}
