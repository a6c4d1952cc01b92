// A past for a store: what agents in a workspace asked, and what people said.

import type { Approval, SupervisedRecord } from '../../domain/records/record.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import {
  askedElsewhere,
  done,
  newApproval,
  newRun,
  newSession,
  supervisionSample,
} from '../../store/contract/samples.contract.ts'
import type { Store } from '../../store/store.ts'

export interface AskedBefore {
  ago: number
  /** The path of a change. */
  change?: string
  tool?: string
  input?: object
  values?: Partial<Approval>
}

/** What agents in a workspace asked: the newest first in the list. */
export async function addSupervised(store: Store, root: string, now: number, asked: readonly AskedBefore[]) {
  const session: SessionRecord = newSession({
    supervision: { ...supervisionSample, version: 1, workspaceRoot: root, updatedAt: now },
  })
  const waits = asked.map(({ ago, change, tool = 'ask_approval', input = {}, values = {} }, i): SupervisedRecord => {
    const summary = {
      kind: 'modify' as const,
      addedLines: 1,
      removedLines: 0,
      warnings: [],
      protectedBecause: null,
      hasHiddenText: false,
    }
    const asking = { createdAt: now - ago, tool, arguments: JSON.stringify(input), risk: 'low' as const, ...values }
    return {
      ...newApproval(newRun(session.id), asking),
      kind: change === undefined ? 'permission' : 'diff',
      supervised: {
        ...askedElsewhere,
        contentKey: String(i),
        change: change === undefined ? null : { ...summary, path: change },
      },
    }
  })
  await done(store, { type: 'supervise', sessionId: session.id, now, create: session, ask: waits })
  return session
}

/** A command, and what Ada said about it. */
export type Decided = readonly [command: string, status: 'approved' | 'rejected']

/** Commands of the last hours. */
export const addDecided = (store: Store, root: string, now: number, decided: readonly Decided[]) =>
  addSupervised(
    store,
    root,
    now,
    decided.map(([command, status], i) => ({
      ago: 3_600_000 + i,
      tool: 'Bash',
      input: { command },
      values: { status, decidedBy: 'ada', decidedAt: now, riskWhy: 'works in the workspace' },
    })),
  )
