import type { Request } from '../../../http/route.ts'

export interface Enclosed {
  path: string
  params: Readonly<Record<string, string>>
  body: unknown
}

/** The request that came inside another one's body, as if its own route had got it. */
export function enclosedRequest(outer: Request, { path, params, body }: Enclosed): Request {
  const { raw, method, query, principal, correlationId, log } = outer
  return {
    raw,
    method,
    path,
    params,
    query,
    principal,
    correlationId,
    log,
    // Asked for late: the outer request makes it only for handlers that want it.
    get signal() {
      return outer.signal
    },
    header: (name) => outer.header(name),
    json: async () => body,
    releaseBody: () => outer.releaseBody(),
    multipart: (limits) => outer.multipart(limits),
  }
}
