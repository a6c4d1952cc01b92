// How a run ends, on the wire and in the store: completed, stopped, or waiting for answers.

import { isoTime } from '../../domain/clock.ts'
import { present } from '../../domain/present.ts'
import type { Approval } from '../../domain/records/record.ts'
import type { Interrupt, RunEventOf, TerminalEvent, TokenUsage } from '../../domain/session/event.ts'
import type { StoredMessage } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { CUT_BY_LENGTH } from '../../domain/session/run-answer.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import { askedRecord } from '../../domain/supervision/approval-audit.ts'
import { gatheredYeses } from '../../domain/supervision/quorum.ts'
import { unreachable } from '../../domain/unreachable.ts'
import type { Answer } from '../loop/model-step.ts'
import type { EndingStop, Pending } from './run-scope.ts'
import type { RunEnd } from './run-writer.ts'

export const threadIdOf = (run: RunRecord, session: SessionRecord): string =>
  run.input.wireThreadId ?? session.alias ?? session.id

/** What ends, with all that it used, and when. */
interface Ending {
  run: RunRecord
  session: SessionRecord
  usage: TokenUsage[]
  timestamp: number
}

type RunOutcome = NonNullable<RunEventOf<'RUN_FINISHED'>['outcome']>

/** An event names the usage only if there is some. */
const shown = (usage: TokenUsage[]) => (usage.length === 0 ? {} : { usage })

const finished = (
  { run, session, usage, timestamp }: Ending,
  outcome: RunOutcome,
  metadata?: Record<string, unknown>,
): TerminalEvent => ({
  type: 'RUN_FINISHED',
  threadId: threadIdOf(run, session),
  runId: run.wireId,
  outcome,
  ...shown(usage),
  ...present({ metadata }),
  timestamp,
})

export function completedEnd(ending: Ending, { messages, finish }: Pick<Answer, 'messages' | 'finish'>): RunEnd {
  // AG-UI has no word for it, but the OpenAI doors do.
  const terminal = finished(ending, { type: 'success' }, finish === 'length' ? CUT_BY_LENGTH : undefined)
  return { status: 'completed', terminal, messages, usage: ending.usage, error: null }
}

/** The end of a run that was stopped or failed. */
export function stoppedEnd(stop: EndingStop, ending: Ending, messages: StoredMessage[]): RunEnd {
  const { usage, timestamp } = ending
  switch (stop.kind) {
    case 'cancelled': {
      const terminal = finished(ending, { type: 'cancelled' })
      return { status: 'cancelled', terminal, messages, usage, error: null }
    }
    case 'failed': {
      const { code, message, isFinal } = stop
      const status = code === 'interrupted' || code === 'needs_review' ? 'interrupted' : 'failed'
      return {
        status,
        terminal: { type: 'RUN_ERROR', message, code, ...shown(usage), timestamp },
        messages,
        usage,
        error: { code, message, isFinal },
      }
    }
    default:
      return unreachable(stop)
  }
}

/** The end of a run that has to wait: on the wire it is over, in the store it waits for its answers. */
export function waitingEnd(ending: Ending, pending: readonly Pending[]): RunEnd {
  const interrupts = pending.flatMap(({ wait, subagentRunId }) =>
    wait.wait === 'approval' ? [interruptOf(wait, subagentRunId)] : [],
  )
  const pendingToolCallIds = pending.map(({ wait }) => wait.callId)
  const outcome: RunOutcome =
    interrupts.length > 0 ? { type: 'interrupt', interrupts } : { type: 'success', pendingToolCallIds }
  const isNew = pending.filter((one) => one.isNew).map(({ wait }) => wait)
  return {
    status: 'waiting',
    terminal: finished(ending, outcome),
    messages: [],
    usage: ending.usage,
    error: null,
    audit: isNew.flatMap((wait) => (wait.wait === 'approval' ? [askedRecord(wait)] : [])),
    waiting: {
      waits: isNew,
      stillPending: pending.filter((one) => !one.isNew).map(({ wait }) => wait.id),
    },
  }
}

/** What a client may send back as the payload of its answer to a call. For a question, it is the schema of the question. */
const responseSchema = {
  type: 'object',
  properties: {
    approved: { type: 'boolean', description: 'Whether the call may run.' },
    reason: { type: 'string', description: 'Why the call may not run. The model is told.' },
    editedArgs: { type: 'object', description: 'Replaces all arguments of the call.' },
    result: { description: "A result in the tool's place, of any type. The tool does not run." },
    digest: { type: 'string', description: 'Digest of the call that was shown: `metadata.quarterdeck.digest`.' },
  },
  required: ['approved'],
}

/** How many people have to say yes, and who has, if one is not enough. */
function quorumOf(wait: Approval) {
  const gathered = gatheredYeses(wait)
  if (gathered === null) return {}
  const { needed, yeses } = gathered
  return { quorum: needed, decisions: yeses.map(({ by, via, at }) => ({ by, at: isoTime(at), channel: via })) }
}

export function interruptOf(wait: Approval, subagentRunId: string | null): Interrupt {
  const { question } = wait
  return {
    id: wait.id,
    reason: question === undefined ? 'tool_call' : 'input_required',
    message: wait.description === '' ? wait.title : `${wait.title}\n${wait.description}`,
    toolCallId: wait.callId,
    responseSchema: question === undefined ? responseSchema : { ...question.schema },
    ...present({
      expiresAt: wait.expiresAt === null ? undefined : isoTime(wait.expiresAt),
      subagentRunId: subagentRunId ?? undefined,
    }),
    metadata: {
      quarterdeck: {
        tool: wait.tool,
        arguments: JSON.parse(wait.arguments),
        risk: wait.risk,
        answerableBy: wait.answerableBy,
        digest: wait.digest,
        action: wait.action ?? undefined,
        preview: wait.preview,
        ...quorumOf(wait),
      },
    },
  }
}
