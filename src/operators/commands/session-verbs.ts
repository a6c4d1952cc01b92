// Commands for sessions and their agents.

import { ServerError } from '../../domain/errors.ts'
import { isOfCodingAgent, type PersonRecord } from '../../domain/records/record.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { SupervisedStatus } from '../../domain/supervision/supervision.ts'
import { shortIds } from '../../domain/text/id-prefix.ts'
import { visibleCode, visibleText } from '../../domain/text/visible-text.ts'
import type { CommandResult } from '../../supervision/commands/run-command.ts'
import type { InboxPlace } from '../../supervision/inbox/inbox.ts'
import { describeInShort } from '../../supervision/records/describe-record.ts'
import { ago } from '../../supervision/records/record-words.ts'
import { checkText } from '../../supervision/sessions/check-text.ts'
import type { SupervisedSessions } from '../../supervision/sessions/supervised-sessions.ts'
import type { SupervisedSession } from '../../supervision/sessions/take-step.ts'
import { type Answer, code, count, facts, file, fitsInline, heading, lines, oneLine, says, text } from './answer.ts'
import {
  type ChannelSessions,
  channelSessions,
  noteLook,
  refuseEnded,
  refuseMore,
  sessionLine,
  takePlace,
  takeSession,
  takeText,
  takeTextPlace,
  unclear,
  workspaceLine,
} from './channel-sessions.ts'
import type { Asked, CommandContext, CommandServices } from './command-services.ts'

const MOST_PROMPT_CHARS = 10_000
const MOST_SHOWN = 20
/** Sessions that have stopped and can come back. The oldest of them interest nobody. */
const MOST_INTERRUPTED = 5
const INLINE = { lines: 30, bytes: 2_048 }

export async function listSessions(services: CommandServices, asked: Asked): Promise<Answer> {
  const { by, context } = asked
  refuseMore(asked)
  const here = await channelSessions(services, context)
  const interrupted = here.all
    .filter(({ supervision }) => supervision.status === 'interrupted')
    .slice(0, MOST_INTERRUPTED)
  if (here.open.length + interrupted.length === 0) {
    return says('No agent has an open session in this channel. To start one: session-start PROMPT')
  }
  await noteLook(services, by, [...here.open, ...interrupted])
  const { items } = await waitingHere(services, by, context, here)
  const now = services.clock.now()
  const line = (session: SupervisedSession): string => {
    const { updatedAt, progressSnapshot: steps } = session.supervision
    const waits = items.filter(({ sessionId }) => sessionId === session.id).length
    const done = steps?.filter(({ status }) => status === 'done').length
    return facts(
      sessionLine(here, session),
      steps === null || steps.length === 0 ? null : `${done} of ${count(steps.length, 'step')} done`,
      waits === 0 ? null : `${count(waits, 'question waits', 'questions wait')} for an answer`,
      `last heard ${ago(now - updatedAt)}`,
    )
  }
  return {
    parts: [
      ...(here.open.length === 0 ? [] : [heading(count(here.open.length, 'open session')), lines(here.open.map(line))]),
      ...(interrupted.length === 0 ? [] : [heading('Interrupted'), lines(interrupted.map(line))]),
    ],
  }
}

export async function listInbox(services: CommandServices, asked: Asked): Promise<Answer> {
  const { by, context } = asked
  refuseMore(asked)
  const here = await channelSessions(services, context)
  const { items, isWhole } = await waitingHere(services, by, context, here)
  if (items.length === 0) return says('Nothing waits in this channel.')
  await noteLook(services, by, items)
  const short = shortIds(items.map(({ id }) => id))
  const now = services.clock.now()
  const shown = items.slice(0, MOST_SHOWN).map((item) => {
    const { label, risk, title, gist } = describeInShort(item)
    return facts(
      short.get(item.id) ?? item.id,
      oneLine(risk === null ? label : `${label}, risk ${risk.level}${risk.why === null ? '' : `: ${risk.why}`}`, 120),
      oneLine(`${title} ${gist}`, 120),
      isPolicy(item) ? null : `session ${here.shortId({ id: item.sessionId })}`,
      `asked ${ago(now - item.createdAt)}`,
    )
  })
  const more = items.length - shown.length
  const rest = isWhole ? (more > 0 ? `${more} more wait.` : null) : 'Many more wait.'
  return { parts: [heading(`${items.length} waiting`), lines(shown), ...(rest === null ? [] : [text(rest)])] }
}

