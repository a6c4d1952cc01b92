import type { Caller } from '../../domain/supervision/decision.ts'
import type { Instruction } from '../../domain/supervision/supervision.ts'
import { checkText } from './check-text.ts'
import { refuseEnded, refuseForeignCommand, viaOf, wayOf } from './may-command.ts'
import { activityEvent, shownIn } from './session-events.ts'
import { about, type SessionNow, type SessionParts } from './take-step.ts'

type InstructDeps = Pick<SessionParts, 'takeStep' | 'operators' | 'ids'>

/** Steering is for the agent of the session. A task is for the next agent that works for its owner in its workspace. */
export function createInstructAgent({ takeStep, operators, ids }: InstructDeps) {
  return async (by: Caller, sessionId: string, kind: Instruction['kind'], text: string): Promise<Instruction> => {
    checkText(text)
    const { result } = await takeStep(sessionId, ({ session, at }) => {
      refuseForeignCommand(operators, by, session.owner)
      if (kind === 'steering') refuseEnded(session)
      const source = `${by.user} via ${wayOf(by)}`
      const instruction = newInstruction({ session, at }, ids.uuid(), { kind, text, source })
      return {
        result: instruction,
        instructions: [instruction],
        events: shownIn(session, activityEvent(instruction.id, kind, { text, by: by.user, channel: wayOf(by) }, at)),
        audit: [about(session, at, by.user, { what: kind, instruction: instruction.id, ...viaOf(by) })],
      }
    })
    return result
  }
}

export const newInstruction = (
  { session, at }: Pick<SessionNow, 'session' | 'at'>,
  id: string,
  { kind, text, source }: Pick<Instruction, 'kind' | 'text' | 'source'>,
): Instruction => ({
  id,
  kind,
  sessionId: kind === 'steering' ? session.id : null,
  owner: session.owner,
  workspaceRoot: session.supervision.workspaceRoot,
  text,
  source,
  createdAt: at,
  deliveredAt: null,
})
