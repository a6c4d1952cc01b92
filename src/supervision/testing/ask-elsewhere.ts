// An approval of an agent elsewhere, as its gate asks it, with whatever a test needs it to say.

import type { SupervisedApproval } from '../../domain/records/record.ts'
import type { WorkMatch } from '../../domain/supervision/grant.ts'
import { ONE_PERSON } from '../../domain/supervision/quorum.ts'
import { newApproval, type Question } from '../agent-service/asked-records.ts'
import type { SupervisedSession, TakeStep } from '../sessions/take-step.ts'

export const npmTest: WorkMatch[] = [
  { type: 'command', command: 'npm test -- --watch', folder: '.' },
  { type: 'begins', words: ['npm', 'test'] },
]

/** It asks to run `npm test -- --watch`, of low risk, unless `values` say something else. */
export async function askElsewhere(
  takeStep: TakeStep,
  { id: sessionId }: Pick<SupervisedSession, 'id'>,
  id: string,
  values: Partial<Question & SupervisedApproval> = {},
): Promise<SupervisedApproval> {
  const { result } = await takeStep(sessionId, (now) => {
    const command = 'npm test -- --watch'
    const question: Question = {
      kind: 'permission',
      tool: 'Bash',
      callId: `call-${id}`,
      title: `Run ${command}`,
      description: command,
      risk: 'low',
      action: null,
      matches: npmTest,
      digest: `digest-${id}`,
      arguments: JSON.stringify({ command }),
      contentKey: `content-${id}`,
      change: null,
      beforeHash: null,
      afterHash: null,
      expiresAt: now.at + 3_600_000,
    }
    const approval = { ...newApproval(now, id, question, ONE_PERSON), ...values }
    return { result: approval, ask: [approval] }
  })
  return result
}
