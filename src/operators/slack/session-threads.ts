// One thread for each session in a room, so that a room with ten agents stays readable. The message that begins it tells how the session is.

import { hash } from 'node:crypto'
import { abortAfter } from '../../domain/abort.ts'
import type { SessionRecord, SessionStatus } from '../../domain/session/session.ts'
import { createTurns } from '../../supervision/sessions/turns.ts'
import { bold, code, emoji, line, quote, rich, type SlackMessage } from './cards/blocks.ts'
import { type CardLook, type CardSession, checklist, headline, notifiedHeadline } from './cards/card.ts'
import { consoleLine } from './cards/render-card.ts'
import { notifiedName, shownName, shownProse } from './cards/shown-text.ts'
import type { PostUrgency } from './post-pace.ts'
import type { RoomDeps } from './slack-room.ts'

export interface PostHow {
  urgency: PostUrgency
  signal?: AbortSignal
}

interface ThreadDeps extends Pick<RoomDeps, 'room' | 'api' | 'outbox' | 'log' | 'looks' | 'alone' | 'clock'> {
  /** Under which the notes are kept. */
  channel: string
}

/** It is being posted, or a crash came between the post and the note. */
const BEGUN = 'begun'
/** Clocks of two machines differ. */
const EARLIER_MS = 10 * 60_000
const MOST_KNOWN = 10_000
/** With a call of Slack's after it, this is shorter than others wait for whoever begins a thread. */
const BEGIN_MS = 8_000

const sessionKey = (id: string): string => `session/${id}`
const threadKey = (ts: string): string => `thread/${ts}`

export function createSessionThreads(deps: ThreadDeps) {
  const { room, channel, api, outbox, log, looks, alone, clock } = deps
  const turns = createTurns()
  const known = new Map<string, string>()
  /** What the first messages show, by their `ts`. */
  const shown = new Map<string, string>()
  const withNotes = new Set<string>()
  let isLoaded = false

  /** Another process may have begun threads, and changed what they show. */
  function readAgain(): void {
    isLoaded = false
    known.clear()
    shown.clear()
    outbox.notes(channel).then(
      (notes) => {
        for (const { key, session } of notes)
          if (session !== null && key === sessionKey(session)) withNotes.add(session)
        isLoaded = true
      },
      // It stays unknown which sessions have a thread, so each may have one.
      () => {},
    )
  }
  readAgain()

  const write = (key: string, sessionId: string, value: string): Promise<unknown> =>
    log.commit({ type: 'note_for_channel', channel, key, value, session: sessionId, at: clock.now() })

  async function keep(sessionId: string, ts: string): Promise<string> {
    await write(threadKey(ts), sessionId, sessionId)
    await write(sessionKey(sessionId), sessionId, ts)
    remember(known, sessionId, ts, MOST_KNOWN)
    withNotes.add(sessionId)
    return ts
  }

  /** What the notes say. Null: the session has no thread. */
  async function noted(id: string): Promise<string | null> {
    const before = known.get(id)
    if (before !== undefined) return before
    const note = await outbox.note(channel, sessionKey(id))
    if (note !== null && note.value !== BEGUN) remember(known, id, note.value, MOST_KNOWN)
    return note?.value ?? null
  }

  async function look({ id, createdAt }: Pick<SessionRecord, 'id' | 'createdAt'>): Promise<string | null> {
    const note = await noted(id)
    if (note !== BEGUN) return note
    // Perhaps. Slack knows.
    const found = (await api.keys(room, null, createdAt - EARLIER_MS)).get(sessionKey(id))
    return found === undefined ? null : await keep(id, found)
  }

  async function begin(session: SessionRecord, how: PostHow): Promise<string> {
    const found = await look(session)
    if (found !== null) return found
    await write(sessionKey(session.id), session.id, BEGUN)
    const message = sessionRoot(looks.session(session), looks.root)
    const ts = await api.post(room, message, { ...how, thread: null, key: sessionKey(session.id) })
    remember(shown, ts, hash('sha256', JSON.stringify(message)), MOST_KNOWN)
    return await keep(session.id, ts)
  }

  /** Any process posts what agents say, so two may want to begin the same thread. Whoever comes second finds the thread of the first one. */
  async function beginAlone(session: SessionRecord, how: PostHow): Promise<string> {
    if (alone === null) return await begin(session, how)
    const found = await noted(session.id)
    if (found !== null && found !== BEGUN) return found
    return await alone(`${channel}/${session.id}`, async () => {
      using late = abortAfter(clock, BEGIN_MS)
      const signal = AbortSignal.any([late.signal, ...(how.signal === undefined ? [] : [how.signal])])
      // Lines wait for everything else, which may take longer than others wait for us.
      const urgency = how.urgency === 'line' ? 'delivery' : how.urgency
      return await begin(session, { urgency, signal })
    })
  }

  return {
    /** `ts` of the message that begins the thread; null: the session has none. */
    find: (session: Pick<SessionRecord, 'id' | 'createdAt'>): Promise<string | null> =>
      turns(session.id, () => look(session)),
    /** The same, but it begins the thread if there is none. */
    begin: (session: SessionRecord, how: PostHow): Promise<string> => turns(session.id, () => beginAlone(session, how)),

    /** Brings the first message up to date. */
    update: (session: SessionRecord): Promise<void> =>
      turns(session.id, async () => {
        const ts = await look(session)
        if (ts === null) return
        const message = sessionRoot(looks.session(session), looks.root)
        const digest = hash('sha256', JSON.stringify(message))
        if (shown.get(ts) === digest) return
        await api.update(room, ts, message)
        remember(shown, ts, digest, MOST_KNOWN)
      }),

    /** Somebody has deleted this first message. The next one begins a new thread, unless another process has begun it. */
    forget: (sessionId: string, ts: string): Promise<void> =>
      turns(sessionId, async () => {
        known.delete(sessionId)
        if ((await noted(sessionId)) !== ts) return
        known.delete(sessionId)
        await log.commit({ type: 'note_for_channel', channel, key: sessionKey(sessionId), value: null })
      }),

    /** The session that this message belongs to, as the first one of a thread; null: none. */
    sessionOf: async (ts: string): Promise<string | null> => (await outbox.note(channel, threadKey(ts)))?.value ?? null,
    /** Remembers that replies to this message are about the session. */
    add: async (ts: string, sessionId: string): Promise<void> =>
      void (await write(threadKey(ts), sessionId, sessionId)),
    /** False: the session certainly has no thread here. */
    mayHave: (sessionId: string): boolean => !isLoaded || withNotes.has(sessionId),
    readAgain,
  }
}

