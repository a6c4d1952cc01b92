import { type Client, ClientError, createClient, type RecordView } from '../../../client/client.ts'
import { type Clock, sleep } from '../../../domain/clock.ts'
import { present } from '../../../domain/present.ts'
import { CliError, failure, unavailable } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { fetchProblem, noServerAt } from '../../server-url.ts'
import { terminalText } from '../../terminal/terminal-text.ts'
import {
  type ApprovalAnswer,
  type ChatEvent,
  decodeChatEvent,
  endsRun,
  fromApproval,
  type PendingApproval,
} from './chat-event.ts'
import type { ChatTarget, OperatorToken } from './chat-target.ts'

/** One conversation with a running server. Its methods throw `CliError` when the server refuses or cannot be reached. */
export interface ChatClient {
  readonly session: string
  /** Sends a message and yields what the run says, over all dropped connections. The last event is `finished` or `failed`. */
  send(message: string, signal: AbortSignal): AsyncGenerator<ChatEvent>
  /** The pending approvals of this conversation, the oldest first. */
  approvals(): Promise<PendingApproval[]>
  /** Whether the server would accept an answer from this user. */
  mayAnswer(approval: PendingApproval): boolean
  /** What the server says about an approval, for people. Null: this user may not read it, or it is gone. */
  view(approvalId: string, signal: AbortSignal): Promise<RecordView | null>
  /** Gives the answers, one after the other, and yields what the run then says, like `send`. */
  answer(answers: readonly ApprovalAnswer[], signal: AbortSignal): AsyncGenerator<ChatEvent>
  /**
   * Waits until somebody else answers what the conversation waits for, and yields what the run then says, like `send`. Ends without an
   * event if the server cannot tell.
   */
  answeredElsewhere(signal: AbortSignal): AsyncGenerator<ChatEvent>
  /** Stops the current run; it then ends with the outcome `cancelled`. */
  cancel(): Promise<void>
}

interface ChatClientOptions extends Pick<ChatTarget, 'url' | 'agent' | 'token'> {
  /** Name or id; one that does not exist yet begins with the first message. */
  session: string
  /** Used for answers alone. */
  operatorToken: Pick<OperatorToken, 'current' | 'refused'>
  clock: Clock
}

type Counted = Extract<ChatEvent, { type: 'counted' }>

/** How often in a row a broken stream is opened again. */
const RECONNECTS = 5
const MOST_APPROVALS = 100

