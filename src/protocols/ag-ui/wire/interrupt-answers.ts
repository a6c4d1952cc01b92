import { ServerError } from '../../../domain/errors.ts'
import type { SessionRecord } from '../../../domain/session.ts'
import type { Approval } from '../../../domain/wait.ts'
import type { Approvals } from '../../../supervision/approvals/approvals.ts'
import type { Answer } from './decode-resume.ts'
import type { InputWarning } from './stream-warnings.ts'

export interface SessionAnswers {
  answers: Answer[]
  /** About those that were passed over, for whoever sent them. */
  warnings: InputWarning[]
}

/**
 * The answers that mean something in this session. AG-UI asks that one to an interrupt that nobody knows is passed over, not
 * refused. One that came too late attaches to what went on, unless its client goes on talking (`talks`): that counts more.
 * Throws `approval_not_found` for an interrupt of another thread, whoever that belongs to: an answer is given where it was asked.
 */
export async function answersForSession(
  approvals: Pick<Approvals, 'get'>,
  session: SessionRecord | null,
  given: readonly Answer[],
  talks: boolean,
): Promise<SessionAnswers> {
  const answers: Answer[] = []
  const warnings: InputWarning[] = []
  const passOver = (code: InputWarning['code'], waitId: string, why: string) => {
    const interruptId = waitId.slice(0, 64)
    const message = `The answer to the interrupt ${JSON.stringify(interruptId)} was passed over: ${why}`
    if (warnings.length < MAX_WARNINGS) warnings.push({ code, message, interruptId })
  }
  for (const answer of given) {
    const approval = await approvals.get(SEES_ALL, answer.waitId).catch(noneThere)
    if (approval === null) passOver('unknown_interrupt', answer.waitId, 'there is none of that id.')
    else if (approval.sessionId !== session?.id) throw notHere(answer.waitId)
    else if (talks && approval.status !== 'pending') {
      passOver('answered_interrupt', answer.waitId, 'it has been answered, and your message counts more.')
    } else answers.push(answer)
  }
  return { answers, warnings }
}

/** To tell what nobody knows from what is somebody else's. What is found is told to nobody whose session it is not in. */
const SEES_ALL = { user: '', role: 'operator' } as const
const MAX_WARNINGS = 10

const notHere = (waitId: string): ServerError =>
  new ServerError('approval_not_found', `This thread has no interrupt ${JSON.stringify(waitId.slice(0, 64))}.`)

function noneThere(error: unknown): Approval | null {
  if (error instanceof ServerError && error.code === 'approval_not_found') return null
  throw error
}

/** The engine judges a decision as such; this door's client wrote it inside of `resume`, and is told where. */
export function withResumePointers(error: unknown, given: readonly Answer[]): unknown {
  if (!(error instanceof ServerError) || error.problems.length === 0) return error
  const index = given.findIndex(({ waitId }) => waitId === error.details.approval_id)
  if (index < 0) return error
  return new ServerError(error.code, error.message, {
    details: { ...error.details },
    problems: error.problems.map(({ pointer, detail }) => ({
      pointer: pointer.replace(/^\/arguments/, `/resume/${index}/payload/editedArgs`),
      detail,
    })),
    cause: error,
  })
}
