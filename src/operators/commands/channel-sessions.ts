// The sessions of the channel that a command was typed in, and which of them it means.

import { type ErrorCode, ServerError } from '../../domain/errors.ts'
import type { WorkspaceSettings } from '../../domain/settings/supervision-settings.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { isOpen } from '../../domain/supervision/supervision.ts'
import { matchingIds, shortIds } from '../../domain/text/id-prefix.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import type { SupervisedSession } from '../../supervision/sessions/take-step.ts'
import { facts, oneLine } from './answer.ts'
import type { Asked, CommandContext, CommandServices } from './command-services.ts'
import { verbs } from './verbs.ts'

/** More than a server keeps. */
const MOST_SESSIONS = 1_000
const MOST_LISTED = 20
const LEAST_ID_CHARS = 4

export async function channelSessions(services: CommandServices, { channelId }: CommandContext) {
  const found = await services.sessions.list({ limit: MOST_SESSIONS })
  /** Newest activity first. */
  const all = found.filter(
    ({ status, supervision }) =>
      status !== 'terminated' && (supervision.channelId ?? services.defaultChannelId) === channelId,
  )
  const short = shortIds(all.map(({ id }) => id))
  return {
    all,
    open: all.filter(({ supervision }) => isOpen(supervision)),
    /** The four characters of its id that people type. */
    shortId: ({ id }: Pick<SupervisedSession, 'id'>): string => short.get(id) ?? id,
  }
}

export type ChannelSessions = Awaited<ReturnType<typeof channelSessions>>

/** One line about a session, for lists to choose from. */
export const sessionLine = (here: ChannelSessions, session: SupervisedSession): string => {
  const { status, host, title, workspaceRoot } = session.supervision
  return facts(
    here.shortId(session),
    status,
    oneLine(host, 40),
    session.owner,
    title && oneLine(title, 80),
    oneLine(workspaceRoot, 200),
  )
}

const isLongEnough = (id: string): boolean => id.replaceAll('-', '').length >= LEAST_ID_CHARS

/** Whether somebody who begins a command with this word means a session. */
const namesSession = (here: ChannelSessions, word: string): boolean =>
  isLongEnough(word) && matchingIds(here.all, word, ({ id }) => id).length > 0

/**
 * The session that is meant: by its short id, else the one of the thread, else the only one of `among` (the open ones if left out).
 * Throws `session_not_found`, and `conflict` with a list if it is not clear.
 */
function findSession(
  here: ChannelSessions,
  { context }: Pick<Asked, 'context'>,
  given: string | undefined,
  among: readonly SupervisedSession[] = here.open,
): SupervisedSession {
  const line = (one: SupervisedSession): string => sessionLine(here, one)
  if (given !== undefined) {
    // A session that has ended can still be looked at, but an open one is what people mean.
    const isOpenMeant = matchingIds(here.open, given, ({ id }) => id).length > 0
    return named('session', isOpenMeant ? here.open : here.all, given, line)
  }
  const ofThread = here.all.find(({ id }) => id === context.sessionOfThread)
  if (ofThread !== undefined) return ofThread
  const [only, ...others] = among
  if (only === undefined) {
    throw new ServerError(
      'session_not_found',
      'No agent has an open session in this channel. To start one: session-start PROMPT',
    )
  }
  if (others.length === 0) return only
  throw unclear('Several sessions are open in this channel. Say which one: --session ID.', among.map(line))
}

/** With a line about each that may be meant. */
export const unclear = (message: string, lines: readonly string[], code: ErrorCode = 'conflict'): ServerError =>
  new ServerError(code, message, { details: { candidates: lines.slice(0, MOST_LISTED) } })

const unknownIds = {
  session: { code: 'session_not_found', listedBy: 'sessions' },
  checkpoint: { code: 'record_not_found', listedBy: 'session-checkpoints' },
  grant: { code: 'grant_not_found', listedBy: 'grants' },
} as const

/** The one whose id a person has written, or a part of it. Throws if that says too little, and if it means none or several. */
export function named<T extends { id: string }>(
  what: keyof typeof unknownIds,
  all: readonly T[],
  given: string,
  line: (one: T) => string,
): T {
  if (!isLongEnough(given)) {
    throw new ServerError('invalid_request', `Write at least ${LEAST_ID_CHARS} characters of the id of the ${what}.`)
  }
  const found = matchingIds(all, given, ({ id }) => id)
  const [only, ...others] = found
  const shown = JSON.stringify(oneLine(given, 64))
  if (only === undefined) {
    const { code, listedBy } = unknownIds[what]
    throw new ServerError(code, `No ${what} of this channel has the id ${shown}. ${listedBy} lists them.`)
  }
  if (others.length === 0) return only
  throw unclear(`${shown} means several ${what}s. Write the four characters of one.`, found.map(line))
}

