// GET /v1/responses/{id}: makes the response from its run.

import { isRecord } from '../../domain/is-record.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { Engine } from '../../engine/engine.ts'
import { clientCalls } from '../shared/answer/client-calls.ts'
import { readAnswer } from '../shared/answer/collect-answer.ts'
import { finalMessage } from './ending.ts'
import { type Asked, endedResponse, responseObject } from './response-object.ts'
import type { ResponseObject } from './response-schema.ts'
import { responseId } from './wire-ids.ts'

export async function retrieveResponse(engine: Engine, run: RunRecord): Promise<ResponseObject> {
  const asked = await askedOf(engine, run)
  // A run that continues after an approval belongs to this response. One that continues after the caller's tools is the next response.
  const answer = await readAnswer(engine, run, ({ approvalIds }) => approvalIds.length > 0)
  if (answer === null) return responseObject(run, asked, { ending: null, output: [] })
  return endedResponse(
    run,
    asked,
    asked.format === null ? answer : finalMessage(answer),
    await clientCalls(engine, run.owner, answer.clientCallIds),
  )
}

/** The request, as far as the run has stored it. */
async function askedOf(engine: Engine, run: RunRecord): Promise<Asked> {
  const { instructions, clientTools, responseFormat, forwardedProps } = run.input
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
    callerTools: { tools: clientTools, choice: 'auto', warnings: [] },
    format: responseFormat === undefined ? null : { name: 'answer', schema: responseFormat },
  }
}
