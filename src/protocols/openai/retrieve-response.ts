// One response, made from its run: read, cancelled, deleted.

import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { Engine } from '../../engine/engine.ts'
import { clientCalls, readAnswer } from '../shared/answer/collect-answer.ts'
import { shownAnswer, shownText } from './ending.ts'
import { type Asked, endedResponse, responseObject } from './response-object.ts'
import type { ResponseObject } from './response-schema.ts'
import { responseId } from './wire-ids.ts'

export async function retrieveResponse(engine: Engine, run: RunRecord): Promise<ResponseObject> {
  const asked = await askedOf(engine, run)
  // A run that continues after an approval belongs to this response. One that continues after the caller's tools is the next response.
  const answer = await readAnswer(engine, run, ({ approvalIds }) => approvalIds.length > 0)
  if (answer === null) {
    const response = responseObject(run, asked, { ending: null, output: [] })
    return run.cancelRequested ? { ...response, status: 'cancelled' } : response
  }
  const shown = shownAnswer(answer, shownText(asked))
  const response = endedResponse(run, asked, shown, await clientCalls(engine, run.owner, answer.clientCallIds))
  return answer.outcome === 'cancelled' ? { ...response, status: 'cancelled', error: null } : response
}

/** The run, and those that continued it after a person's decision. What continues after the caller's tools is the next response. */
async function runsOf(engine: Engine, run: RunRecord): Promise<RunRecord[]> {
  const next = await engine.runs.continuation(run)
  return next?.origin !== 'answer' ? [run] : [run, ...(await runsOf(engine, next))]
}

/** Asks the run to stop. What has ended stays as it is. */
export async function cancelResponse(engine: Engine, run: RunRecord): Promise<ResponseObject> {
  const last = (await runsOf(engine, run)).at(-1) ?? run
  const cancelled = await engine.runs.cancel(last, run.owner)
  return retrieveResponse(engine, last.id === run.id ? cancelled : run)
}

/** Deletes the session of a response. Throws `conflict` if others belong to it: they would be gone too. */
export async function deleteResponse(engine: Engine, run: RunRecord): Promise<void> {
  const own = await runsOf(engine, run)
  const all = await engine.runs.list(run.sessionId, own.length + 1)
  if (all.length > own.length) {
    throw new ServerError(
      'conflict',
      `Other responses belong to the same conversation. Delete all of it with DELETE /sessions/${run.sessionId}.`,
    )
  }
  const session = await engine.sessions.find(run.owner, run.sessionId)
  if (session !== null) await engine.sessions.remove(session)
}

/** The request, as far as the run has stored it. */
async function askedOf(engine: Engine, run: RunRecord): Promise<Asked> {
  const { instructions, clientTools, mustCall, responseFormat, forwardedProps } = run.input
  const session = await engine.sessions.find(run.owner, run.sessionId)
  const props = isRecord(forwardedProps) ? forwardedProps : {}
  // A session without a name is continued only by naming a response.
  const [before] = session !== null && session.alias === null ? await engine.runs.list(run.sessionId, 1, run.id) : []
  return {
    instructions: instructions.length === 0 ? null : instructions.join('\n\n'),
    conversation: session?.alias ?? null,
    previousResponseId: before === undefined ? null : responseId(before.id),
    user: typeof props.user === 'string' ? props.user : null,
    metadata: isRecord(props.metadata) ? { ...props.metadata } : {},
    callerTools: { tools: clientTools, choice: mustCall ? 'required' : 'auto', warnings: [] },
    format: responseFormat === undefined ? null : { name: 'answer', schema: responseFormat },
  }
}