export function createChatClient({ url, agent, session, token, operatorToken, clock }: ChatClientOptions): ChatClient {
  const base = url.replace(/\/+$/, '')
  const clientWith = (credential: string | null, retries: number): Client =>
    createClient({
      url: base,
      retries,
      sleep: (ms, signal) => sleep(clock, ms, signal),
      token: credential ?? undefined,
    })
  // Requests are sent once: the person at the terminal sees the failure and decides.
  const requests = clientWith(token, 0)
  const streams = clientWith(token, RECONNECTS)
  let runId: string | null = null
  /** Id of the last event that was shown. */
  let seenId: string | null = null
  /** Approvals that this person has said yes to and that need more yeses. */
  const given = new Set<string>()

  function refuse(error: unknown): never {
    throw cliErrorOf(error, base, HOW_TO_SET_TOKEN)
  }

  async function* watch(id: string, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    runId = id
    let broken = 'the stream ended early'
    try {
      for await (const one of streams.events({ run: id }, { signal })) {
        seenId = one.id ?? seenId
        const event = decodeChatEvent(one.event)
        if (event === null || event.type === 'started') continue
        yield withoutGiven(event)
        if (endsRun(event)) return
      }
    } catch (error) {
      if (!(error instanceof ClientError) || error.code !== 'unreachable') refuse(error)
      if (error.cause !== undefined) broken = fetchProblem(error.cause)
    }
    throw unavailable(`The connection to ${base} broke (${broken}).`, [
      `The answer goes on there and is kept: quarterdeck chat ${base} --session ${session}`,
    ])
  }

  const asOperator = (): Client => {
    const operator = operatorToken.current()
    return operator === null ? requests : clientWith(operator, 0)
  }

  /** Returns the run that goes on with the answer, or how many have said yes if that is not enough. */
  async function decide(answer: ApprovalAnswer, signal: AbortSignal): Promise<string | Counted | null> {
    const operator = operatorToken.current()
    const client = asOperator()
    const { id, digest, reason, arguments: edited, remember, result } = answer
    const shown = { approval_id: id, digest }
    try {
      const approve = () =>
        client.approve(
          shown,
          present({ signal, reason, arguments: edited, remember: remember ? ('session' as const) : undefined }),
        )
      const say = () => (result === undefined ? approve() : client.respond(shown, result, present({ signal, reason })))
      const decided = answer.approved ? await say() : await client.reject(shown, present({ signal, reason }))
      return decided.status === 'pending'
        ? counted(id, decided.decisions.length, decided.quorum)
        : decided.continuation_run_id
    } catch (error) {
      const { yeses, needed } = error instanceof ClientError ? (error.problem ?? {}) : {}
      if (typeof yeses === 'number' && typeof needed === 'number') return counted(id, yeses, needed)
      // Somebody else was faster: the person sees what came of that answer.
      if (error instanceof ClientError && error.code === 'approval_decided') {
        const { continuation_run_id } = await requests
          .approval(id, { signal })
          .catch(() => ({ continuation_run_id: null }))
        if (continuation_run_id !== null) return continuation_run_id
      }
      const status = error instanceof ClientError ? error.status : null
      if (operator !== null && (status === 401 || status === 403)) operatorToken.refused()
      throw cliErrorOf(error, base, operator === null ? HOW_TO_SET_TOKEN : HOW_TO_SET_OPERATOR_TOKEN)
    }
  }

  function counted(id: string, yeses: number, needed: number): Counted {
    given.add(id)
    return { type: 'counted', yeses, needed }
  }

  /** Nobody is asked again about what they have said yes to. */
  const withoutGiven = (event: ChatEvent): ChatEvent =>
    event.type === 'finished' && event.outcome === 'interrupt'
      ? { ...event, approvals: event.approvals.filter(({ id }) => !given.has(id)) }
      : event

  /** The next run of this conversation, whoever starts it. */
  async function* nextRun(after: string, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const waiting = runId
    let isNext = false
    for await (const one of streams.events({ session }, { after, signal })) {
      seenId = one.id ?? seenId
      const event = decodeChatEvent(one.event)
      if (event?.type === 'started' && event.runId !== waiting) {
        isNext = true
        if (event.runId !== '') runId = event.runId
      } else if (event !== null && isNext) {
        yield withoutGiven(event)
        if (endsRun(event)) return
      }
    }
  }

  return {
    session,
    async *send(message, signal) {
      const options = present({ signal, agent: agent ?? undefined })
      const { run_id } = await requests.send(session, message, options).catch(refuse)
      yield* watch(run_id, signal)
    },
    async approvals() {
      const found = await requests.approvals({ session, limit: MOST_APPROVALS }).catch((error: unknown) => {
        // A conversation without a message does not exist at the server yet.
        if (error instanceof ClientError && error.status === 404) return []
        refuse(error)
      })
      runId = found[0]?.run_id ?? runId
      const waiting = found.filter(({ approval_id: id }) => !given.has(id))
      return waiting.map(fromApproval).toReversed()
    },
    // Without a token the server does not know who is talking, and accepts no answer.
    mayAnswer: ({ answerableBy }) => operatorToken.current() !== null || (answerableBy === 'owner' && token !== null),
    async view(id, signal) {
      try {
        const { view } = await asOperator().approval(id, { signal })
        return view ?? null
      } catch (error) {
        // The run has said enough to ask.
        if (signal.aborted || error instanceof ClientError) return null
        throw error
      }
    },
    async *answer(answers, signal) {
      for (const [index, answer] of answers.entries()) {
        const next = await decide(answer, signal)
        if (next === null) {
          throw failure(`${base} accepted the answer but did not say which run continues.`)
        }
        if (typeof next !== 'string') {
          yield next
          if (index === answers.length - 1) yield { type: 'finished', outcome: 'interrupt', approvals: [] }
          continue
        }
        for await (const event of watch(next, signal)) {
          // This run waits for the answers that are sent next.
          const goesOn = event.type === 'finished' && event.outcome === 'interrupt' && index < answers.length - 1
          if (goesOn) break
          yield event
          if (endsRun(event)) return
        }
      }
    },
    async *answeredElsewhere(signal) {
      if (seenId === null) return
      try {
        yield* nextRun(seenId, signal)
      } catch (error) {
        // Only a convenience: the person at this terminal is asked anyway.
        if (!signal.aborted && !(error instanceof ClientError)) throw error
      }
    },
    async cancel() {
      if (runId === null) return
      await requests.cancel(runId).catch(refuse)
    },
  }
}

const HOW_TO_SET_TOKEN =
  'Set QUARTERDECK_TOKEN to a token of that server: the one shown at its first start, or one from quarterdeck tokens create.'
const HOW_TO_SET_OPERATOR_TOKEN =
  'Set QUARTERDECK_OPERATOR_TOKEN to the operator’s token of that server. If it is lost: quarterdeck tokens --help'

/** What the server, or the network, said. Anything else is passed on. */
function cliErrorOf(error: unknown, base: string, howToSetToken: string): unknown {
  if (!(error instanceof ClientError)) return error
  if (error.code === 'unreachable') return noServerAt(base, error.cause)
  const code = error.status === 503 ? exitCodes.unavailable.code : exitCodes.failed.code
  return new CliError(code, terminalText(error.message), error.status === 401 ? [howToSetToken] : [])
}
