// A run that waits for a person, as the routes answer that wait for a whole answer.

import { z } from 'zod'
import type { RunRecord } from '../../../domain/session/run.ts'

export const waitingShape = {
  status: z.literal('waiting'),
  run_id: z.string(),
  approval_ids: z.array(z.string()),
}

export const exampleWaiting = {
  status: 'waiting',
  run_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
  approval_ids: ['0192f3a1-7b2c-7def-8abc-0123456789ac'],
}

export const waitingView = ({ wireId }: Pick<RunRecord, 'wireId'>, approvalIds: string[]) => ({
  status: 'waiting' as const,
  run_id: wireId,
  approval_ids: approvalIds,
})
