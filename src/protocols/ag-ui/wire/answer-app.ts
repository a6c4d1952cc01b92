// Requests of MCP Apps, in the form of `@ag-ui/mcp-apps-middleware`: a run input that names one request to an MCP server. The
// answer is a run that has only a result. Nothing of it is stored, and the messages of the input are ignored.

import { z } from 'zod'
import { noSuchApp, ServerError } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { AG_UI_VERSION } from '../../../domain/session/event.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import { openEventStream } from '../../shared/events/stream-events.ts'
import { starterOf } from '../../shared/request/caller.ts'
import { type AgUiInput, APP_REQUEST } from './decode-input.ts'
import type { InputCall, RunInputDeps } from './run-input.ts'

const RequestSchema = z.object({
  serverHash: z.string().max(300),
  method: z.string().max(100),
  params: z.unknown().optional(),
})

/** Throws `invalid_request`. */
function appRequestIn({ shared: { forwardedProps } }: AgUiInput): z.infer<typeof RequestSchema> {
  const read = RequestSchema.safeParse(isRecord(forwardedProps) ? forwardedProps[APP_REQUEST] : undefined)
  if (read.success) return read.data
  const detail = 'Send { "serverHash", "method", "params" }, with serverHash as it stands in the activity.'
  const problems = [{ pointer: `/forwardedProps/${APP_REQUEST}`, detail }]
  throw new ServerError('invalid_request', 'The request of the app cannot be read.', { problems })
}

export async function answerApp(
  { engine, clock }: Pick<RunInputDeps, 'engine' | 'clock'>,
  { request, reply, input }: InputCall,
  session: SessionRecord | null,
): Promise<void> {
  const { threadId, runId, reader: reads } = input
  const { serverHash: app, method, params } = appRequestIn(input)
  const asked = async (): Promise<unknown> => {
    if (session === null) throw noSuchApp(app)
    return engine.apps.request(session, { app, method, params, by: starterOf(request.principal) })
  }
  // The app is told of a failure in the result: an error of the run would be shown as one of the conversation.
  const result = await asked().catch((error: unknown) => {
    if (!(error instanceof ServerError)) throw error
    return { error: error.message }
  })
  const timestamp = clock.now()
  const { stream, encoder } = await openEventStream(request, reply, reads)
  const started = { type: 'RUN_STARTED' as const, threadId, runId, protocolVersion: AG_UI_VERSION, timestamp }
  const outcome = { type: 'success' as const }
  const finished = { type: 'RUN_FINISHED' as const, threadId, runId, result, outcome, timestamp }
  await stream.write(encoder.events([started, finished]))?.catch(() => {})
  stream.end()
}
