import type { Lines } from '../connections.ts'
import { type ExchangeRequest, exchange, type Flow } from '../exchange.ts'

export interface Outcome {
  status?: number
  headers?: Record<string, unknown>
  body?: string
  /** The code of the failure, or its message when it has none. */
  failure?: string
}

export interface Asked {
  exchange: Flow
  /** What was called, in this order. */
  calls: string[]
  received(): number
  outcome: Promise<Outcome>
}

/** Sends a GET, or what `request` says, and gathers what comes back. `on` is called for every call, with its name. */
export function ask(
  lines: Lines,
  url: string,
  request: Partial<ExchangeRequest> = {},
  on: (call: string, exchange: Flow) => void = () => {},
): Asked {
  const calls: string[] = []
  const parts: Buffer[] = []
  const outcome: Outcome = {}
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  let size = 0
  const note = (call: string) => {
    calls.push(call)
    on(call, asked)
  }
  const asked: Flow = exchange(
    lines,
    { method: 'GET', headers: {}, ...request, url: new URL(url) },
    {
      head({ status, headers }) {
        Object.assign(outcome, { status, headers: { ...headers } })
        note('head')
      },
      body(bytes) {
        size += bytes.length
        parts.push(Buffer.from(bytes))
        note('body')
      },
      end() {
        outcome.body = Buffer.concat(parts).toString()
        note('end')
        resolve(outcome)
      },
      failed(error) {
        outcome.failure = error.code ?? error.message
        note('failed')
        resolve(outcome)
      },
    },
  )
  return { exchange: asked, calls, received: () => size, outcome: promise }
}

/** Resolves when `check` holds; what it waits for happens by itself on a real socket. */
export async function until(check: () => boolean): Promise<void> {
  while (!check()) await turn()
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Long enough for whatever is on its way between two sockets of this process. */
export async function turns(count = 30): Promise<void> {
  for (let i = 0; i < count; i += 1) await turn()
}
