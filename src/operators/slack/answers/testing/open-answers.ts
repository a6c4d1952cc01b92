// Answers in a Slack that lives in this process: the stand-in's people and messages without its sockets, over real records.

import type { Clock } from '../../../../domain/clock.ts'
import { isRecord } from '../../../../domain/is-record.ts'
import type { LogFields, Logger } from '../../../../domain/logger.ts'
import type { PersonRecord } from '../../../../domain/records/record.ts'
import type { Feed } from '../../../../engine/feed.ts'
import type { SessionLog } from '../../../../log/session-log.ts'
import type { Store } from '../../../../store/store.ts'
import { createReadDiff } from '../../../../supervision/approvals/read-diff.ts'
import { createNoteRefused } from '../../../../supervision/oversight/note-refused.ts'
import { createAnswerRecord } from '../../../../supervision/records/answer-record.ts'
import { describe } from '../../../../supervision/records/describe-record.ts'
import type { RecordView } from '../../../../supervision/records/record-view.ts'
import type { Operators } from '../../../../supervision/sessions/may-command.ts'
import { DeliveryFailed } from '../../../operator.ts'
import { createButtonValues } from '../../button-values.ts'
import type { SlackMessage, ThreadFile } from '../../cards/blocks.ts'
import type { CardState } from '../../cards/card.ts'
import { renderCard } from '../../cards/render-card.ts'
import { linesOf } from '../../cards/testing/read-message.ts'
import type { SlackApi, SlackCards } from '../../slack-api.ts'
import { contentOf } from '../../testing/api-methods.ts'
import { type Click, createPeople, type Reply } from '../../testing/people.ts'
import { createResponseUrls } from '../../testing/response-urls.ts'
import { createSlackWorkspace, type ShownMessage } from '../../testing/slack-workspace.ts'
import type { AnswerServices } from '../card-answers.ts'
import { createSlackAnswers } from '../create-slack-answers.ts'
import type { RunCommand } from '../take-command.ts'

export const ROOM = 'C0OPS'
export const OTHER_ROOM = 'C0TWO'
export const TEAM = 'T0ACME'
/** `ann` owns what agents elsewhere ask, `root` is an admin, and `eve` is another operator. `mal` is nobody. */
export const people = { ann: 'U0ANN', eve: 'U0EVE', root: 'U0ROOT', mal: 'U0MAL' } as const
export type Who = keyof typeof people

const identity = { teamId: TEAM, teamDomain: 'acme', appId: 'A0DECK', botUserId: 'U0BOT', botId: 'B0BOT' }
const SECRET = Buffer.alloc(32, 7)
const channelOf = (room: string): string => `slack:${room}`

interface Parts extends Pick<AnswerServices, 'noteShown' | 'steer'> {
  decides: Parameters<typeof createAnswerRecord>[0]
  store: Store
  log: SessionLog
  feed: Feed
  clock: Clock
  operators: Operators
  runCommand?: RunCommand
}

interface Logged {
  level: string
  message: string
  fields: LogFields
}