/** The first word or `--session` names the session; the other words are left. Throws as `findSession`. */
export function takeSession(
  here: ChannelSessions,
  asked: Asked,
  /** How many words the command itself takes at most. Without space for more, the first word can only be an id. */
  own: { most: number; least?: number },
  among?: readonly SupervisedSession[],
): { session: SupervisedSession; words: readonly string[] } {
  const { words, options } = asked.command
  const [first] = words
  const mayLead = !options.has('session') && words.length > (own.least ?? 0)
  const leads = mayLead && first !== undefined && (own.most === 0 || namesSession(here, first))
  const rest = leads ? words.slice(1) : words
  refuseMore(asked, rest, own.most)
  return { session: findSession(here, asked, leads ? first : options.get('session'), among), words: rest }
}

/**
 * The same for what needs a workspace and no agent: where `--workspace` names one, or no session is open, it is a workspace of this
 * channel. Gives the session that stands for it.
 */
export async function takePlace(
  services: CommandServices,
  here: ChannelSessions,
  asked: Asked,
  own: { most: number; least?: number },
): Promise<{ session: SupervisedSession; words: readonly string[] }> {
  const { words, options } = asked.command
  const [first] = words
  const leads = first !== undefined && words.length > (own.least ?? 0) && (own.most === 0 || namesSession(here, first))
  if (!isOfWorkspace(here, asked) || leads) return takeSession(here, asked, own)
  refuseMore(asked, words, own.most)
  const { path } = channelWorkspace(services, asked.context, options.get('workspace'))
  return { session: await services.sessions.ofWorkspace(asked.by.user, path), words }
}

/** The same for a text that goes to a workspace. */
export async function takeTextPlace(
  services: CommandServices,
  here: ChannelSessions,
  asked: Asked,
): Promise<{ session: SupervisedSession; text: string }> {
  const { options, text, lead } = asked.command
  if (!isOfWorkspace(here, asked) || (lead !== null && namesSession(here, lead.id))) return takeText(here, asked)
  const { path } = channelWorkspace(services, asked.context, options.get('workspace'))
  return { session: await services.sessions.ofWorkspace(asked.by.user, path), text }
}

/** Whether a command names a workspace, or can mean nothing else. */
function isOfWorkspace(here: ChannelSessions, { context, command: { options } }: Asked): boolean {
  if (options.has('workspace') && options.has('session')) {
    throw new ServerError('invalid_request', 'Send --workspace or --session, not both.')
  }
  if (options.has('workspace')) return true
  return !options.has('session') && here.open.length === 0 && !here.all.some(({ id }) => id === context.sessionOfThread)
}

/** A workspace of the settings that belongs to this channel: the named one, or the only one. */
function channelWorkspace(
  { workspaces, defaultChannelId }: CommandServices,
  { channelId }: CommandContext,
  wanted: string | undefined,
): WorkspaceSettings {
  const own = workspaces.filter((one) => (one.channelId ?? defaultChannelId) === channelId)
  const found = wanted === undefined ? own : own.filter(({ id, path, label }) => [id, path, label].includes(wanted))
  const [only, ...others] = found
  if (only !== undefined && others.length === 0) return only
  if (own.length === 0) {
    throw new ServerError(
      'session_not_found',
      'No agent has an open session in this channel, and quarterdeck.yaml gives it no workspace. To start one: session-start PROMPT',
    )
  }
  const lines = own.map(workspaceLine)
  throw wanted === undefined
    ? unclear('Several workspaces belong to this channel. Say which one: --workspace ID.', lines)
    : unclear(
        `No workspace of this channel is called ${JSON.stringify(oneLine(wanted, 64))}.`,
        lines,
        'invalid_request',
      )
}

/** One line about a workspace, for lists to choose from. */
export const workspaceLine = ({ id, path, label }: WorkspaceSettings): string =>
  facts(visibleText(id ?? path), label && oneLine(label, 80))

/** The same for a text, which may begin with an id. */
export function takeText(here: ChannelSessions, asked: Asked): { session: SupervisedSession; text: string } {
  const { options, text, lead } = asked.command
  const leads = lead !== null && !options.has('session') && namesSession(here, lead.id)
  return {
    session: findSession(here, asked, leads ? lead.id : options.get('session')),
    text: leads ? lead.text : text,
  }
}

/** Throws `invalid_request` for words that nobody asked for. */
export function refuseMore({ command: { verb, name, words: given } }: Asked, words = given, most = 0): void {
  if (words.length <= most) return
  const usage = verb === null ? name : verbs[verb].usage
  throw new ServerError('invalid_request', `${name} does not understand ${quoted(words.slice(most))}. Write: ${usage}`)
}

const quoted = (words: readonly string[]): string => words.map((word) => JSON.stringify(oneLine(word, 64))).join(', ')

/** Throws `session_ended`, in words for people. */
export function refuseEnded(here: ChannelSessions, session: SupervisedSession): void {
  if (session.supervision.status !== 'terminated') return
  throw new ServerError(
    'session_ended',
    `Session ${here.shortId(session)} has ended. To start a new one: session-start PROMPT`,
  )
}

/** Operators see the sessions of others, and the audit trail says that they looked. */
export async function noteLook(
  services: Pick<CommandServices, 'oversight'>,
  by: Caller,
  seen: readonly Pick<SupervisedSession, 'owner'>[],
): Promise<void> {
  if (seen.some(({ owner }) => owner !== by.user)) await services.oversight.listing({ by, owner: by.user }, '*')
}