const PAGE = 100
const MOST_PAGES = 10

/** What waits in this channel, the most urgent first. Our own agents belong to the channel of sessions that name none. */
async function waitingHere(
  services: CommandServices,
  by: Caller,
  { channelId }: CommandContext,
  here: ChannelSessions,
) {
  const ids = new Set(here.all.map(({ id }) => id))
  const items: PersonRecord[] = []
  let place: InboxPlace | null = null
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const before: { before?: InboxPlace } = place === null ? {} : { before: place }
    const found = await services.inbox.list(by, { limit: PAGE, ...before })
    for (const item of found.items) {
      const isHere = isOfCodingAgent(item)
        ? ids.has(item.sessionId) || (isPolicy(item) && (await roomOfPolicy(services, item)) === channelId)
        : channelId === services.defaultChannelId
      if (isHere) items.push(item)
    }
    place = found.next
    if (place === null) break
  }
  return { items, isWhole: place === null }
}

const isPolicy = (item: PersonRecord): boolean => item.wait === 'approval' && item.kind === 'policy'

/** A policy that waits belongs to a workspace, and so to no session of the list. */
async function roomOfPolicy(
  { sessions, defaultChannelId }: CommandServices,
  { sessionId }: PersonRecord,
): Promise<string | null> {
  const { supervision } = await sessions.get(sessionId)
  return supervision.channelId ?? defaultChannelId
}

export async function startSession(services: CommandServices, { by, context, command }: Asked): Promise<Answer> {
  checkText(command.text, 'prompt', MOST_PROMPT_CHARS)
  const { id, supervision } = await services.spawner.start({
    owner: by.user,
    prompt: command.text,
    workspace: command.options.get('workspace') ?? workspaceOf(services, context),
    channelId: context.channelId,
    host: command.options.get('host'),
  })
  const here = await channelSessions(services, context)
  const where = `${supervision.host} in ${visibleText(supervision.workspaceRoot)}`
  return says(`Started ${where}: session ${here.shortId({ id })}. What it asks appears in this channel.`)
}

/** The one workspace that belongs to this channel, or to no channel. Throws `invalid_request` with a list if there is not one. */
function workspaceOf({ workspaces }: CommandServices, { channelId }: CommandContext): string {
  const own = workspaces.filter((one) => one.channelId === channelId)
  const free = workspaces.filter((one) => one.channelId === null)
  const [only, ...others] = own.length > 0 ? own : free
  if (only !== undefined && others.length === 0) return only.id ?? only.path
  const message =
    only === undefined
      ? 'Say where the agent works: --workspace PATH. quarterdeck.yaml names no workspace for this channel.'
      : 'Say where the agent works: --workspace ID.'
  throw unclear(message, [...own, ...free].map(workspaceLine), 'invalid_request')
}

export async function clearSession(services: CommandServices, asked: Asked): Promise<Answer> {
  const here = await channelSessions(services, asked.context)
  const { session } = takeSession(here, asked, { most: 0 })
  refuseEnded(here, session)
  await services.sessions.terminate(asked.by, session.id)
  return says(`Session ${here.shortId(session)} has ended. What its agent had asked is interrupted.`)
}

export async function pauseSession(services: CommandServices, asked: Asked): Promise<Answer> {
  const here = await channelSessions(services, asked.context)
  const { session } = takeSession(here, asked, { most: 0 })
  refuseEnded(here, session)
  await services.sessions.pause(asked.by, session.id)
  const id = here.shortId(session)
  return session.supervision.status === 'paused'
    ? says(`Session ${id} was paused already.`)
    : says(`Session ${id} is paused: its calls are refused until session-resume. Its process goes on.`)
}

