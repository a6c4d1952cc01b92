import { type Clock, sleep } from '../../../domain/clock.ts'
import type { Ids } from '../../../domain/ids.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { fetchProblem, noServerAt } from '../../fetch-problem.ts'
import type { OperatorToken } from '../../operator-token.ts'
import { terminalText } from '../../terminal/terminal-text.ts'
import { type ApprovalAnswer, fields, fromApproval, type PendingApproval } from './approval.ts'
import { type ChatEvent, decodeChatEvent, endsRun } from './chat-event.ts'
import { readSse } from './sse-reader.ts'

/** One conversation with a running server, over AG-UI; where that door is closed, over the routes of sessions and runs, which have none. */
export interface ChatClient {
  readonly threadId: string
  /**
   * Sends a message and yields what the run says; the last event is `finished` or `failed`. A connection that breaks is
   * taken up again where it stopped. Throws `CliError` when the server refuses or cannot be reached.
   */
  send(message: string, signal: AbortSignal): AsyncGenerator<ChatEvent>
  /** What this conversation waits for, the oldest first. */
  approvals(): Promise<PendingApproval[]>
  /** Whether an answer from here would count. */
  mayAnswer(approval: PendingApproval): boolean
  /** Gives answers to what the conversation waits for and yields how it goes on, like `send`. */
  answer(answers: readonly ApprovalAnswer[], signal: AbortSignal): AsyncGenerator<ChatEvent>
  /**
   * Waits until somebody else has answered what the conversation waits for, and yields how it goes on, like `send`. Ends without an
   * event where the server cannot tell.
   */
  answeredElsewhere(signal: AbortSignal): AsyncGenerator<ChatEvent>
  /** Stops the run that is being shown; it then ends with the outcome `cancelled`. */
  cancel(): Promise<void>
}

export interface ChatClientOptions {
  baseUrl: string
  /** Null: the server's default agent. */
  agent: string | null
  threadId: string
  token: string | null
  /** Used for answers alone. */
  operatorToken: Pick<OperatorToken, 'current' | 'refused'>
  ids: Ids
  clock: Clock
  fetch: typeof fetch
}

const RECONNECTS = 5
const MOST_APPROVALS = 100

type Sent = RequestInit & { headers: Record<string, string> }

