// Slack with a server behind it: real records on a real SQLite store, the real client libraries, and the stand-in of Slack. Time stands still
// unless a test lets it pass; what needs no time just happens.

import { randomBytes } from 'node:crypto'
import { basename } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Risk } from '../../../domain/agent/tool-settings.ts'
import type { LogFields, Logger } from '../../../domain/logger.ts'
import type { PersonRecord } from '../../../domain/records/record.ts'
import type { FeedItem } from '../../../domain/session/feed.ts'
import { createManualClock } from '../../../models/testing/manual-clock.ts'
import { createReadDiff } from '../../../supervision/approvals/read-diff.ts'
import { createReadScenes } from '../../../supervision/records/record-scenes.ts'
import type { SupervisedSession } from '../../../supervision/sessions/take-step.ts'
import { agentIn, callOf, openSupervision } from '../../../supervision/testing/open-supervision.ts'
import { makeWorkspace } from '../../../supervision/testing/workspace.ts'
import { openMessenger } from '../../open-messenger.ts'
import type { OperatorChannel } from '../../operator.ts'
import type { Outbox } from '../../outbox.ts'
import { createShownFrom, roomOf } from '../../shown-from.ts'
import { type OutboxParts, startOutbox } from '../../testing/start-outbox.ts'
import { createButtonValues } from '../button-values.ts'
import type { SlackDetail } from '../channel.ts'
import { type AnswerParts, openSlack, type SlackDeps } from '../create-slack.ts'
import type { SlackAnswers } from '../slack-api.ts'
import { createSlackStandIn } from './slack-stand-in.ts'
import type { ShownMessage } from './slack-workspace.ts'

export const OPS = 'C0OPS'
export const ANA = 'U0ANA'

/** What a server with Slack is opened with. */
export interface SlackOptions {
  rooms?: readonly string[]
  detail?: SlackDetail
  teamId?: string | null
  answers?: (parts: AnswerParts) => SlackAnswers
  lookup?: Partial<SlackDeps['lookup']>
  escalation?: SlackDeps['escalation']
  personOf?: (name: string) => string
  alone?: SlackDeps['alone']
}

export interface LogLine {
  level: 'info' | 'warn' | 'error'
  message: string
  fields: LogFields
}

