// AgentCore names a session in a header, AG-UI in the body. The header wins: the platform sets it, keeps a machine for it, and
// sends everything with it there, so it is what "the same session" means. The client still hears its own threadId.

import { ServerError } from '../../../domain/errors.ts'
import { isClientId } from '../../../domain/ids.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Request } from '../../../http/route.ts'
import { digestOf } from '../../shared/request/digest.ts'

export const SESSION_HEADER = 'X-Amzn-Bedrock-AgentCore-Runtime-Session-Id'

/** Undefined without the header. Throws `malformed_id`. */
export function runtimeSessionOf(request: Pick<Request, 'header'>): string | undefined {
  const id = request.header(SESSION_HEADER)
  if (id === undefined || isClientId(id)) return id
  const detail = 'Send 1 to 128 printable characters.'
  throw new ServerError('malformed_id', `The header ${SESSION_HEADER} names no session. ${detail}`, {
    problems: [{ pointer: SESSION_HEADER, detail }],
  })
}

/** The engine as one runtime session sees it: whatever thread is asked for is that session. */
export function withinSession(engine: Engine, session: string): Engine {
  return {
    ...engine,
    sessions: {
      ...engine.sessions,
      find: (owner) => engine.sessions.find(owner, session),
      refuseForeign: (owner) => engine.sessions.refuseForeign(owner, session),
    },
    runs: {
      ...engine.runs,
      start: ({ idempotency, ...request }) =>
        engine.runs.start({
          ...request,
          ...('create' in request.session ? { session: { create: { alias: session } } } : {}),
          // The same words to another session are another request.
          ...(idempotency === undefined
            ? {}
            : { idempotency: { ...idempotency, digest: digestOf([idempotency.digest, session]) } }),
        }),
    },
  }
}

/** The request with a threadId where its body has none: then the thread is called like the session. */
export function withThread(request: Request, session: string): Request {
  const { raw, method, path, params, query, principal, correlationId, log } = request
  return {
    raw,
    method,
    path,
    params,
    query,
    principal,
    correlationId,
    log,
    // Asked for late: the request makes it only for handlers that want it.
    get signal() {
      return request.signal
    },
    header: (name) => request.header(name),
    json: async (options) => named(await request.json(options), session),
    releaseBody: () => request.releaseBody(),
    multipart: (limits) => request.multipart(limits),
  }
}

function named(body: unknown, threadId: string): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  return 'threadId' in body && body.threadId != null ? body : { ...body, threadId }
}
