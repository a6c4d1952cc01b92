import type { Supervision } from '../../../client/client.ts'
import { shortIds } from '../../../domain/text/id-prefix.ts'
import { explainPolicy } from '../../../supervision/workspace-policy/explain-policy.ts'
import { protectedByPath } from '../../../supervision/workspace-policy/judge-request.ts'
import { readPolicy } from '../../../supervision/workspace-policy/read-policy.ts'
import { usageError } from '../../cli-error.ts'
import { agentOf, folderOf, recordLines, riskOf, sinceOf, taskOf, titleOf } from '../../show-record.ts'
import { styleFor } from '../../terminal/style.ts'
import { localTime, localZone, terminalLine, textTable } from '../../terminal/terminal-text.ts'
import { readAllowlist } from '../policy/read-policy-argument.ts'
import { answerLines, approve } from './answer.ts'
import type { CtlContext } from './ctl-server.ts'
import {
  allSessions,
  allWaiting,
  filterWords,
  findCheckpoint,
  findRecord,
  findSession,
  type InboxFilter,
  isOpenSession,
  NothingFound,
  readRecord,
  recordPath,
  type ShownRecord,
} from './records.ts'

/** Wide enough for the arguments: by them people tell two calls of one tool apart. */
const TITLE_WIDTH = 200

/** The open sessions, and what waits for a person, the most urgent first. */
export async function list(context: CtlContext, { all, ...filter }: InboxFilter & { all?: boolean }): Promise<void> {
  const sessions = (await allSessions(context.server)).filter((one) => all === true || isOpenSession(one))
  const { items } = await allWaiting(context.server, filter)
  const json = { sessions, waiting: items.map(({ sent }) => sent) }
  const none = filterWords(filter) === '' ? 'Nothing waits.' : `Nothing waits with${filterWords(filter)}`
  context.say(json, [sessionTable(sessions), items.length === 0 ? none : waitingTable(items)].join('\n\n'))
}

function sessionTable(sessions: readonly Supervision[]): string {
  if (sessions.length === 0) return 'No agent has an open session.'
  const ids = shortIds(sessions.map((one) => one.session_id))
  const rows = sessions.map((one) => [
    ids.get(one.session_id) ?? '',
    terminalLine(one.status, 20),
    terminalLine(one.host, 24),
    terminalLine(one.owner_user_id, 24),
    terminalLine(one.title ?? '', 40),
    terminalLine(one.workspace_root, 120),
  ])
  return textTable(['SESSION', 'STATUS', 'HOST', 'OWNER', 'TITLE', 'WORKSPACE'], rows).trimEnd()
}

function waitingTable(items: readonly ShownRecord[]): string {
  const ids = shortIds(items.map(({ view }) => view.id))
  const rows = items.map(({ view }) => [
    ids.get(view.id) ?? '',
    view.label,
    riskOf(view),
    localTime(sinceOf(view)).slice(11),
    agentOf(view),
    terminalLine(folderOf(view), 120),
    taskOf(view),
    `${terminalLine(titleOf(view), TITLE_WIDTH)}${view.risk?.why ? ` (${terminalLine(view.risk.why, 80)})` : ''}`,
  ])
  const head = ['WAITS', 'KIND', 'RISK', `SINCE (${localZone()})`, 'AGENT', 'FOLDER', 'TASK', 'WHAT']
  return textTable(head, rows).trimEnd()
}

/** A record, a session or a checkpoint, whole. */
export async function show(context: CtlContext, id: string): Promise<void> {
  const { server, io } = context
  const style = styleFor(io.stdout, io.env)
  const record = await orNone(() => findRecord(server, id))
  if (record !== null) {
    const lines = [...recordLines(record.view, style), ...answerLines(record.view)]
    return context.say(record.sent, lines.join('\n'))
  }
  const session = await orNone(() => findSession(server, id))
  if (session !== null) return context.say(session, factLines(session))
  const checkpoint = await orNone(() => findCheckpoint(server, id))
  if (checkpoint !== null) return context.say(checkpoint, factLines(checkpoint))
  // Says what it looked for.
  await findRecord(server, id)
}

/** Null if there is none of this kind. An id that means several is an error of its own. */
async function orNone<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NothingFound) return null
    throw error
  }
}

const factLines = (facts: Record<string, unknown>): string =>
  Object.entries({ ...facts, time_zone: localZone() })
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => {
      const text = typeof value !== 'string' ? JSON.stringify(value) : name.endsWith('_at') ? localTime(value) : value
      return `${terminalLine(name, 30).padEnd(20)}${terminalLine(text, 1_000)}`
    })
    .join('\n')

/** The policy files that wait for an operator's yes, with what each would allow. With an id: only that one. */
export async function policy(
  context: CtlContext,
  id: string | undefined,
  { approve: yes }: { approve?: boolean },
): Promise<void> {
  if (id === undefined && yes === true) {
    throw usageError('Say which policy to approve: quarterdeck ctl policy <id> --approve')
  }
  const found = id === undefined ? await waitingPolicies(context) : [await findPolicy(id, context)]
  if (found.length === 0) return context.say([], 'No policy waits for a yes.')
  if (!context.json) for (const one of found) context.io.stdout.write(`${policyLines(one, context).join('\n')}\n`)
  if (yes === true) for (const { view } of found) await approve(context, view.id, {})
  else if (context.json)
    context.say(
      found.map(({ sent }) => sent),
      '',
    )
}

async function waitingPolicies({ server }: CtlContext): Promise<ShownRecord[]> {
  const { items } = await allWaiting(server)
  return await Promise.all(items.filter(isPolicy).map((one) => withText(server, one)))
}

async function findPolicy(id: string, { server }: CtlContext): Promise<ShownRecord> {
  const found = await findRecord(server, id)
  if (isPolicy(found)) return await withText(server, found)
  throw usageError(`This is not a policy but “${found.view.label}”.`)
}

const isPolicy = ({ view }: ShownRecord): boolean => view.mark === 'policy'

const withText = async (server: CtlContext['server'], { view }: ShownRecord): Promise<ShownRecord> =>
  readRecord(await server.get(`${recordPath(view)}?include=content`))

function policyLines({ view, content }: ShownRecord, { io }: CtlContext): string[] {
  const head = [`${view.label}  ${view.id}  ${agentOf(view)}  ${folderOf(view)}`, titleOf(view)]
  if (typeof content !== 'string') return head
  const read = readPolicy(content)
  if (read.policy === null) return [...head, '  It has mistakes, so it allows nothing.']
  const limits = { allowlist: readAllowlist(undefined, io), protectedBecause: protectedByPath }
  const explained = explainPolicy(read.policy, read.settings, limits).flatMap(({ means, note }) => [
    `  ${terminalLine(means, 1_000)}`,
    ...(note === null ? [] : [`    note: ${terminalLine(note, 1_000)}`]),
  ])
  return [...head, ...(explained.length === 0 ? ['  It says nothing, so every request needs an approval.'] : explained)]
}