export function createChatClient(options: ChatClientOptions): ChatClient {
  const { threadId, ids, clock } = options
  const base = options.baseUrl.replace(/\/+$/, '')
  const answering = () => options.operatorToken.current() ?? options.token
  let runId: string | null = null
  /** As the server has said. */
  let isAgUiClosed = false
  /** Of the last event that was seen of the conversation. */
  let seenId: string | null = null

  const mendOf = (token: string | null): string =>
    token !== null && token === options.operatorToken.current()
      ? 'Set QUARTERDECK_OPERATOR_TOKEN to the operator’s token of that server. A lost one: quarterdeck tokens --help'
      : 'Set QUARTERDECK_TOKEN to a token of that server: the one shown at its first start, or one of quarterdeck tokens create.'

  async function reach(path: string, init: Sent, token = options.token): Promise<Response> {
    const authorization: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
    try {
      return await options.fetch(`${base}${path}`, { ...init, headers: { ...authorization, ...init.headers } })
    } catch (error) {
      if (init.signal?.aborted) throw error
      throw noServerAt(base, error)
    }
  }

  async function request(path: string, init: Sent, token = options.token): Promise<Response> {
    const response = await reach(path, init, token)
    if (response.ok) return response
    const failure = await refusal(response, mendOf(token))
    if ([401, 403].includes(response.status) && token === options.operatorToken.current())
      options.operatorToken.refused()
    throw failure
  }

  const post = (path: string, body: unknown, signal?: AbortSignal, token = options.token): Promise<Response> =>
    request(
      path,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      },
      token,
    )

  const eventsOf = (id: string, lastId: string | null, signal: AbortSignal): Promise<Response> =>
    request(`/runs/${encodeURIComponent(id)}/events`, {
      headers: { accept: 'text/event-stream', ...(lastId === null ? {} : { 'last-event-id': lastId }) },
      signal,
    })

  /** A message as sessions take it, and the stream of its run. */
  async function beginInSession(message: string, signal: AbortSignal): Promise<Response> {
    const body = { message, ...(options.agent === null ? {} : { agent: options.agent }) }
    const accepted = await post(`/sessions/${encodeURIComponent(threadId)}/messages`, body, signal)
    const { run_id: id } = fields(await accepted.json())
    if (typeof id !== 'string') {
      throw new CliError(exitCodes.failed.code, `${base} took the message and does not say what answers it.`)
    }
    runId = id
    return await eventsOf(id, null, signal)
  }

  /** A run as AG-UI takes it, and its stream. */
  function begin(input: Record<string, unknown>, signal: AbortSignal, token = options.token): Promise<Response> {
    runId = ids.uuid()
    const door = options.agent === null ? '/' : `/agents/${encodeURIComponent(options.agent)}`
    return post(door, { threadId, runId, protocolVersion: '1.0', ...input }, signal, token)
  }

  /** Yields the events of a run, which `first` begins, to its end. */
  async function* watch(first: Response, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    let response = first
    let lastId: string | null = null
    for (let attempt = 0; ; attempt += 1) {
      let broken: unknown = 'the stream ended early'
      try {
        for await (const sse of readSse(bodyOf(response))) {
          lastId = sse.id
          seenId = sse.id ?? seenId
          attempt = 0
          const event = decodeChatEvent(sse.data)
          if (event === null) continue
          if (event.type === 'started') {
            // An answer that somebody else gave first shows what that one has started.
            if (event.runId !== '') runId = event.runId
            continue
          }
          yield event
          if (endsRun(event)) return
        }
      } catch (error) {
        if (signal.aborted) throw error
        broken = error
      }
      if (attempt === RECONNECTS || runId === null) {
        throw new CliError(exitCodes.unavailable.code, `The connection to ${base} broke (${fetchProblem(broken)}).`, [
          `The answer goes on there and is kept: quarterdeck chat ${base} --session ${threadId}`,
        ])
      }
      await sleep(clock, 250 * 2 ** attempt, signal)
      const resumed = await eventsOf(runId, lastId, signal).catch((error: unknown) => {
        if (error instanceof CliError && error.exitCode === exitCodes.unavailable.code) return null
        throw error
      })
      if (resumed !== null) response = resumed
    }
  }

  /** The run that begins next in this conversation, whoever has begun it. */
  async function* nextRun(signal: AbortSignal): AsyncGenerator<ChatEvent> {
    if (seenId === null) return
    const waiting = runId
    const headers = { accept: 'text/event-stream', 'last-event-id': seenId }
    const response = await request(`/sessions/${encodeURIComponent(threadId)}/events`, { headers, signal })
    let isNext = false
    for await (const sse of readSse(bodyOf(response))) {
      seenId = sse.id ?? seenId
      const event = decodeChatEvent(sse.data)
      if (event?.type === 'started' && event.runId !== waiting) {
        isNext = true
        if (event.runId !== '') runId = event.runId
      } else if (event !== null && isNext) {
        yield event
        if (endsRun(event)) return
      }
    }
  }

  /** Through AG-UI an operator answers in their own conversations alone; the server passes over what is somebody else's. */
  async function answersInTalk(): Promise<boolean> {
    if (isAgUiClosed) return false
    if (answering() === options.token) return true
    if (runId === null) return false
    const response = await reach(`/runs/${encodeURIComponent(runId)}`, { headers: {} }, answering())
    await response.body?.cancel()
    return response.ok
  }

  const resume = (answers: readonly ApprovalAnswer[], signal: AbortSignal): Promise<Response> => {
    const entries = answers.map(({ id, digest, approved, reason, arguments: editedArgs }) => ({
      interruptId: id,
      status: 'resolved',
      payload: {
        approved,
        ...shownDigest(digest),
        ...(reason === undefined ? {} : { reason }),
        ...(editedArgs && { editedArgs }),
      },
    }))
    return begin({ messages: [], resume: entries }, signal, answering())
  }

  async function decide(answer: ApprovalAnswer, signal: AbortSignal): Promise<Response> {
    const { id, digest, approved, reason, arguments: edited, remember } = answer
    const decision = {
      decision: approved ? 'approve' : 'reject',
      ...shownDigest(digest),
      ...(reason === undefined ? {} : { reason }),
      ...(edited === undefined ? {} : { arguments: edited }),
      ...(remember === true ? { remember: 'session' } : {}),
    }
    const response = await post(`/approvals/${encodeURIComponent(id)}`, decision, signal, answering())
    const { continuation_run_id: next } = fields(await response.json())
    if (typeof next !== 'string') {
      throw new CliError(exitCodes.failed.code, `${base} took the answer and does not say how it goes on.`)
    }
    runId = next
    return await eventsOf(next, null, signal)
  }

  async function* give(answers: readonly ApprovalAnswer[], signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const inTalk = await answersInTalk()
    // AG-UI has no word for what is to be remembered.
    const alone = answers.filter(({ remember }) => remember === true || !inTalk)
    const together = answers.filter((one) => !alone.includes(one))
    const requests = alone.map((one) => () => decide(one, signal))
    if (together.length > 0) requests.push(() => resume(together, signal))
    for (const [index, send] of requests.entries()) {
      const first = await send().catch((error: unknown) => {
        if (!(error instanceof DoorClosed)) throw error
        isAgUiClosed = true
        return null
      })
      if (first === null) return yield* give(together, signal)
      for await (const event of watch(first, signal)) {
        // It still waits for those that are sent next.
        const goesOn = event.type === 'finished' && event.outcome === 'interrupt' && index < requests.length - 1
        if (goesOn) break
        yield event
        if (endsRun(event)) return
      }
    }
  }

  return {
    threadId,
    async *send(message, signal) {
      const messages = [{ id: ids.uuid(), role: 'user', content: message }]
      const first = isAgUiClosed
        ? await beginInSession(message, signal)
        : await begin({ messages }, signal).catch((error: unknown) => {
            if (!(error instanceof DoorClosed)) throw error
            isAgUiClosed = true
            return beginInSession(message, signal)
          })
      yield* watch(first, signal)
    },
    async approvals() {
      const query = new URLSearchParams({ session_id: threadId, limit: String(MOST_APPROVALS) })
      const response = await reach(`/approvals?${query}`, { headers: {} })
      // Nothing has been said in it yet.
      if (response.status === 404) return []
      if (!response.ok) throw await refusal(response, mendOf(options.token))
      const { approvals } = fields(await response.json())
      const found = Array.isArray(approvals) ? approvals : []
      const { run_id: waiting } = fields(found[0])
      if (typeof waiting === 'string') runId = waiting
      return found.flatMap((one) => fromApproval(one) ?? []).toReversed()
    },
    // Without a token the server does not know who talks, and takes no answer.
    mayAnswer: ({ answerableBy }) =>
      options.operatorToken.current() !== null || (answerableBy === 'owner' && options.token !== null),
    answer: give,
    async *answeredElsewhere(signal) {
      try {
        yield* nextRun(signal)
      } catch (error) {
        // It is a convenience: the person at this terminal is asked anyway.
        if (!signal.aborted && !(error instanceof CliError || error instanceof TypeError)) throw error
      }
    },
    async cancel() {
      if (runId !== null) await post(`/runs/${encodeURIComponent(runId)}/cancel`, {})
    },
  }
}

/** The server does not speak this protocol. */
class DoorClosed extends CliError {}

/** An older server gave none. */
const shownDigest = (digest: string) => (digest === '' ? {} : { digest })

async function* bodyOf(response: Response): AsyncGenerator<Uint8Array> {
  // A response that has been read to its end once gives nothing a second time.
  if (response.body !== null && !response.bodyUsed) yield* response.body
}

/** The server's own explanation, whatever shape it came in. */
async function refusal(response: Response, tokenMend: string): Promise<CliError> {
  const text = await response.text().catch(() => '')
  let detail = ''
  try {
    const problem: unknown = JSON.parse(text)
    if (typeof problem === 'object' && problem !== null && 'detail' in problem) detail = String(problem.detail)
    if (fields(problem).code === 'door_closed') return new DoorClosed(exitCodes.failed.code, terminalText(detail))
  } catch {
    // Not one of our servers; its status has to do.
  }
  const mend = response.status === 401 ? [tokenMend] : []
  const code = response.status === 503 ? exitCodes.unavailable.code : exitCodes.failed.code
  return new CliError(code, terminalText(detail) || `The server answered ${response.status}.`, mend)
}