export async function resumeSession(services: CommandServices, asked: Asked): Promise<Answer> {
  const here = await channelSessions(services, asked.context)
  const paused = here.open.filter(({ supervision }) => supervision.status === 'paused')
  const { session } = takeSession(here, asked, { most: 0 }, paused.length > 0 ? paused : here.open)
  refuseEnded(here, session)
  const { status } = session.supervision
  const id = here.shortId(session)
  if (status === 'active' || status === 'created') return says(`Session ${id} is not paused.`)
  await services.sessions.resume(asked.by, session.id)
  return status === 'paused'
    ? says(`Session ${id} goes on.`)
    : says(`Session ${id} is open again. It goes on when its agent calls.`)
}

export async function switchStalls(services: CommandServices, asked: Asked): Promise<Answer> {
  const here = await channelSessions(services, asked.context)
  const { session, words } = takeSession(here, asked, { most: 1, least: 1 })
  refuseEnded(here, session)
  const [wanted] = words
  if (wanted !== 'on' && wanted !== 'off') throw new ServerError('invalid_request', 'Write session-stalls on, or off.')
  await services.stalls.setEnabled(asked.by, session.id, wanted === 'on')
  const id = here.shortId(session)
  return wanted === 'on'
    ? says(`The silence of session ${id} counts again, from now.`)
    : says(`The silence of session ${id} raises no alert and no nudge until session-stalls on.`)
}

export async function steer(services: CommandServices, asked: Asked): Promise<Answer> {
  const here = await channelSessions(services, asked.context)
  const { session, text: message } = takeText(here, asked)
  refuseEnded(here, session)
  return says(await steerAgent(services.sessions)(asked.by, session.id, message))
}

/** Sends the agent a message, and says when the agent gets it. */
export const steerAgent =
  (sessions: Pick<SupervisedSessions, 'get' | 'steer'>) =>
  async (by: Caller, sessionId: string, message: string): Promise<string> => {
    await sessions.steer(by, sessionId, message)
    const { status } = (await sessions.get(sessionId)).supervision
    return WHENS[status] ?? 'The agent gets this with the result of its next call.'
  }

const WHENS: Partial<Record<SupervisedStatus, string>> = {
  paused: 'The agent is paused. It gets this after session-resume.',
  interrupted: 'The agent is not connected. It gets this when it comes back.',
}

export async function addTask(services: CommandServices, asked: Asked): Promise<Answer> {
  const here = await channelSessions(services, asked.context)
  const { session, text: task } = await takeTextPlace(services, here, asked)
  await services.sessions.addTask(asked.by, session.id, task)
  return says(`The next session in ${visibleText(session.supervision.workspaceRoot)} gets this task.`)
}

export async function runAlias(services: CommandServices, asked: Asked): Promise<Answer> {
  const { name } = asked.command
  const here = await channelSessions(services, asked.context)
  const { session } = await takePlace(services, here, asked, { most: 0 })
  refuseEnded(here, session)
  const result = await services.commands.run(asked.by, session.id, name)
  const output = result.output.trimEnd()
  const parts = [heading(`${name}: ${outcomeOf(result)}`)]
  if (output === '') return { parts: [...parts, text('It printed nothing.')] }
  const shown = visibleCode(output.split(/\r?\n/))
  const content = shown.join('\n')
  return fitsInline(content, shown.length, INLINE)
    ? { parts: [...parts, code(content)] }
    : { parts, file: file(`${name}.txt`, content) }
}

function outcomeOf({ ended, exitCode, signal, durationMs, problem }: CommandResult): string {
  const time = `after ${(durationMs / 1_000).toFixed(1)} s`
  if (problem !== null) return visibleText(problem)
  if (ended === 'stopped') return `stopped ${time}, because the server ends`
  return exitCode === null ? `ended by ${signal} ${time}` : `exit code ${exitCode} ${time}`
}
