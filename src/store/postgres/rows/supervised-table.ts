// What belongs to sessions of agents elsewhere, beside their row in `sessions` and their records in `waits`.

import { isSupervisedApproval } from '../../../domain/records/record.ts'
import {
  type Checkpoint,
  type Instruction,
  type PolicyPin,
  type Proposal,
  supervisedStatuses,
} from '../../../domain/supervision/supervision.ts'
import type { InstructionQuery, SupervisedQuery, SupervisedReads } from '../../ports/supervised.ts'
import { createNaming, type Sql, type Statement } from '../sql.ts'
import { sessionOfRoute } from './route.ts'
import { LISTED_COLUMNS, type SessionRow, toSession } from './session-table.ts'
import { toWait, WAIT_COLUMNS, type WaitRow } from './wait-table.ts'

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

const toInstruction = (row: InstructionRow): Instruction => {
  const [id, kind, sessionId, owner, workspaceRoot, text, source, createdAt, deliveredAt] = row
  return { id, kind, sessionId, owner, workspaceRoot, text, source, createdAt, deliveredAt }
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

const instructionById: Statement = {
  name: 'instruction_by_id',
  text: `SELECT ${INSTRUCTION_COLUMNS} FROM instructions WHERE id = $1`,
}

/** Reads inside and outside of commands. */
export function createInstructionReads(sql: Sql) {
  const named = createNaming('instructions_list')

  return {
    async instruction(id: string): Promise<Instruction | null> {
      const [row] = await sql.rows<InstructionRow>(instructionById, [id])
      return row === undefined ? null : toInstruction(row)
    },

    async instructions({ kind, sessionId, workspace, isWaiting = false, limit }: InstructionQuery) {
      const values: (string | number)[] = []
      const bind = (value: string | number): string => `$${values.push(value)}`
      const conditions = ['true']
      if (sessionId !== undefined) conditions.push(`session = ${bind(sessionId)}`)
      if (workspace !== undefined) {
        conditions.push(`workspace = ${bind(workspace.root)} AND owner = ${bind(workspace.owner)}`)
        if (isWaiting) conditions.push('session IS NULL')
      }
      if (kind !== undefined) conditions.push(`kind = ${bind(kind)}`)
      if (isWaiting) conditions.push('delivered_at IS NULL')
      const text = `SELECT ${INSTRUCTION_COLUMNS} FROM instructions WHERE ${conditions.join(' AND ')} ORDER BY ord LIMIT ${bind(limit)}`
      return (await sql.rows<InstructionRow>(named(text), values)).map(toInstruction)
    },
  }
}

const proposalById: Statement = {
  name: 'proposal_by_id',
  // What the agent proposed is kept under a name that begins with the id of the approval.
  text: `SELECT diff, after FROM proposals WHERE session = ${sessionOfRoute('wait', "split_part($1, '/', 1)")} AND approval_id = $1`,
}

const unapplied: Statement = {
  name: 'waits_unapplied',
  text: `SELECT ${WAIT_COLUMNS} FROM waits WHERE unapplied ORDER BY created_at, id LIMIT $1`,
}

const checkpointById: Statement = {
  name: 'checkpoint_by_id',
  text: `SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints WHERE session = ${sessionOfRoute('checkpoint', '$1')} AND id = $1`,
}
const checkpointsOfSession: Statement = {
  name: 'checkpoints_of_session',
  text: `SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints WHERE session = $1 ORDER BY ord DESC LIMIT $2`,
}
const checkpointsOfOwner: Statement = {
  name: 'checkpoints_of_owner',
  text: `SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints WHERE owner = $1 ORDER BY created_at DESC, ord DESC LIMIT $2`,
}
const newestCheckpoints: Statement = {
  name: 'checkpoints_newest',
  text: `SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints ORDER BY created_at DESC, ord DESC LIMIT $1`,
}

type PinRow = [workspaceRoot: string, sha256: string, text: string, at: number, by: string]
const toPin = ([workspaceRoot, sha256, text, at, by]: PinRow): PolicyPin => ({ workspaceRoot, sha256, text, at, by })
const PIN_COLUMNS = 'workspace, sha256, text, at, by'
const pinOfWorkspace: Statement = {
  name: 'pin_of_workspace',
  text: `SELECT ${PIN_COLUMNS} FROM policy_pins WHERE workspace = $1`,
}
const allPins: Statement = { name: 'pins', text: `SELECT ${PIN_COLUMNS} FROM policy_pins ORDER BY workspace` }

export function createSupervisedReads(sql: Sql): SupervisedReads {
  const named = createNaming('supervised_list')
  const checkpoints = async (statement: Statement, values: readonly unknown[]): Promise<Checkpoint[]> =>
    (await sql.rows<CheckpointRow>(statement, values)).map(toCheckpoint)

  return {
    async sessions(query) {
      const { text, values } = listOf(query)
      return (await sql.rows<SessionRow>(named(text), values)).map(toSession)
    },
    async proposal(approvalId): Promise<Proposal | null> {
      const [row] = await sql.rows<[diff: string, after: Uint8Array | null]>(proposalById, [approvalId])
      return row === undefined ? null : { approvalId, diff: row[0], after: row[1] }
    },
    async unapplied(limit) {
      return (await sql.rows<WaitRow>(unapplied, [limit])).map(toWait).filter(isSupervisedApproval)
    },
    instructions: createInstructionReads(sql).instructions,
    async checkpoint(id) {
      return (await checkpoints(checkpointById, [id]))[0] ?? null
    },
    checkpoints({ sessionId, owner, limit }) {
      if (sessionId !== undefined) return checkpoints(checkpointsOfSession, [sessionId, limit])
      return owner === undefined
        ? checkpoints(newestCheckpoints, [limit])
        : checkpoints(checkpointsOfOwner, [owner, limit])
    },
    async pin(workspaceRoot) {
      const [row] = await sql.rows<PinRow>(pinOfWorkspace, [workspaceRoot])
      return row === undefined ? null : toPin(row)
    },
    async pins() {
      return (await sql.rows<PinRow>(allPins)).map(toPin)
    },
  }
}

function listOf(query: SupervisedQuery): { text: string; values: unknown[] } {
  const { owner, workspaceRoot, tokenId, mcpConnection, statuses = supervisedStatuses, limit } = query
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const conditions = ['supervised_status IS NOT NULL', 'NOT unlisted']
  // All statuses are no condition, so the list is read in its order.
  if (statuses !== supervisedStatuses) conditions.push(`supervised_status = ANY(${bind(statuses)}::text[])`)
  if (owner !== undefined) conditions.push(`owner = ${bind(owner)}`)
  if (workspaceRoot !== undefined) conditions.push(`workspace = ${bind(workspaceRoot)}`)
  if (tokenId !== undefined) conditions.push(`token_id = ${bind(tokenId)}`)
  if (mcpConnection !== undefined) conditions.push(`${bind(mcpConnection)} = ANY(mcp_ids)`)
  const text = `SELECT ${LISTED_COLUMNS} FROM sessions WHERE ${conditions.join(' AND ')}
    ORDER BY last_activity DESC, id DESC LIMIT ${bind(limit)}`
  return { text, values }
}