export async function openSlackServer() {
  const clock = createManualClock()
  const slack = await createSlackStandIn({ clock })
  onTestFinished(() => slack.close())
  const lines: LogLine[] = []
  const lookup = openSupervision({ clock })
  const { store, log, feed, ids } = lookup
  const secret = randomBytes(32)
  const find = async ({ id }: Pick<FeedItem, 'id'>): Promise<PersonRecord | null> => {
    const wait = await store.waits.get(id)
    return wait === null || wait.wait === 'client_call' ? null : wait
  }

  /** Requests that are under way. */
  let underWay = 0
  const counted: typeof fetch = async (...request) => {
    underWay += 1
    return await fetch(...request).finally(() => {
      underWay -= 1
    })
  }

  /** Looks again and again, and lets time pass while nothing is under way. */
  async function passUntil<T>(look: () => T | Promise<T>): Promise<NonNullable<Awaited<T>>> {
    for (;;) {
      const found = await look()
      if (isFound(found)) return found
      // A connection that is being made needs real time, and there is a limit to it in the time of the clock.
      await breath(slack.socketCount === 0 ? 25 : 1)
      if (underWay === 0) await clock.advance(1_000)
    }
  }

  /** One life of the server. A second one on the same store is the server after a restart. */
  function open(options: SlackOptions = {}) {
    const { rooms = [OPS], detail = 'standard', teamId = null } = options
    const chat = openSlack({
      settings: { detail, apiUrl: slack.apiUrl },
      ownRoom: OPS,
      rooms,
      tokens: { app: slack.appToken, bot: slack.botToken },
      teamId,
      operators: [
        { name: 'ann', slack: ANA, group: null },
        { name: 'eve', slack: 'U0EVE', group: 'night' },
      ],
      escalation: options.escalation ?? [],
      personOf: options.personOf ?? ((name) => name),
      alone: options.alone ?? null,
      lookup: {
        find,
        session: (id) => store.sessions.get(id),
        readDiff: createReadDiff(store),
        readScenes: createReadScenes({ store, clock }),
        waiting: async (limit) =>
          (await store.waits.list({ isWaiting: true, limit })).filter((wait) => wait.wait !== 'client_call'),
        workspaceName: (path) => basename(path),
        link: (id) => `http://127.0.0.1:8000/console/inbox${id === null ? '' : `/${id}`}`,
        ...options.lookup,
      },
      outbox: store.outbox,
      log,
      buttons: createButtonValues(secret),
      outgoing: { fetch: counted, dispatcher: null },
      ...{ clock, ids, random: () => 0, logger: recording(lines) },
      pingMs: 300,
    })
    const { answering } = chat
    const answers = options.answers?.(answering) ?? ignoring
    const channels: OperatorChannel[] = chat.channels.map((create) => create({ find }))
    const [channel] = channels
    if (channel === undefined) throw new Error('there is no room')
    let isOpen = true
    const close = async () => {
      if (!isOpen) return
      isOpen = false
      await outbox?.close()
      await chat.close()
    }
    let outbox: Outbox | null = null
    onTestFinished(close)
    const lineOutbox: Pick<Outbox, 'announce' | 'queue'> = {
      announce() {},
      // Before it delivers, or after it has died, the line waits in the store.
      queue: async (to, line) =>
        outbox === null ? void (await log.commit({ type: 'queue_line', channel: to, line })) : outbox.queue(to, line),
    }
    const messenger = openMessenger({
      ...{ channels, chat, ownRoom: OPS, outbox: lineOutbox, clock, ids, logger: recording(lines) },
    })
    return {
      ...{ ...answering, chat, channels, channel, messenger, close },
      /** Connects. */
      serve: () => chat.serve(answers),
      /** Tells the room how something has ended that nobody asked for, as a schedule does. */
      tellRoom: (line: Parameters<Outbox['queue']>[1]) => lineOutbox.queue(chat.linesOf(OPS) ?? '', line),
      /** Lines that are not posted yet. */
      waitingLines: () => store.outbox.deliveries(chat.linesOf(OPS) ?? ''),
      /** Begins to deliver what the feed says. */
      deliver(more: Partial<Pick<OutboxParts, 'log' | 'jobs' | 'changes'>> = {}) {
        const session = (id: string) => store.sessions.get(id)
        const shownFrom = createShownFrom({ channels, ownRoom: OPS, find, session })
        const parts = { channels, shownFrom, feed, store: store.outbox, log, clock, logger: recording(lines) }
        outbox = startOutbox({ ...parts, ...more })
      },
      /** Begins to deliver, and connects. */
      async start() {
        this.deliver()
        void this.serve()
        await slack.whenConnected()
      },
    }
  }

  const workspace = makeWorkspace({ 'src/greeting.txt': 'Hello\n' })
  /** The agent in this window asks whether it may write. It gets no answer here, so nobody waits for one. */
  async function ask(
    window = 'one',
    values: { channelId?: string; diff?: string; risk?: Risk } = {},
  ): Promise<PersonRecord> {
    const before = new Set((await lookup.waiting()).map(({ id }) => id))
    const agent = agentIn(workspace, { connectionId: window, channelId: values.channelId ?? null })
    const leaving = new AbortController()
    const { diff = 'Hello, world\n', risk = 'low' } = values
    const asking = lookup.tools.ask_approval(callOf(agent, { signal: leaving.signal }), {
      title: `Greet from ${window}`,
      diff,
      file_path: 'src/greeting.txt',
      risk_level: risk,
    })
    const wait = await until(async () => (await lookup.waiting()).find(({ id }) => !before.has(id)))
    leaving.abort()
    await asking
    if (wait.wait === 'client_call') throw new Error('not a question')
    return wait
  }

  return {
    ...lookup,
    ...{ slack, clock, lines, open, ask, workspace, find },
    async sessionOf({ sessionId }: Pick<PersonRecord, 'sessionId'>): Promise<SupervisedSession> {
      const session = await store.sessions.get(sessionId)
      if (session?.supervision === undefined) throw new Error('it is not a session of an agent elsewhere')
      return { ...session, supervision: session.supervision }
    },
    /** Messages in threads, oldest first. */
    replies: (room = OPS) => slack.messages(room).filter(({ threadTs }) => threadTs !== null),
    /** Messages at the top of the room, oldest first. */
    tops: (room = OPS) => slack.messages(room).filter(({ threadTs }) => threadTs === null),
    passUntil,
    /** The room has seen everything that waits or waited, and so many messages are there. */
    delivered: (channel: OperatorChannel, count: number) =>
      passUntil(async () => {
        const items = await feed.items(0, 1_000)
        let last = 0
        for (const { kind, n, sessionId } of items) {
          const session = kind === 'wait' ? await store.sessions.get(sessionId) : null
          if (session !== null && roomOf(session, OPS) === channel.room) last = n
        }
        const isSeen = ((await store.outbox.cursor(channel.name)) ?? -1) >= last
        const isEmpty = (await store.outbox.deliveries(channel.name)).length === 0
        return isSeen && isEmpty && slack.messages(channel.room ?? '').length >= count
      }),
  }
}

const ignoring: SlackAnswers = { onAction: async () => {}, onMessage: async () => {}, onCommand: async () => {} }

function recording(lines: LogLine[]): Logger {
  const at =
    (level: LogLine['level']) =>
    (message: string, fields: LogFields = {}) =>
      void lines.push({ level, message, fields })
  const logger: Logger = { debug() {}, info: at('info'), warn: at('warn'), error: at('error'), with: () => logger }
  return logger
}

/** A moment for the network. */
const breath = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms))

const isFound = <T>(found: T): found is NonNullable<T> => found !== undefined && found !== null && found !== false

/** Looks again and again, without a limit of time, because the machine may be busy. */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<Awaited<T>>> {
  for (;;) {
    const found = await look()
    if (isFound(found)) return found
    await breath(1)
  }
}

/** What a message says, without the names that Slack gives to blocks. */
export const textOf = ({ text, blocks }: Pick<ShownMessage, 'text' | 'blocks'>): string =>
  `${text} ${JSON.stringify(blocks)}`
