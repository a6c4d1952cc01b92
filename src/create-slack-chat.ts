// Slack, wired to what people decide there. Loaded only where it is configured.

import { basename } from 'node:path'
import type { ServerSettings } from './config/settings/server-settings.ts'
import type { Services } from './create-services.ts'
import type { SupervisedWork } from './create-supervised-work.ts'
import type { Clock } from './domain/clock.ts'
import type { Ids } from './domain/ids.ts'
import type { Logger } from './domain/logger.ts'
import type { PersonRecord } from './domain/records/record.ts'
import type { SessionLog } from './log/session-log.ts'
import type { Chat } from './operators/chat.ts'
import type { CommandDesk } from './operators/commands/command-desk.ts'
import { runCommand } from './operators/commands/run-command.ts'
import { steerAgent } from './operators/commands/session-verbs.ts'
import type { ConsoleLink } from './operators/console-link.ts'
import type { ChannelCredentials } from './operators/credentials/channel-credentials.ts'
import type { OperatorDesk } from './operators/operator.ts'
import { createSlackAnswers } from './operators/slack/answers/create-slack-answers.ts'
import { createButtonValues } from './operators/slack/button-values.ts'
import { type AnswerParts, openSlack, type SlackDeps } from './operators/slack/create-slack.ts'
import { channelName } from './operators/slack/slack-room.ts'
import type { Connections } from './outgoing/connections.ts'
import type { Replica } from './start/open-replica.ts'
import type { Store } from './store/store.ts'
import { createAnswerRecord } from './supervision/records/answer-record.ts'
import { personOf } from './supervision/sessions/may-command.ts'

export interface SlackParts {
  settings: ServerSettings
  services: Services
  work: SupervisedWork
  store: Store
  sessionLog: SessionLog
  connections: Connections
  /** Signs the values of buttons. */
  secret: () => Uint8Array
  link: ConsoleLink
  /** Null: this is the only process of its store. */
  replica: Pick<Replica, 'alone'> | null
  clock: Clock
  ids: Ids
  log: Logger
}

/** A record is looked for among this many of its session. */
const RECENT = 200

export async function openSlackChat(
  parts: SlackParts,
  { tokens, teamId }: NonNullable<ChannelCredentials['slack']>,
  find: OperatorDesk['find'],
): Promise<Chat> {
  const { settings, services, store, sessionLog, connections, clock, ids, log: logger } = parts
  const { slack, operators, escalation, workspaces } = settings.supervision
  const session = (id: string) => store.sessions.get(id)
  const pool = connections.pool(settings.tools.proxy === null ? {} : { proxyVariables: settings.tools.proxy })
  const api = new URL(settings.channels.slack.apiUrl)
  const desk: SlackDeps['desk'] = {
    find,
    session,
    readDiff: services.readDiff,
    async waiting(limit) {
      return people(await store.waits.list({ isWaiting: true, limit }))
    },
    workspaceName: (path) => workspaces.find((one) => one.path === path)?.label ?? basename(path),
    link: parts.link,
  }
  const buttons = createButtonValues(parts.secret())
  const shared = { operators, buttons, desk }
  return openSlack({
    ...shared,
    escalation,
    settings: settings.channels.slack,
    personOf: (name) => personOf(services.elsewhere.operators, name),
    channelId: slack.channelId,
    channels: slack.channels,
    tokens,
    teamId,
    outbox: store.outbox,
    log: sessionLog,
    ...(parts.replica === null ? {} : { alone: parts.replica.alone }),
    answers: (given) => answersFor(parts, { ...shared, ...given }),
    outgoing: {
      fetch: pool.fetch,
      dispatcher: pool.isProxied(api) ? (await pool.upstreamFor(api)).dispatcher : null,
    },
    clock,
    ids,
    random: Math.random,
    logger,
  })
}

function answersFor(
  parts: SlackParts,
  {
    api,
    cards,
    teamId,
    viewOf,
    operators,
    buttons,
    desk,
  }: AnswerParts & Pick<SlackDeps, 'operators' | 'buttons' | 'desk'>,
) {
  const { settings, services, store, sessionLog, clock, log: logger } = parts
  const { approvals, elsewhere, noteShown, noteRefused } = services
  const { slack } = settings.supervision
  const commands = commandDesk(parts)
  return createSlackAnswers({
    ...{
      api,
      cards,
      buttons,
      people: operators,
      rooms: slack.channels,
      ownRoom: slack.channelId,
      channelOf: channelName,
    },
    teamId,
    desk: {
      answer: createAnswerRecord({ approvals, prompts: elsewhere.prompts, stalls: elsewhere.stalls }),
      noteShown,
      find: (id) => desk.find({ kind: 'wait', id }),
      records: async (sessionId) => people(await store.waits.list({ sessionId, limit: RECENT })),
      session: desk.session,
      steer: steerAgent(elsewhere.sessions),
      link: desk.link,
      viewOf,
    },
    operators: elsewhere.operators,
    notes: {
      get: async (room, key) => (await store.outbox.note(channelName(room), key))?.value ?? null,
      async set(room, key, value, session) {
        const note = { type: 'note_for_channel', channel: channelName(room), key } as const
        await sessionLog.commit(value === null ? { ...note, value } : { ...note, value, session, at: clock.now() })
      },
    },
    runCommand: (by, context, line) => runCommand(commands, by, context, line),
    noteRefused,
    clock,
    logger,
  })
}

function commandDesk({ settings, services, work, clock, log: logger }: SlackParts): CommandDesk {
  const { slack, commands, workspaces } = settings.supervision
  return {
    sessions: services.elsewhere.sessions,
    stalls: services.elsewhere.stalls,
    checkpoints: work.checkpoints,
    commands: work.commands,
    spawner: work.spawner,
    inbox: services.inbox,
    oversight: services.oversight,
    aliases: Object.keys(commands),
    workspaces,
    defaultChannelId: slack.channelId,
    clock,
    logger,
  }
}

const people = (waits: Awaited<ReturnType<Store['waits']['list']>>): PersonRecord[] =>
  waits.filter((wait) => wait.wait !== 'client_call')
