// What belongs to sessions of agents elsewhere, beside their row in `sessions` and their records in `waits`.

import { isHostApproval } from '../../domain/records/record.ts'
import type { Checkpoint, Instruction, PolicyPin, Proposal } from '../../domain/supervision/supervision.ts'
import type { InstructionQuery, SupervisedReads } from '../ports/supervised.ts'
import type { RowWrites } from './row-writes.ts'
import { asked, insertRow, putRow, type Query, type Reading, type Statement, select, withId } from './statement.ts'
import { toWait, unappliedWaits } from './waits.ts'

const INSTRUCTION_COLUMNS = 'id, kind, session, owner, workspace, text, source, created_at, delivered_at'
type InstructionRow = [
  id: string,
  kind: Instruction['kind'],
  session: string | null,
  owner: string,
  workspace: string,
  text: string,
  source: string,
  createdAt: number,
  deliveredAt: number | null,
]

export function toInstruction(row: InstructionRow): Instruction {
  const [id, kind, sessionId, owner, workspaceRoot, text, source, createdAt, deliveredAt] = row
  return { id, kind, sessionId, owner, workspaceRoot, text, source, createdAt, deliveredAt }
}

export const instructionById: Statement = {
  name: 'instruction_by_id',
  text: `SELECT ${INSTRUCTION_COLUMNS} FROM instructions WHERE id = $1`,
}

/** Oldest first. */
export const instructionList = (query: InstructionQuery): Query => {
  const { kind, sessionId, workspace, isWaiting = false, limit } = query
  return select(
    `SELECT ${INSTRUCTION_COLUMNS} FROM instructions`,
    [
      asked('session = $', sessionId),
      asked('workspace = $', workspace?.root),
      asked('owner = $', workspace?.owner),
      isWaiting && workspace !== undefined && ['session IS NULL'],
      asked('kind = $', kind),
      isWaiting && ['delivered_at IS NULL'],
    ],
    { order: 'ord', limit },
  )
}

/** More than ever wait in one place. */
const MOST_INSTRUCTIONS = 1_000

/** Those that wait for the same agent (steering), or in the same workspace for the same owner (task). */
export function waitingInstructions(
  like: Pick<Instruction, 'kind' | 'sessionId' | 'owner' | 'workspaceRoot'>,
): InstructionQuery {
  const { kind, sessionId, owner, workspaceRoot: root } = like
  const waiting = { kind, isWaiting: true, limit: MOST_INSTRUCTIONS }
  return kind === 'steering' && sessionId !== null
    ? { ...waiting, sessionId }
    : { ...waiting, workspace: { owner, root } }
}

const CHECKPOINT_COLUMNS = 'id, session, owner, created_at, data'
type CheckpointRow = [id: string, session: string, owner: string, createdAt: number, data: string]

const toCheckpoint = ([id, sessionId, owner, createdAt, data]: CheckpointRow): Checkpoint => ({
  id,
  sessionId,
  owner,
  createdAt,
  ...JSON.parse(data),
})

const checkpoints = (name: string, rest: string): Statement => ({
  name,
  text: `SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints ${rest}`,
})

type ProposalRow = [approvalId: string, diff: string, after: Uint8Array | null]
export const toProposal = ([approvalId, diff, after]: ProposalRow): Proposal => ({ approvalId, diff, after })

const PIN_COLUMNS = 'workspace, sha256, text, at, by'
type PinRow = [workspaceRoot: string, sha256: string, text: string, at: number, by: string]
const toPin = ([workspaceRoot, sha256, text, at, by]: PinRow): PolicyPin => ({ workspaceRoot, sha256, text, at, by })

/** The lists of sessions and the lookup of proposals are each database's own. */
export function createSupervisedReads(
  { dialect, one, many, list }: Reading,
  own: Pick<SupervisedReads, 'sessions' | 'proposal'>,
): SupervisedReads {
  const instructions = list('instructions_list', toInstruction)
  const waits = many(unappliedWaits, toWait)
  const ofSession = many(
    checkpoints('checkpoints_of_session', 'WHERE session = $1 ORDER BY ord DESC LIMIT $2'),
    toCheckpoint,
  )
  const ofOwner = many(
    checkpoints('checkpoints_of_owner', 'WHERE owner = $1 ORDER BY created_at DESC, ord DESC LIMIT $2'),
    toCheckpoint,
  )
  const newest = many(checkpoints('checkpoints_newest', 'ORDER BY created_at DESC, ord DESC LIMIT $1'), toCheckpoint)

  return {
    ...own,
    unapplied: async (limit) => (await waits(limit)).filter(isHostApproval),
    instructions: (query) => instructions(instructionList(query)),
    checkpoint: one(checkpoints('checkpoint_by_id', `WHERE ${withId(dialect, 'checkpoint')}`), toCheckpoint),
    checkpoints({ sessionId, owner, limit }) {
      if (sessionId !== undefined) return ofSession(sessionId, limit)
      return owner === undefined ? newest(limit) : ofOwner(owner, limit)
    },
    pin: one({ name: 'pin_of_workspace', text: `SELECT ${PIN_COLUMNS} FROM policy_pins WHERE workspace = $1` }, toPin),
    pins: many({ name: 'pins', text: `SELECT ${PIN_COLUMNS} FROM policy_pins ORDER BY workspace` }, toPin),
  }
}

export const supervisedWrites: RowWrites<
  'put_proposal' | 'insert_instruction' | 'update_instruction' | 'insert_checkpoint' | 'put_pin'
> = {
  put_proposal: {
    statement: putRow('proposals', 'session, approval_id, diff, after', 'session, approval_id'),
    values: ({ sessionId, proposal: { approvalId, diff, after } }) => [sessionId, approvalId, diff, after],
  },
  insert_instruction: {
    statement: insertRow('instructions', INSTRUCTION_COLUMNS),
    values({ instruction: { id, kind, sessionId, owner, workspaceRoot, text, source, createdAt, deliveredAt } }) {
      return [id, kind, sessionId, owner, workspaceRoot, text, source, createdAt, deliveredAt]
    },
  },
  update_instruction: {
    statement: {
      name: 'update_instruction',
      text: 'UPDATE instructions SET session = $2, delivered_at = $3 WHERE id = $1',
    },
    values: ({ instruction: { id, sessionId, deliveredAt } }) => [id, sessionId, deliveredAt],
  },
  insert_checkpoint: {
    statement: insertRow('checkpoints', CHECKPOINT_COLUMNS),
    values: ({ checkpoint: { id, sessionId, owner, createdAt, ...data } }) => [
      ...[id, sessionId, owner, createdAt, JSON.stringify(data)],
    ],
  },
  put_pin: {
    statement: putRow('policy_pins', PIN_COLUMNS, 'workspace'),
    values: ({ pin: { workspaceRoot, sha256, text, at, by } }) => [workspaceRoot, sha256, text, at, by],
  },
}
