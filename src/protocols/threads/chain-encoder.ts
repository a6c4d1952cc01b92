// The encoder of a thread with the lookups that it needs, for streams and for whole answers.

import { ServerError } from '../../domain/errors.ts'
import type { ClientCall } from '../../domain/records/record.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { type RunAnswer, waitsFor } from '../../domain/session/run-answer.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { Engine } from '../../engine/engine.ts'
import { ClientGone } from '../../http/client-gone.ts'
import type { Request } from '../../http/route.ts'
import { clientCallsOf } from '../shared/answer/client-calls.ts'
import { encodeEntry, prepareEncoder } from '../shared/answer/stream-answer.ts'
import { createThreadEncoder, type ThreadEncoder } from './encode.ts'
import { type ChainDeps, followChain, startOfChain } from './follow-chain.ts'

/** How many messages are searched for results of client tools. */
const LOOK_BACK = 1_000

export function createChainEncoder(
  engine: Pick<Engine, 'waits' | 'messages'>,
  session: SessionRecord,
  first: RunRecord,
): ThreadEncoder {
  const encoder = createThreadEncoder(session, first)
  return {
    ...encoder,
    async beforeEnd(terminal) {
      const calls = await clientCallsOf(engine, first.owner, terminal)
      encoder.takeCalls(calls)
      if (calls.length > 0) return
      if (waitsFor(terminal).approvalIds.length > 0) {
        // The end of a run that waits for an approval does not list the calls of client tools.
        const open = await engine.waits.openClientCalls(session.id)
        encoder.takeCalls(open.filter(({ createdAt }) => createdAt <= (terminal.timestamp ?? 0)))
      }
      if (encoder.clientCalls.size === 0) return
      const messages = await engine.messages.page(session.id, LOOK_BACK)
      encoder.takeResults(messages.filter(({ toolCallId }) => encoder.clientCalls.has(toolCallId ?? '')))
    },
  }
}

interface CollectedChain {
  answer: RunAnswer
  /** The client's id of the last run. */
  runId: string
  endedAt: number
  /** The calls that the client must run before the chain goes on. */
  open: ClientCall[]
}

/**
 * Waits for the end of the chain that this run began, or for calls that the client has not answered: without a stream it learns of
 * them only by the answer. Throws like `collectAnswer`.
 */
export async function collectChain(
  deps: ChainDeps,
  session: SessionRecord,
  first: RunRecord,
  { signal, log }: Pick<Request, 'signal' | 'log'>,
): Promise<CollectedChain> {
  const encoder = createChainEncoder(deps.engine, session, first)
  let end = { runId: first.wireId, endedAt: 0 }
  const collecting: ThreadEncoder = {
    ...encoder,
    encode(event) {
      if (event.type === 'RUN_STARTED') end = { ...end, runId: event.runId }
      end = { ...end, endedAt: event.timestamp ?? end.endedAt }
      return encoder.encode(event)
    },
  }
  for await (const batch of followChain(deps, startOfChain(first), signal, log)) {
    await prepareEncoder(collecting, batch)
    for (const entry of batch) encodeEntry(collecting, entry)
    const answer = encoder.answer()
    if (answer?.outcome !== 'waiting') continue
    const pending = await deps.engine.waits.openClientCalls(session.id)
    const open = pending.filter(({ callId }) => encoder.clientCalls.has(callId))
    // Otherwise the client has answered meanwhile: this is a repeated request.
    if (open.length > 0) return { answer, ...end, open }
  }
  if (signal.aborted) throw new ClientGone()
  const answer = encoder.answer()
  if (answer !== null) return { answer, ...end, open: [] }
  const { id } = await deps.engine.runs.get(first.owner, first.id)
  throw new ServerError(
    'shutting_down',
    `The server is stopping. The run continues after its restart: read GET /runs/${id}/events.`,
    { details: { session_id: first.sessionId, run_id: id, retry_after_seconds: 5 } },
  )
}
