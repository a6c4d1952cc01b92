import type { RecordView } from '../../../client/client.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import type { ApprovalAnswer, PendingApproval } from './approval.ts'
import { askAboutCall, callLines, type OpenPrompt } from './ask-about-call.ts'
import type { ChatClient } from './chat-client.ts'

/**
 * Gets answers to the pending approvals of a conversation. No answers leave everything pending. The signal aborts when somebody else has
 * answered.
 */
export type AskApprovals = (
  approvals: readonly PendingApproval[],
  client: Pick<ChatClient, 'mayAnswer' | 'view'>,
  signal: AbortSignal,
) => Promise<ApprovalAnswer[]>

/** Lines that say how to answer an approval that cannot be answered here. */
export type HowToAnswer = (approvalId: string) => string[]

/** For a pipe, where nobody can be asked: prints to stderr what waits and how to answer it. */
export function createApprovalNotice(howToAnswer: HowToAnswer, io: Io): AskApprovals {
  return async (approvals, client, signal) => {
    for (const approval of approvals) tell(approval, await client.view(approval.id, signal), howToAnswer, io)
    return []
  }
}

interface ApprovalQuestionDeps {
  openPrompt: OpenPrompt
  /** Asks for the operator's token if it is missing. True if there is one now. */
  askToken: (signal: AbortSignal) => Promise<boolean>
  howToAnswer: HowToAnswer
  /** Lines that say how to answer what the person left open. */
  again: HowToAnswer
}

/** Asks the person at the terminal about one call after the other. */
export function createApprovalQuestions(
  { openPrompt, askToken, howToAnswer, again }: ApprovalQuestionDeps,
  io: Io,
): AskApprovals {
  return async (approvals, client, signal) => {
    const answerable = () => approvals.filter((approval) => client.mayAnswer(approval))
    const mine = answerable().length < approvals.length && (await askToken(signal)) ? approvals : answerable()
    if (signal.aborted) return []
    for (const approval of approvals) {
      if (!mine.includes(approval)) tell(approval, await client.view(approval.id, signal), howToAnswer, io)
    }
    const answers: ApprovalAnswer[] = []
    for (const approval of mine) {
      const answer = await askAboutCall(approval, await client.view(approval.id, signal), openPrompt, io, signal)
      if (signal.aborted) return []
      if (answer === null) {
        // A person who stops wants nothing to happen, so the earlier answers are dropped too.
        const ids = mine.map(({ id }) => id)
        const what = ids.length === 1 ? 'It stays pending: approval' : 'They stay pending, unanswered: approvals'
        io.stdout.write(`\n${[`${what} ${ids.join(', ')}`, ...new Set(ids.flatMap(again))].join('\n  ')}\n`)
        return []
      }
      answers.push(answer)
    }
    return answers
  }
}

function tell(approval: PendingApproval, view: RecordView | null, howToAnswer: HowToAnswer, io: Io): void {
  const style = styleFor(io.stderr, io.env)
  const [head = '', ...rest] = callLines(approval, view, style)
  const advice = [`Approval ${approval.id}`, ...howToAnswer(approval.id)].map((line) => `  ${line}`)
  io.stderr.write(`${[style.yellow(head), ...rest, ...advice].join('\n')}\n`)
}
