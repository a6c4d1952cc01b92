// What a POST with a RunAgentInput does: resume, attach, hydrate or start a run. Shared by the doors that take that input.

import type { Clock } from '../../domain/clock.ts'
import { sessionNotFound } from '../../domain/errors.ts'
import type { RunEvent } from '../../domain/event.ts'
import type { RunInput, RunRecord } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Reply, Request } from '../../http/route.ts'
import { idempotencyOf, onBusyOf } from '../request/start-headers.ts'
import { type AgUiInput, decodeRunAgentInput } from './decode-input.ts'
import { entryAt } from './entry-at.ts'
import { parseEventId } from './event-id.ts'
import { hydrationEvents } from './hydration.ts'
import { openEventStream } from './open-event-stream.ts'
import { sessionSnapshot } from './session-snapshot.ts'
import { beforeFirst, isOver, streamRun } from './stream-run.ts'
import { type KnownHistory, takeHistory } from './take-history.ts'

export interface RunDoorDeps {
  engine: Engine
  clock: Pick<Clock, 'now'>
}

/** Does what the input asks for, with the agent of that name (null: the default one), and streams the answer. */
export type RunDoor = (request: Request, reply: Reply, agent: string | null) => Promise<void>

export function createRunDoor(deps: RunDoorDeps): RunDoor {
  const { engine, clock } = deps

  /** The events of a run after `after`, then live. */
  async function show(call: Call, run: RunRecord, after: number): Promise<void> {
    const { request, reply, input } = call
    reply.note({ session_id: run.sessionId, run_id: run.id })
    // An empty 200 would look like a stream that broke off.
    if (isOver(run, after)) return reply.empty(204)
    const reader = await openEventStream(request, reply, input.reader)
    await streamRun(deps, run, after, reader)
    reader.stream.end()
  }

  /** Never starts work: the run that owns the event goes on where this reader left it. */
  async function resume(call: Call, session: SessionRecord | null, lastEventId: string): Promise<void> {
    const { owner } = call.request.principal
    const { sessionId, seq } = parseEventId(lastEventId)
    if (session?.id !== sessionId) throw sessionNotFound(sessionId)
    const { runId } = await entryAt(engine, sessionId, seq)
    const run = await engine.getRun(owner, runId ?? call.input.runId)
    return show(call, run, seq)
  }

  async function hydrate({ request, reply, input }: Call, session: SessionRecord | null): Promise<void> {
    const { threadId, runId } = input
    const timestamp = clock.now()
    if (session !== null) reply.note({ session_id: session.id })
    const snapshot =
      session === null ? emptyThread(input, timestamp) : await sessionSnapshot(engine, session, timestamp)
    const { stream, encoder } = await openEventStream(request, reply, input.reader)
    const events = hydrationEvents({ threadId, runId, state: session?.state, snapshot, timestamp })
    await stream.write(encoder.events(events))?.catch(() => {})
    stream.end()
  }

  return async (request, reply, agent) => {
    const { owner } = request.principal
    engine.agent(agent)
    const onBusy = onBusyOf(request)
    const body = await request.json()
    const idempotency = idempotencyOf(request, body)
    const input = decodeRunAgentInput(body)
    const call = { request, reply, input }
    const session = await engine.findSession(owner, input.threadId)

    const lastEventId = request.header('last-event-id')
    if (lastEventId !== undefined) return resume(call, session, lastEventId)

    const taken = takeHistory(input, await knownHistory(engine, session, input))
    const warnings = [...input.warnings, ...taken.warnings]
    if (warnings.length > 0) request.log.warn('parts of an AG-UI input were left out', { warnings })

    const existing = session === null ? null : await engine.runByWireId(session.id, input.runId)
    // With a key the engine is asked all the same: it compares what was sent under that key before.
    if (existing !== null && idempotency === undefined) return show(call, existing, beforeFirst(existing))
    if (existing === null && taken.kind === 'hydrate') return hydrate(call, session)

    const { run } = await engine.start({
      owner,
      agent,
      session: session === null ? { create: { alias: input.threadId } } : { existing: session },
      wireRunId: input.runId,
      ...(input.parentRunId === undefined ? {} : { parentRunId: input.parentRunId }),
      input: taken.kind === 'run' ? taken.input : nothingNew(input),
      origin: 'reader',
      ...(onBusy === undefined ? {} : { onBusy }),
      ...(idempotency === undefined ? {} : { idempotency }),
    })
    return show(call, run, beforeFirst(run))
  }
}

interface Call {
  request: Request
  reply: Reply
  input: AgUiInput
}

async function knownHistory(engine: Engine, session: SessionRecord | null, input: AgUiInput): Promise<KnownHistory> {
  const ids = input.messages.map(({ id }) => id)
  const known = session === null || ids.length === 0 ? [] : await engine.knownMessages(session.id, ids)
  return {
    messages: new Map(known.map((message) => [message.id, message])),
    // No tool runs at the client yet, so no call waits for its result.
    openCalls: new Set(),
  }
}

// A client deletes what a snapshot omits, and of a thread that we do not know we can say nothing.
const emptyThread = ({ messages }: AgUiInput, timestamp: number): RunEvent | null =>
  messages.length === 0 ? { type: 'MESSAGES_SNAPSHOT', messages: [], timestamp } : null

const nothingNew = ({ threadId, shared }: AgUiInput): RunInput => ({
  messages: [],
  instructions: [],
  wireThreadId: threadId,
  ...shared,
})
