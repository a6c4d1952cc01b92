// Slack, wired to what people decide there. Loaded only where it is configured.

import { basename } from 'node:path'
import type { AnyRecord, PersonRecord } from '../../domain/records/record.ts'
import type { ChannelParts, OpenedChannels } from '../channel-parts.ts'
import type { ChatServices } from '../chat.ts'
import { runCommand } from '../commands/run-command.ts'
import { steerAgent } from '../commands/session-verbs.ts'
import { createSlackAnswers } from './answers/create-slack-answers.ts'
import { createButtonValues } from './button-values.ts'
import { type SlackSecret, type SlackSettings, slackPeople } from './channel.ts'
import { type AnswerParts, openSlack, type SlackDeps } from './create-slack.ts'
import { channelName } from './slack-room.ts'

type SlackParts = ChannelParts<SlackSettings, SlackSecret>

const PING_MS = 5_000
/** A record is looked for among this many of its session. */
const RECENT = 200

export async function openSlackChat(parts: SlackParts): Promise<OpenedChannels> {
  const { settings, credentials, supervision, chat, clock, ids, logger } = parts
  const { slack_app_token: app, slack_bot_token: bot, slack_team_id: teamId } = credentials
  if (app === null || bot === null) return { channels: [], chat: null }
  const { slack, escalation, workspaces } = supervision
  const lookup: SlackDeps['lookup'] = {
    find: chat.find,
    session: (id) => chat.sessions.get(id),
    readDiff: chat.readDiff,
    readScenes: chat.readScenes,
    async waiting(limit) {
      return people(await chat.waits.list({ isWaiting: true, limit }))
    },
    workspaceName: (path) => workspaces.find((one) => one.path === path)?.label ?? basename(path),
    link: parts.link,
  }
  const shared = {
    operators: slackPeople(supervision.operators),
    buttons: createButtonValues(await chat.secret()),
    lookup,
  }
  const opened = openSlack({
    ...shared,
    escalation,
    settings,
    personOf: chat.operators.personOf,
    ownRoom: slack.channelId,
    rooms: slack.channels,
    tokens: { app, bot },
    teamId,
    outbox: chat.outbox,
    log: chat.log,
    alone: chat.alone,
    outgoing: {
      fetch: chat.outgoing.fetch,
      dispatcher: await chat.outgoing.dispatcherFor(new URL(settings.apiUrl)),
    },
    clock,
    ids,
    random: Math.random,
    pingMs: PING_MS,
    logger,
  })
  const takeAnswers = (chatServices: ChatServices) => {
    const answers = answersFor(parts, { ...shared, ...opened.answering }, chatServices)
    return (signal: AbortSignal) => opened.serve(answers, signal)
  }
  return { channels: opened.channels, chat: { ...opened, takeAnswers } }
}

function answersFor(
  { supervision: { slack }, chat, clock, logger }: SlackParts,
  { viewOf, operators, lookup, ...given }: AnswerParts & Pick<SlackDeps, 'operators' | 'buttons' | 'lookup'>,
  { answer, sessions, commands, noteShown, noteRefused }: ChatServices,
) {
  return createSlackAnswers({
    ...given,
    people: operators,
    rooms: slack.channels,
    ownRoom: slack.channelId,
    channelOf: channelName,
    services: {
      answer,
      noteShown,
      find: (id) => lookup.find({ kind: 'wait', id }),
      records: async (sessionId) => people(await chat.waits.list({ sessionId, limit: RECENT })),
      session: lookup.session,
      steer: steerAgent(sessions),
      link: lookup.link,
      viewOf,
    },
    operators: chat.operators,
    notes: {
      get: async (room, key) => (await chat.outbox.note(channelName(room), key))?.value ?? null,
      async set(room, key, value, session) {
        const note = { type: 'note_for_channel', channel: channelName(room), key } as const
        await chat.log.commit(value === null ? { ...note, value } : { ...note, value, session, at: clock.now() })
      },
    },
    runCommand: (by, context, line) => runCommand(commands, by, context, line),
    noteRefused,
    clock,
    logger,
  })
}

const people = (waits: readonly AnyRecord[]): PersonRecord[] => waits.filter((wait) => wait.wait !== 'client_call')