export function openAnswers({ store, log, feed, clock, operators, runCommand, decides, noteShown, steer }: Parts) {
  const workspace = createSlackWorkspace(clock, identity)
  for (const [name, id] of Object.entries(people)) workspace.users.set(id, { id, name })
  const members = new Set([...Object.values(people), identity.botUserId])
  for (const id of [ROOM, OTHER_ROOM]) {
    workspace.channels.set(id, { id, name: id.toLowerCase(), members, isPrivate: false, isArchived: false })
  }
  workspace.baseUrl = 'http://slack.test'
  const responseUrls = createResponseUrls(workspace, clock)
  const buttons = createButtonValues(SECRET)
  const logged: Logged[] = []
  const logger = recordingLogger(logged)
  /** Calls of Slack's API that fail from now on. */
  const broken = new Set<string>()
  const uploads: (string | null)[][] = []
  const works = (method: string): void => {
    if (broken.has(method)) throw new DeliveryFailed(`${method} is broken.`)
  }
  const checked = ({ text, blocks }: SlackMessage) => contentOf({ text, blocks: JSON.stringify(blocks) })

  async function update(ts: string, message: SlackMessage): Promise<void> {
    works('update')
    const found = workspace.find(ROOM, ts)
    if (found !== null) workspace.update(found, checked(message))
  }
  const api: SlackApi = {
    async whisper(channel, user, message, thread) {
      works('whisper')
      workspace.post({ channel, user: identity.botUserId, ...checked(message), threadTs: thread, ephemeralTo: user })
    },
    async respond(url, message, how) {
      works('respond')
      const body = { response_type: 'ephemeral', replace_original: how?.replace ?? false, ...checked(message) }
      const { status, body: said } = responseUrls.respond(new URL(url).pathname, body)
      if (status !== 200) throw new Error(said)
    },
    async upload(room, thread, { name, snippetType }) {
      works('upload')
      uploads.push([room, thread, name, snippetType])
    },
    async download(url, most) {
      works('download')
      const file = [...workspace.files.values()].find(({ id }) => url.includes(id))
      if (file === undefined) throw new Error('no such file')
      return file.content.subarray(0, most + 1)
    },
  }

  const find = async (id: string): Promise<PersonRecord | null> => {
    const wait = await store.waits.get(id)
    return wait === null || wait.wait === 'client_call' ? null : wait
  }
  const readDiff = createReadDiff(store)
  async function viewOf(wait: PersonRecord): Promise<RecordView> {
    const session = await store.sessions.get(wait.sessionId)
    if (session === null) throw new Error('the session is gone')
    const { supervision } = session
    return describe(wait, {
      folder: supervision === undefined ? null : 'shop',
      title: null,
      prompt: null,
      diff: (wait.wait === 'approval' ? await readDiff(wait) : null)?.shown ?? null,
    })
  }
  const messageOf = async (wait: PersonRecord, state: CardState, room = ROOM): Promise<SlackMessage> =>
    renderCard(await viewOf(wait), {
      detail: 'standard',
      link: null,
      mention: null,
      state,
      buttonValue: (action) => {
        const digest = wait.wait === 'approval' ? wait.digest : null
        return buttons.value({ room, recordId: wait.id, digest, action })
      },
    })

  const attached: ThreadFile[] = []
  /** Sessions by the message that begins their thread. */
  const threads = new Map<string, string>()
  const cards: SlackCards = {
    async refresh(recordId, state = { type: 'open' }) {
      const wait = await find(recordId)
      const ts = wait?.messageRefs[channelOf(ROOM)]
      if (wait === null || ts === undefined) return
      await update(ts, await messageOf(wait, state)).catch(() => {})
    },
    sessionOfThread: async (room, thread) => (room === ROOM ? (threads.get(thread) ?? null) : null),
    async attach(_recordId, files) {
      attached.push(...files)
    },
  }

  const answers = createSlackAnswers({
    ...{ api, cards, buttons, operators, clock, logger, channelOf },
    people: (['ann', 'eve', 'root'] as const).map((name) => ({ name, slack: people[name] })),
    teamId: async () => TEAM,
    rooms: [ROOM, OTHER_ROOM],
    ownRoom: ROOM,
    services: {
      ...{ noteShown, steer },
      answer: createAnswerRecord(decides),
      find,
      session: (id) => store.sessions.get(id),
      link: (id) => `http://127.0.0.1:8000/console/inbox/${id}`,
      viewOf,
      records: async (sessionId) =>
        (await store.waits.list({ sessionId, limit: 100 })).filter((one) => one.wait !== 'client_call'),
    },
    notes: {
      get: async (room, key) => (await store.outbox.note(channelOf(room), key))?.value ?? null,
      async set(room, key, value, session) {
        const note = { type: 'note_for_channel', channel: channelOf(room), key } as const
        await log.commit(value === null ? { ...note, value } : { ...note, value, session, at: clock.now() })
      },
    },
    runCommand: runCommand ?? (async () => ({ parts: [] })),
    noteRefused: createNoteRefused({
      audit: (record) => log.commit({ type: 'add_audit', audit: [record] }),
      ...{ clock, logger },
    }),
  })

  /** Payloads as they came, oldest first. */
  const payloads: Record<string, unknown>[] = []
  async function hand(type: string, payload: Record<string, unknown>): Promise<void> {
    if (type === 'interactive') return answers.onAction(payload)
    if (type === 'slash_commands') return answers.onCommand(payload)
    return answers.onMessage(payload.event, { teamId: String(payload.team_id) })
  }
  const crowd = createPeople({
    ...{ workspace, responseUrls, clock },
    hub: {
      async deliver(type, payload) {
        payloads.push(payload)
        await hand(type, payload)
        return { envelopeId: 'e', isAcked: true, latencyMs: 0, payload: null, attempts: 1 }
      },
    },
  })

  /** Posts the card of a record, as the room's channel does. */
  async function show(id: string): Promise<{ ts: string; thread: string }> {
    const wait = await find(id)
    if (wait === null) throw new Error('no such record')
    const known = [...threads].find(([, session]) => session === wait.sessionId)?.[0]
    const thread =
      known ?? workspace.post({ channel: ROOM, user: identity.botUserId, text: 'A session', threadTs: null }).ts
    threads.set(thread, wait.sessionId)
    const message = checked(await messageOf(wait, { type: 'open' }))
    const { ts } = workspace.post({ channel: ROOM, user: identity.botUserId, ...message, threadTs: thread })
    const items = (await feed.items(0, 1_000)).filter((item) => item.kind === 'wait' && item.id === id)
    const item = items.at(-1)
    if (item === undefined) throw new Error('the feed does not tell of it')
    const channel = channelOf(ROOM)
    const after = await store.outbox.cursor(channel)
    const upTo = Math.max(item.n, (after ?? 0) + 1)
    await log.commit({ type: 'take_deliveries', channel, after, upTo, items: [item], skipped: 0 })
    const [delivery] = (await store.outbox.deliveries(channel)).slice(-1)
    if (delivery === undefined) throw new Error('nothing is to be delivered')
    const outcome = { type: 'delivered', count: 1, ref: ts } as const
    await log.commit({ type: 'settle_delivery', channel, n: delivery.n, outcome })
    return { ts, thread }
  }

  const whispers = (who: Who): ShownMessage[] =>
    workspace.all(ROOM).filter((one) => !one.isDeleted && one.ephemeralTo === people[who])
  const linesFor = (message: ShownMessage): string =>
    linesOf({ blocks: message.blocks as unknown as SlackMessage['blocks'] }).join('\n')

  return {
    answers,
    api,
    workspace,
    payloads,
    logged,
    attached,
    uploads,
    broken,
    buttons,
    show,
    find,
    hand,
    threads,
    /** What only this person has been shown, oldest first, as lines. */
    told: (who: Who): string[] => whispers(who).map(linesFor),
    /** All that the card has shown, oldest first. */
    versions: (ts: string): string[] =>
      (workspace.find(ROOM, ts)?.versions ?? []).map((one) => linesFor({ ...one } as ShownMessage)),
    press: (who: Who, ts: string, action: string, more: Partial<Click> = {}) =>
      crowd.click({ user: people[who], channel: ROOM, ts, actionId: `quarterdeck:${action}`, stale: true, ...more }),
    /** Presses a button of the newest message that only this person sees. */
    async pressOwn(who: Who, action: string) {
      const message = whispers(who).at(-1)
      if (message === undefined) throw new Error(`${who} sees nothing`)
      await crowd.click({
        user: people[who],
        channel: ROOM,
        ts: message.ts,
        actionId: `quarterdeck:${action}`,
        stale: true,
      })
    },
    reply: (who: Who, thread: string, text: string, more: Partial<Reply> = {}) =>
      crowd.reply({ user: people[who], channel: ROOM, thread, text, ...more }),
    slash: (who: Who, text: string, more: { channel?: string; team?: string } = {}) =>
      crowd.slash({ user: people[who], channel: ROOM, text, ...more }),
    /** What the audit trail has of people who were refused. */
    async refused() {
      const entries = await store.audit.entries(0, 10_000)
      return entries
        .map(({ text }): unknown => JSON.parse(text))
        .filter(isRecord)
        .filter(({ kind }) => kind === 'refused')
        .map(({ by, details }) => ({ by, ...(isRecord(details) ? details : {}) }))
    },
  }
}

function recordingLogger(logged: Logged[]): Logger {
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}): void =>
      void logged.push({ level, message, fields })
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: () => logger,
  }
  return logger
}
