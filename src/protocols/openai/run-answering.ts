// What both POSTs do once they are decoded: start the run, or find the one to resume, and answer with it.

import type { Clock } from '../../domain/clock.ts'
import type { Ids } from '../../domain/ids.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Reply, Request } from '../../http/route.ts'
import { beforeFirst, isOver } from '../ag-ui-wire/stream-run.ts'
import { collectAnswer } from '../answer/collect-answer.ts'
import { resumedRun } from '../answer/resumed-run.ts'
import type { RunAnswer } from '../answer/run-answer.ts'
import { type AnswerEncoder, streamAnswer } from '../answer/stream-answer.ts'
import { idempotencyOf, onBusyOf } from '../request/start-headers.ts'
import { type Turn, takeTurns } from './turns.ts'

export interface OpenAiDeps {
  engine: Engine
  clock: Pick<Clock, 'now'>
  ids: Ids
}

export interface Ask {
  agent: string | null
  turns: readonly Turn[]
  /** The field of the request that holds them. */
  field: string
  /** The conversation; null: none is named, and what is said is in the request alone. */
  session: NamedSession | null
  /** For the agent's tools. */
  props: Record<string, unknown>
  stream: boolean
}

export interface NamedSession {
  /** As the request spelled it. */
  name: string
  /** Null: it begins now. */
  record: SessionRecord | null
}

/** How one of the two APIs shows a run. */
export interface AnswerForm {
  encoder(run: RunRecord): AnswerEncoder
  /** Throws what the run failed with. */
  whole(run: RunRecord, answer: RunAnswer): unknown
}

export type AnswerRun = (request: Request, reply: Reply, ask: Ask, form: AnswerForm) => Promise<void>

export function createRunAnswering(deps: OpenAiDeps): AnswerRun {
  const { engine, ids } = deps

  async function start(request: Request, ask: Ask): Promise<RunRecord> {
    const { owner } = request.principal
    const { session, props } = ask
    const agent = engine.agent(ask.agent ?? session?.record?.agent ?? null)
    const onBusy = onBusyOf(request)
    // The conversation may be named by a header, so that the body alone does not say what was asked.
    const idempotency = idempotencyOf(request, [await request.json(), session?.name ?? null])
    const { messages, instructions } = takeTurns(
      ask.turns,
      { continues: session !== null, maxMessages: agent.context.maxMessages, field: ask.field },
      ids,
    )
    const { run } = await engine.start({
      owner,
      agent: agent.name,
      session:
        session === null
          ? { create: { unlisted: true } }
          : session.record === null
            ? { create: { alias: session.name } }
            : { existing: session.record },
      input: {
        messages,
        instructions,
        context: [],
        clientTools: [],
        ...(Object.keys(props).length === 0 ? {} : { forwardedProps: props }),
        ...(session === null ? {} : { wireThreadId: session.name }),
      },
      origin: 'reader',
      ...(onBusy === undefined ? {} : { onBusy }),
      ...(idempotency === undefined ? {} : { idempotency }),
    })
    return run
  }

  return async (request, reply, ask, form) => {
    const lastEventId = request.header('last-event-id')
    const resumed = lastEventId === undefined ? null : await resumedRun(engine, request.principal.owner, lastEventId)
    const run = resumed?.run ?? (await start(request, ask))
    reply.note({ session_id: run.sessionId, run_id: run.id })
    // OpenAI's client repeats a request by itself when it fails. The message is stored and the model was asked more than
    // once already, so that would only say it again.
    reply.raw.setHeader('X-Should-Retry', 'false')
    if (!ask.stream) {
      const answer = await collectAnswer(engine, { run }, request.signal)
      return reply.json(200, form.whole(run, answer))
    }
    const after = resumed?.after ?? beforeFirst(run)
    // An empty 200 would look like a stream that broke off.
    if (isOver(run, after)) return reply.empty(204)
    const { signal, log } = request
    const stream = reply.sse()
    await streamAnswer(deps, run, after, { stream, signal, log }, form.encoder(run))
    stream.end()
  }
}
