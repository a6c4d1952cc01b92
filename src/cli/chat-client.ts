import { type Clock, sleep } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import { type ChatEvent, decodeChatEvent, endsRun } from './chat-event.ts'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import { readSse } from './sse-reader.ts'
import { terminalText } from './terminal-text.ts'

/** One conversation with a running server, over AG-UI. */
export interface ChatClient {
  readonly threadId: string
  /**
   * Sends a message and yields what the run says; the last event is `finished` or `failed`. A connection that breaks is
   * taken up again where it stopped. Throws `CliError` when the server refuses or cannot be reached.
   */
  send(message: string, signal: AbortSignal): AsyncGenerator<ChatEvent>
  /** Stops the run that `send` is showing; it then ends with the outcome `cancelled`. */
  cancel(): Promise<void>
}

export interface ChatClientOptions {
  baseUrl: string
  /** Null: the server's default agent. */
  agent: string | null
  threadId: string
  token: string | null
  ids: Ids
  clock: Clock
  fetch: typeof fetch
}

const RECONNECTS = 5

export function createChatClient(options: ChatClientOptions): ChatClient {
  const { threadId, ids, clock } = options
  const base = options.baseUrl.replace(/\/+$/, '')
  const authorization: Record<string, string> =
    options.token === null ? {} : { authorization: `Bearer ${options.token}` }
  let runId: string | null = null

  async function request(path: string, init: RequestInit & { headers: Record<string, string> }): Promise<Response> {
    let response: Response
    try {
      response = await options.fetch(`${base}${path}`, { ...init, headers: { ...authorization, ...init.headers } })
    } catch (error) {
      if (init.signal?.aborted) throw error
      throw new CliError(exitCodes.unavailable.code, `No server answers at ${base} (${reasonOf(error)}).`, [
        'Start one: quarterdeck serve',
      ])
    }
    if (!response.ok) throw await refusal(response)
    return response
  }

  const post = (path: string, body: unknown, signal?: AbortSignal): Promise<Response> =>
    request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    })

  return {
    threadId,
    async *send(message, signal) {
      const id = ids.uuid()
      runId = id
      let response = await post(
        options.agent === null ? '/' : `/agents/${encodeURIComponent(options.agent)}`,
        {
          threadId,
          runId: id,
          protocolVersion: '1.0',
          messages: [{ id: ids.uuid(), role: 'user', content: message }],
        },
        signal,
      )
      let lastId: string | null = null
      for (let attempt = 0; ; attempt += 1) {
        let broken: unknown = 'the stream ended early'
        try {
          for await (const sse of readSse(bodyOf(response))) {
            lastId = sse.id
            attempt = 0
            const event = decodeChatEvent(sse.data)
            if (event === null) continue
            yield event
            if (endsRun(event)) return
          }
        } catch (error) {
          if (signal.aborted) throw error
          broken = error
        }
        if (attempt === RECONNECTS) {
          throw new CliError(exitCodes.unavailable.code, `The connection to ${base} broke (${reasonOf(broken)}).`, [
            `The answer goes on there and is kept: quarterdeck chat ${base} --session ${threadId}`,
          ])
        }
        await sleep(clock, 250 * 2 ** attempt, signal)
        const resumed: Response | null = await request(`/runs/${id}/events`, {
          headers: { accept: 'text/event-stream', ...(lastId === null ? {} : { 'last-event-id': lastId }) },
          signal,
        }).catch((error: unknown) => {
          if (error instanceof CliError && error.exitCode === exitCodes.unavailable.code) return null
          throw error
        })
        if (resumed !== null) response = resumed
      }
    },
    async cancel() {
      if (runId !== null) await post(`/runs/${runId}/cancel`, {})
    },
  }
}

async function* bodyOf(response: Response): AsyncGenerator<Uint8Array> {
  // A response that has been read to its end once gives nothing a second time.
  if (response.body !== null && !response.bodyUsed) yield* response.body
}

/** The server's own explanation, whatever shape it came in. */
async function refusal(response: Response): Promise<CliError> {
  const text = await response.text().catch(() => '')
  let detail = ''
  try {
    const problem: unknown = JSON.parse(text)
    if (typeof problem === 'object' && problem !== null && 'detail' in problem) detail = String(problem.detail)
  } catch {
    // Not one of our servers; its status has to do.
  }
  const mend =
    response.status === 401 ? ['Set QUARTERDECK_TOKEN to the token that the server printed at its start.'] : []
  const code = response.status === 503 ? exitCodes.unavailable.code : exitCodes.failed.code
  return new CliError(code, terminalText(detail) || `The server answered ${response.status}.`, mend)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message
  return error.message
}
