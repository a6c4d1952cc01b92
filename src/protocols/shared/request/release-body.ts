import type { Request } from '../../../http/route.ts'

/** The lists of a body that can hold files, at any door. */
const LISTS = ['files', 'messages', 'input'] as const

/**
 * For a request whose files are kept by now, and what was made of its body. A request holds its body as long as it is answered, and
 * an answer can take minutes: a hundred megabytes of base64 must not wait for it, neither in memory nor on disk. What was decoded
 * from it before stays as it is.
 */
export function releaseBody(request: Pick<Request, 'releaseBody'>, bodies: readonly unknown[]): void {
  request.releaseBody()
  for (const body of bodies) empty(body)
}

function empty(body: unknown): void {
  if (typeof body !== 'object' || body === null) return
  for (const name of LISTS) {
    const list: unknown = Reflect.get(body, name)
    if (Array.isArray(list)) list.length = 0
  }
}
