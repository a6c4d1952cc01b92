import { isoTime } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Entry } from '../../../domain/session/entry.ts'
import { type RunEventOf, typeOfEventText } from '../../../domain/session/event.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Runs } from '../../../engine/ports/runs.ts'
import type { Request } from '../../../http/route.ts'
import { capabilitiesOf } from '../../shared/capabilities.ts'
import type { Reader } from '../../shared/events/encode-events.ts'
import { listSessions } from '../../shared/request/list-sessions.ts'
import { decodePage, type Page, queryProblem } from '../../shared/request/page.ts'
import type { Outcome } from '../wire/waiting-calls.ts'
import type { RuntimeInfo, StopAnswer, Thread, ThreadList } from './schema.ts'

export const stopped: StopAnswer = {
  stopped: true,
  interrupt: { type: 'RUN_ERROR', message: 'Run stopped by user', code: 'STOPPED' },
}

export const notStopped = (threadId: string, runId: string | null): StopAnswer => ({
  stopped: false,
  message:
    runId === null
      ? `No active run for thread '${threadId}'.`
      : `Run '${runId}' is not the active run for thread '${threadId}'.`,
})

/** The agent that CopilotKit's components ask for by default. */
const DEFAULT_AGENT = 'default'

export function runtimeInfo({ agents }: Pick<Engine, 'agents'>, version: string): RuntimeInfo {
  const named = [[DEFAULT_AGENT, agents.get(null)] as const, ...agents.list.map((one) => [one.name, one] as const)]
  return {
    version,
    // A later entry with the same name wins, so an agent named `default` comes first.
    agents: Object.fromEntries(
      named.map(([name, one]) => [
        name,
        { name, className: 'Quarterdeck', description: one.description, capabilities: capabilitiesOf(one, version) },
      ]),
    ),
    mode: 'sse',
    threadEndpoints: { list: true, inspect: false, mutations: false, realtimeMetadata: false },
    suggestions: false,
    audioFileTranscriptionEnabled: false,
    a2uiEnabled: false,
    openGenerativeUIEnabled: false,
    telemetryDisabled: true,
  }
}

/** Our name for the agent that CopilotKit asks for; null is the default agent. */
export function agentNamed({ agents }: Pick<Engine, 'agents'>, name: string): string | null {
  return name === DEFAULT_AGENT && !agents.list.some((one) => one.name === name) ? null : name
}

/**
 * Leaves the call out of an interrupt. CopilotKit would write a result for that call into its page as soon as somebody answers, and
 * show the call as done even if the answer is then refused. The real result follows when the call has run.
 */
export const withoutCall = (outcome: Outcome): Outcome =>
  outcome.type !== 'interrupt'
    ? outcome
    : { ...outcome, interrupts: outcome.interrupts.map(({ toolCallId: _, ...interrupt }) => interrupt) }

/** The events of a run as CopilotKit shows them right. */
export const followFor =
  (follow: Runs['follow'], reader: Reader): Runs['follow'] =>
  (target, signal) =>
    rewritten(
      follow(target, signal),
      reader === '0.x' ? (finished) => asCopilotKit(stopAsFinish(finished)) : asCopilotKit,
    )

type Finished = RunEventOf<'RUN_FINISHED'>

const asCopilotKit = (finished: Finished): Finished =>
  finished.outcome === undefined ? finished : { ...finished, outcome: withoutCall(finished.outcome) }

/**
 * Shows a stopped run as finished, as CopilotKit's own runtime does for readers of AG-UI 0.x: 0.x has no word for a stopped run, and
 * CopilotKit would show a RUN_ERROR as a failure to the person who has just pressed stop. The stored outcome stays `cancelled`.
 */
function stopAsFinish(finished: Finished): Finished {
  const { outcome, ...rest } = finished
  return outcome?.type === 'cancelled' ? rest : finished
}

async function* rewritten(
  source: AsyncIterable<readonly Entry[]>,
  rewrite: (finished: Finished) => Finished,
): AsyncGenerator<readonly Entry[]> {
  const shown = (entry: Entry): Entry =>
    endsRun(entry) ? { ...entry, data: JSON.stringify(rewrite(JSON.parse(entry.data))) } : entry
  for await (const batch of source) yield batch.some(endsRun) ? batch.map(shown) : batch
}

const endsRun = ({ kind, data }: Entry): boolean => kind === 'event' && typeOfEventText(data) === 'RUN_FINISHED'

// The list of threads, in the shape that CopilotKit's client reads.

const LIMITS = { max: 200, fallback: 50 }
/** Sessions of other agents are skipped. After this many pages the list ends early, with a cursor. */
const MOST_PAGES = 20

/** A page of the caller's threads, newest first. Throws `agent_not_found` and `invalid_request`. */
export async function listThreads(
  engine: Pick<Engine, 'agents' | 'sessions'>,
  { principal: { owner }, query }: Pick<Request, 'principal' | 'query'>,
): Promise<ThreadList> {
  const agentId = query.get('agentId')
  const agent = agentId === null ? null : engine.agents.get(agentNamed(engine, agentId)).name
  const { limit } = decodePage({ query }, LIMITS)
  const threads: Thread[] = []
  let cursor = query.get('cursor')
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page: Page = { limit: limit - threads.length, before: cursor ?? undefined }
    const { sessions, next } = await listSessions(engine, { owner }, page).catch((error: unknown) => {
      if (!(error instanceof ServerError) || error.code !== 'invalid_request') throw error
      throw queryProblem({ pointer: 'cursor', detail: 'Send the nextCursor of the previous page.' })
    })
    for (const session of sessions) {
      if (agent === null || session.agent === agent) threads.push(threadOf(session, agentId ?? session.agent))
    }
    cursor = next
    if (cursor === null || threads.length >= limit) break
  }
  return { threads, nextCursor: cursor }
}

function threadOf({ id, alias, owner, createdAt, lastActivity }: SessionRecord, agentId: string): Thread {
  const used = isoTime(lastActivity)
  return {
    id: alias ?? id,
    // Organizations exist only in CopilotKit's cloud.
    organizationId: '',
    agentId,
    createdById: owner,
    name: null,
    archived: false,
    createdAt: isoTime(createdAt),
    updatedAt: used,
    lastRunAt: used,
  }
}
