// AgentCore names the session in a header, AG-UI in the body. The header wins: the platform sets it and sends every request with it
// to the same machine. The events still carry the client's own threadId.

import { ServerError } from '../../../domain/errors.ts'
import { isClientId } from '../../../domain/ids.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type { Request } from '../../../http/route.ts'
import { jsonWithFiles } from '../../shared/request/body-with-files.ts'
import { askedBy } from '../../shared/request/start-headers.ts'
import { decodeRunAgentInput } from '../wire/decode-input.ts'
import type { InputCall } from '../wire/run-input.ts'

export const SESSION_HEADER = 'X-Amzn-Bedrock-AgentCore-Runtime-Session-Id'

/** Throws `malformed_id` for a header that cannot name a session, and what `decodeRunAgentInput` throws. */
export async function decodeInvocation(
  request: Request,
): Promise<Pick<InputCall, 'input' | 'sessionName' | 'asked' | 'body'>> {
  const session = runtimeSessionOf(request)
  const sent = await jsonWithFiles(request)
  const body = session === undefined ? sent : withThreadId(sent, session)
  // The same words to another session are another request.
  const asked = askedBy(request, [body, session ?? null])
  const input = decodeRunAgentInput(body)
  return { input, sessionName: session ?? input.threadId, asked, body }
}

/** Undefined without the header. */
function runtimeSessionOf(request: Pick<Request, 'header'>): string | undefined {
  const id = request.header(SESSION_HEADER)
  if (id === undefined || isClientId(id)) return id
  const detail = 'Send 1 to 128 printable characters.'
  throw new ServerError('malformed_id', `The header ${SESSION_HEADER} does not name a session. ${detail}`, {
    problems: [{ pointer: SESSION_HEADER, detail }],
  })
}

/** A body without a threadId gets the id of the session. */
const withThreadId = (body: unknown, threadId: string): unknown =>
  isRecord(body) && body.threadId == null ? { ...body, threadId } : body
