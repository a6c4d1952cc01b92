import type { ConnectionPool } from '../connections.ts'
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
  /** The handlers that were called, in order. */
  calls: string[]
  received(): number
  outcome: Promise<Outcome>
}

/** Sends a GET, or what `request` says, and collects the answer. `on` is called with the name of every handler that is called. */
export function ask(
  pool: ConnectionPool,
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
    pool,
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

/** Resolves when `check` holds. Use it for what a real socket will do by itself. */
export async function until(check: () => boolean): Promise<void> {
  while (!check()) await turn()
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Long enough for everything that is on its way between two sockets of this process. */
export async function turns(count = 30): Promise<void> {
  for (let i = 0; i < count; i += 1) await turn()
}
