import { ServerError } from '../../domain/errors.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { Approval } from '../../domain/wait.ts'
import type { Engine, Standing } from '../../engine/engine.ts'
import type { Answer } from './decode-resume.ts'

export interface KnownAnswers {
  answers: Answer[]
  /** What was left out, for the log. */
  warnings: string[]
}

/**
 * The answers that mean something in this session. AG-UI asks that one to an interrupt that nobody knows is passed over, not
 * refused. One that came too late attaches to what went on, unless its client goes on talking (`talks`): that counts more.
 */
export async function knownAnswers(
  engine: Pick<Engine, 'approval'>,
  by: Standing,
  session: SessionRecord | null,
  given: readonly Answer[],
  talks: boolean,
): Promise<KnownAnswers> {
  const answers: Answer[] = []
  const warnings: string[] = []
  for (const answer of given) {
    const approval = await engine.approval(by, answer.waitId).catch(noneThere)
    const name = JSON.stringify(answer.waitId.slice(0, 64))
    // An operator may know approvals of other sessions; here they are answered in their own conversation alone.
    if (approval === null || approval.sessionId !== session?.id) {
      warnings.push(`ignored an answer to an unknown interrupt ${name}`)
    } else if (talks && approval.status !== 'pending') {
      warnings.push(`ignored an answer to the interrupt ${name}, which has its answer`)
    } else answers.push(answer)
  }
  return { answers, warnings: warnings.slice(0, MAX_WARNINGS) }
}

const MAX_WARNINGS = 10

function noneThere(error: unknown): Approval | null {
  if (error instanceof ServerError && error.code === 'approval_not_found') return null
  throw error
}

/** The engine judges a decision as such; this door's client wrote it inside of `resume`, and is told where. */
export function inResume(error: unknown, given: readonly Answer[]): unknown {
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
