import { ServerError } from '../../../domain/errors.ts'
import type { SessionRecord } from '../../../domain/session.ts'
import type { Approval } from '../../../domain/wait.ts'
import type { Approvals } from '../../../supervision/approvals/approvals.ts'
import type { Answer } from './decode-resume.ts'
import type { InputWarning } from './stream-warnings.ts'

export interface SessionAnswers {
  answers: Answer[]
  /** Warnings to the client about answers that were ignored. */
  warnings: InputWarning[]
}

/**
 * The answers that apply to this session. An answer to an unknown interrupt is ignored, not refused, as AG-UI asks. A late answer
 * attaches to the run that continued, unless the client also sends a new message (`talks`), which counts more. Throws
 * `approval_not_found` for an interrupt of another thread, whoever owns it.
 */
export async function answersForSession(
  approvals: Pick<Approvals, 'get'>,
  session: SessionRecord | null,
  given: readonly Answer[],
  talks: boolean,
): Promise<SessionAnswers> {
  const answers: Answer[] = []
  const warnings: InputWarning[] = []
  const ignore = (code: InputWarning['code'], waitId: string, why: string) => {
    const interruptId = waitId.slice(0, 64)
    const message = `The answer to the interrupt ${JSON.stringify(interruptId)} was ignored: ${why}`
    if (warnings.length < MAX_WARNINGS) warnings.push({ code, message, interruptId })
  }
  for (const answer of given) {
    const approval = await approvals.get(SEES_ALL, answer.waitId).catch(noneThere)
    if (approval === null) ignore('unknown_interrupt', answer.waitId, 'there is no interrupt with this id.')
    else if (approval.sessionId !== session?.id) throw notHere(answer.waitId)
    else if (talks && approval.status !== 'pending') {
      ignore('answered_interrupt', answer.waitId, 'it has already been answered, and your new message counts more.')
    } else answers.push(answer)
  }
  return { answers, warnings }
}

/** Tells an unknown interrupt from one in another session. Nothing about the other session is sent to the client. */
const SEES_ALL = { user: '', role: 'operator' } as const
const MAX_WARNINGS = 10

const notHere = (waitId: string): ServerError =>
  new ServerError('approval_not_found', `This thread has no interrupt ${JSON.stringify(waitId.slice(0, 64))}.`)

function noneThere(error: unknown): Approval | null {
  if (error instanceof ServerError && error.code === 'approval_not_found') return null
  throw error
}

/** The engine points into the decision. Our client wrote the decision inside `resume`, so the pointers must point there. */
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
