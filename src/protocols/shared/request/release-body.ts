import type { Request } from '../../../http/route.ts'

/** The lists of a body that can contain files, at any door. */
const LISTS = ['files', 'messages', 'input'] as const

/**
 * Call it when the files of a request are stored. Empties the decoded bodies and closes the temporary file. Otherwise a hundred megabytes
 * of base64 would stay in memory or on disk until the answer is complete, which can take minutes.
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
