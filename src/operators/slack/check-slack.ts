// Looks whether Slack is set up right, for `quarterdeck doctor`. It posts nothing.

import { WebClient } from '@slack/web-api'
import { isRecord } from '../../domain/is-record.ts'
import { silentLogger } from '../../domain/logger.ts'
import type { ChannelCheck, CheckParts } from '../channel-kind.ts'
import { neededScopes } from './app-manifest.ts'
import { type SlackPerson, type SlackSecret, type SlackSettings, slackPeople } from './channel.ts'
import { clientOptions, createLibraryLogger } from './slack-caller.ts'
import {
  appTokenTrouble,
  failureOf,
  kindOf,
  roomTrouble,
  type SlackFailure,
  scopeTrouble,
  teamTrouble,
  tokenTrouble,
} from './slack-failure.ts'

interface SlackCheckDeps {
  apiUrl: string
  tokens: { app: string; bot: string }
  teamId: string | null
  rooms: readonly string[]
  operators: readonly Pick<SlackPerson, 'name' | 'slack'>[]
  fetch: typeof fetch
}

type Answer = Record<string, unknown>

export async function checkSlackApp(parts: CheckParts<SlackSettings, SlackSecret>): Promise<ChannelCheck[]> {
  const { settings, supervision, credentials, outgoing } = parts
  const { slack_app_token: app = null, slack_bot_token: bot = null, slack_team_id: teamId = null } = credentials ?? {}
  if (app === null || bot === null) return []
  return checkSlack({
    apiUrl: settings.apiUrl,
    tokens: { app, bot },
    teamId,
    rooms: supervision.slack.channels,
    operators: slackPeople(supervision.operators),
    fetch: outgoing.fetch,
  })
}

/** Checks one after the other. What depends on something that failed is left out. Never throws. */
export async function checkSlack(deps: SlackCheckDeps): Promise<ChannelCheck[]> {
  const { rooms, operators } = deps
  const ask = createAsk(deps)
  const checks = [await checkAppToken(ask)]
  const self = await ask('auth.test', {})
  if ('failure' in self) {
    const { error } = self.failure
    const isToken = error !== null && kindOf(self.failure) === 'token'
    return [...checks, bad('Bot token', isToken ? tokenTrouble(error) : noAnswer(self.failure))]
  }
  const { team_id: teamId, team, user } = self.answer
  const botName = typeof user === 'string' ? user : null
  checks.push(good(`Bot token: ${botName} in the workspace ${team}`))
  if (deps.teamId !== null && deps.teamId !== teamId) {
    checks.push(bad('Workspace', teamTrouble(deps.teamId, String(teamId))))
  }
  const kinds = new Set<boolean>()
  for (const room of rooms) {
    const { check, isPrivate } = await checkCapacity(ask, room, botName)
    checks.push(check)
    kinds.add(isPrivate)
  }
  checks.push(checkScopes(self.answer, [...kinds].flatMap(neededScopes)))
  for (const operator of operators) if (operator.slack !== null) checks.push(await checkPerson(ask, operator))
  return checks
}

type Ask = (method: string, args: Answer) => Promise<{ answer: Answer } | { failure: SlackFailure }>

function createAsk({ apiUrl, tokens, fetch: fetchOver }: SlackCheckDeps): Ask {
  const logger = createLibraryLogger(silentLogger, 'debug')
  const bot = new WebClient(tokens.bot, { ...clientOptions(apiUrl, fetchOver), logger })
  const app = new WebClient(tokens.app, { ...clientOptions(apiUrl, fetchOver), logger })
  return async (method, args) => {
    try {
      const client = method.startsWith('apps.') ? app : bot
      return { answer: { ...(await client.apiCall(method, args)) } }
    } catch (error) {
      return { failure: failureOf(method, error) }
    }
  }
}

const good = (detail: string): ChannelCheck => ({ status: 'ok', detail })
const bad = (detail: string, mend: string): ChannelCheck => ({ status: 'fail', detail, mend })
const noAnswer = ({ message }: SlackFailure): string => `${message} Check the network and slack.api_url.`

async function checkAppToken(ask: Ask): Promise<ChannelCheck> {
  const opened = await ask('apps.connections.open', {})
  if ('answer' in opened) return good('App token: connections can be opened')
  const { error } = opened.failure
  return bad('App token', error === null ? noAnswer(opened.failure) : appTokenTrouble(error))
}

function checkScopes({ response_metadata: more }: Answer, needed: readonly string[]): ChannelCheck {
  const scopes: unknown = isRecord(more) ? more.scopes : null
  if (!Array.isArray(scopes)) return good('Scopes: Slack does not tell them')
  const missing = [...new Set(needed)].filter((scope) => !scopes.includes(scope))
  return missing.length === 0 ? good('Scopes: all are there') : bad('Scopes', scopeTrouble(missing.join(', ')))
}

async function checkCapacity(
  ask: Ask,
  room: string,
  botName: string | null,
): Promise<{ check: ChannelCheck; isPrivate: boolean }> {
  const what = `Channel ${room}`
  const info = await ask('conversations.info', { channel: room })
  if ('failure' in info) {
    const { failure } = info
    const { error, neededScope } = failure
    const kind = kindOf(failure)
    const mend =
      kind === 'scope'
        ? scopeTrouble(neededScope ?? 'channels:read')
        : error === null || kind === 'rate'
          ? noAnswer(failure)
          : roomTrouble(room, error, botName)
    return { check: bad(what, mend), isPrivate: false }
  }
  const facts: Answer = isRecord(info.answer.channel) ? info.answer.channel : {}
  const error = facts.is_archived === true ? 'is_archived' : facts.is_member === true ? null : 'not_in_channel'
  const isPrivate = facts.is_private === true
  if (error !== null) return { check: bad(what, roomTrouble(room, error, botName)), isPrivate }
  return { check: good(`${what}: #${facts.name}, and the bot is in it`), isPrivate }
}

async function checkPerson(ask: Ask, { name, slack }: Pick<SlackPerson, 'name' | 'slack'>): Promise<ChannelCheck> {
  const what = `Operator ${name}`
  const info = await ask('users.info', { user: slack })
  if ('failure' in info) {
    const { failure } = info
    if (failure.error === 'user_not_found' || failure.error === 'users_not_found') {
      return bad(
        what,
        `Slack knows nobody with the id ${slack}. In Slack, open the profile, then “Copy member ID”, and set it in operators.`,
      )
    }
    return failure.error === 'missing_scope'
      ? good(`${what}: ${slack} was not checked, because the app lacks the scope users:read`)
      : bad(what, noAnswer(failure))
  }
  const user: Answer = isRecord(info.answer.user) ? info.answer.user : {}
  if (user.deleted === true) return bad(what, `The Slack user ${slack} is deactivated. Set another one in operators.`)
  return good(`${what}: ${slack} is ${user.name} in Slack`)
}
