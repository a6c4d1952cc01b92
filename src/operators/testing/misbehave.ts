import type { ServerResponse } from 'node:http'

/** How a service answers: it works, fails, never answers, answers this status, or asks to come later. */
export type Behaviour = 'works' | 'fails' | 'hangs' | number | { retryAfterMs: number }

/** Answers, unless the service works. */
export function misbehave(behaviour: Behaviour, response: ServerResponse): boolean {
  if (behaviour === 'works') return false
  if (behaviour === 'hangs') return true
  if (behaviour === 'fails') response.writeHead(500).end()
  else if (typeof behaviour === 'number') response.writeHead(behaviour).end()
  else response.writeHead(429, { 'retry-after': String(behaviour.retryAfterMs / 1_000) }).end()
  return true
}