export type SessionThreads = ReturnType<typeof createSessionThreads>

/** A map that forgets what was not written for the longest time. */
export function remember<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= most) return
    map.delete(oldest)
  }
}

// The message that begins the thread of a session. It is brought up to date when the session changes.

const MOST_TITLE = 300
const MOST_PROMPT = 600
const MOST_STEPS = 20

const STATUS: Readonly<Record<SessionStatus, { mark: string; words: string }>> = {
  created: { mark: 'hourglass_flowing_sand', words: 'starting' },
  active: { mark: 'large_green_circle', words: 'active' },
  paused: { mark: 'double_vertical_bar', words: 'paused' },
  interrupted: { mark: 'octagonal_sign', words: 'interrupted' },
  terminated: { mark: 'white_circle', words: 'terminated' },
}

export function sessionRoot(
  session: CardSession,
  { detail, link: url }: Pick<CardLook, 'detail' | 'link'>,
): SlackMessage {
  if (session.isWorkspace) return workspaceRoot(session)
  const { mark, words } = STATUS[session.status]
  const said = [
    ...(session.title === null || session.title === '' ? [] : [quote(shownProse(session.title, MOST_TITLE).text)]),
    ...(session.prompt === null || session.prompt === '' || detail === 'minimal'
      ? []
      : [line(bold('It was started with:')), quote(shownProse(session.prompt, MOST_PROMPT).text)]),
  ]
  const steps = detail === 'minimal' ? [] : checklist('Its own list of steps', session.progress, MOST_STEPS)
  return {
    text: `${notifiedHeadline(session, `is ${words}`)}.`,
    blocks: [
      ...rich(
        headline(session, `is ${words}`, emoji(mark), ' '),
        line('Owner ', bold(shownName(session.owner)), ' · session ', code(shownName(session.id))),
      ),
      ...rich(...said),
      ...rich(...steps),
      ...rich(consoleLine(url)),
    ],
  }
}

/** What belongs to a workspace and to no agent in it. */
function workspaceRoot({ folder, owner }: CardSession): SlackMessage {
  const name = folder ?? ''
  return {
    text: `Workspace ${notifiedName(name)}. What belongs to no agent in it.`,
    blocks: rich(
      line(emoji('file_folder'), ' Workspace ', code(shownName(name))),
      line('What belongs to no agent in it · owner ', bold(shownName(owner))),
    ),
  }
}
