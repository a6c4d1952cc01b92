// What belongs to sessions of agents elsewhere, beside their row in `sessions` and their records in `waits`.

import type { DatabaseSync } from 'node:sqlite'
import { isSupervisedApproval } from '../../../domain/records/record.ts'
import {
  type Checkpoint,
  type Instruction,
  type PolicyPin,
  type Proposal,
  supervisedStatuses,
} from '../../../domain/supervision/supervision.ts'
import type { InstructionQuery, SupervisedReads } from '../../ports/supervised.ts'
import { keepPrepared, prepareSessions, type Row, readSession, toWait, WAIT_COLUMNS } from './rows.ts'

const INSTRUCTIONS = 'instructions.*, sessions.id AS session_id FROM instructions LEFT JOIN sessions USING (sid)'
const CHECKPOINTS = 'checkpoints.*, sessions.id AS session_id FROM checkpoints JOIN sessions USING (sid)'

const toInstruction = (row: Row): Instruction => ({
  id: String(row.id),
  kind: row.kind === 'task' ? 'task' : 'steering',
  sessionId: row.session_id == null ? null : String(row.session_id),
  owner: String(row.owner),
  workspaceRoot: String(row.workspace),
  text: String(row.text),
  source: String(row.source),
  createdAt: Number(row.created_at),
  deliveredAt: row.delivered_at == null ? null : Number(row.delivered_at),
})

const toCheckpoint = (row: Row): Checkpoint => ({
  id: String(row.id),
  sessionId: String(row.session_id),
  owner: String(row.owner),
  createdAt: Number(row.created_at),
  ...JSON.parse(String(row.data)),
})

const toPin = ({ workspace, sha256, text, at, by }: Row): PolicyPin => ({
  workspaceRoot: String(workspace),
  sha256: String(sha256),
  text: String(text),
  at: Number(at),
  by: String(by),
})

/** Reads inside and outside of commands. */
export function createSupervisedTable(db: DatabaseSync) {
  const instructionById = db.prepare(`SELECT ${INSTRUCTIONS} WHERE instructions.id = ?`)
  const prepared = keepPrepared(db)

  return {
    instruction(id: string): Instruction | null {
      const row = instructionById.get(id)
      return row === undefined ? null : toInstruction(row)
    },

    instructions({ kind, sessionId, workspace, isWaiting = false, limit }: InstructionQuery): Instruction[] {
      const conditions: string[] = []
      const values: (string | number)[] = []
      const where = (condition: string, ...bound: string[]) => {
        conditions.push(condition)
        values.push(...bound)
      }
      if (sessionId !== undefined) where('instructions.sid = (SELECT sid FROM sessions WHERE id = ?)', sessionId)
      if (workspace !== undefined) {
        where('instructions.workspace = ? AND instructions.owner = ?', workspace.root, workspace.owner)
        if (isWaiting) where('instructions.sid IS NULL')
      }
      if (kind !== undefined) where('instructions.kind = ?', kind)
      if (isWaiting) where('instructions.delivered_at IS NULL')
      const filter = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
      const sql = `SELECT ${INSTRUCTIONS} ${filter} ORDER BY instructions.iid LIMIT ? + 0`
      return prepared(sql)
        .all(...values, limit)
        .map(toInstruction)
    },
  }
}

export function createSupervisedReads(db: DatabaseSync): SupervisedReads {
  const table = createSupervisedTable(db)
  // There are few of them, so SQLite should find them by status and sort them.
  const sessions = prepareSessions(
    db,
    `supervised_status IN (SELECT value FROM json_each(?4)) AND unlisted = 0 AND (?1 IS NULL OR owner = ?1)
     AND (?2 IS NULL OR supervision ->> 'workspaceRoot' = ?2) AND (?3 IS NULL OR supervision ->> 'tokenId' = ?3)
     AND (?6 IS NULL OR EXISTS (SELECT 1 FROM json_each(supervision, '$.mcp') WHERE json_each.value ->> 'id' = ?6))
     ORDER BY +last_activity DESC, +id DESC LIMIT ?5 + 0`,
    { withState: false },
  )
  const proposal = db.prepare('SELECT diff, after FROM proposals WHERE approval_id = ?')
  const unapplied = db.prepare(
    `SELECT ${WAIT_COLUMNS} WHERE waits.kind = 'approval' AND waits.status = 'consumed'
     AND waits.data ->> '$.kind' = 'diff' AND waits.data ->> '$.supervised.appliedAt' IS NULL
     AND waits.data ->> '$.supervised.notApplied' IS NULL
     ORDER BY waits.created_at, waits.id LIMIT ? + 0`,
  )
  const checkpointById = db.prepare(`SELECT ${CHECKPOINTS} WHERE checkpoints.id = ?`)
  const ofSession = db.prepare(
    `SELECT ${CHECKPOINTS} WHERE checkpoints.sid = (SELECT sid FROM sessions WHERE id = ?) ORDER BY cid DESC LIMIT ? + 0`,
  )
  const ofOwner = db.prepare(
    `SELECT ${CHECKPOINTS} WHERE checkpoints.owner = ? ORDER BY checkpoints.created_at DESC LIMIT ? + 0`,
  )
  const newest = db.prepare(`SELECT ${CHECKPOINTS} ORDER BY checkpoints.created_at DESC LIMIT ? + 0`)
  const pin = db.prepare('SELECT * FROM policy_pins WHERE workspace = ?')
  const pins = db.prepare('SELECT * FROM policy_pins ORDER BY workspace')

  return {
    async sessions(query) {
      const { owner = null, workspaceRoot = null, tokenId = null, mcpConnection = null } = query
      const { statuses = supervisedStatuses, limit } = query
      return sessions
        .all(owner, workspaceRoot, tokenId, JSON.stringify(statuses), limit, mcpConnection)
        .map((row) => readSession(row).session)
    },
    async proposal(approvalId) {
      const row = proposal.get(approvalId)
      if (row === undefined) return null
      return { approvalId, diff: String(row.diff), after: row.after instanceof Uint8Array ? row.after : null }
    },
    async unapplied(limit) {
      return unapplied.all(limit).map(toWait).filter(isSupervisedApproval)
    },
    async instructions(query) {
      return table.instructions(query)
    },
    async checkpoint(id) {
      const row = checkpointById.get(id)
      return row === undefined ? null : toCheckpoint(row)
    },
    async checkpoints({ sessionId, owner, limit }) {
      if (sessionId !== undefined) return ofSession.all(sessionId, limit).map(toCheckpoint)
      return (owner === undefined ? newest.all(limit) : ofOwner.all(owner, limit)).map(toCheckpoint)
    },
    async pin(workspaceRoot) {
      const row = pin.get(workspaceRoot)
      return row === undefined ? null : toPin(row)
    },
    pins: async () => pins.all().map(toPin),
  }
}

export function createSupervisedRows(db: DatabaseSync) {
  const putProposal = db.prepare('INSERT OR REPLACE INTO proposals (approval_id, sid, diff, after) VALUES (?, ?, ?, ?)')
  const insertInstruction = db.prepare(
    'INSERT INTO instructions (id, kind, sid, owner, workspace, text, source, created_at, delivered_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const updateInstruction = db.prepare('UPDATE instructions SET sid = ?, delivered_at = ? WHERE id = ?')
  const insertCheckpoint = db.prepare(
    'INSERT INTO checkpoints (id, sid, owner, created_at, data) VALUES (?, ?, ?, ?, ?)',
  )
  const putPin = db.prepare(
    'INSERT OR REPLACE INTO policy_pins (workspace, sha256, text, at, by) VALUES (?, ?, ?, ?, ?)',
  )

  return {
    putProposal(sid: number, { approvalId, diff, after }: Proposal): void {
      putProposal.run(approvalId, sid, diff, after)
    },
    insertInstruction(sid: number | null, one: Instruction): void {
      const { id, kind, owner, workspaceRoot, text, source, createdAt, deliveredAt } = one
      insertInstruction.run(id, kind, sid, owner, workspaceRoot, text, source, createdAt, deliveredAt)
    },
    updateInstruction(sid: number | null, { id, deliveredAt }: Instruction): void {
      updateInstruction.run(sid, deliveredAt, id)
    },
    insertCheckpoint(sid: number, { id, sessionId: _, owner, createdAt, ...data }: Checkpoint): void {
      insertCheckpoint.run(id, sid, owner, createdAt, JSON.stringify(data))
    },
    putPin({ workspaceRoot, sha256, text, at, by }: PolicyPin): void {
      putPin.run(workspaceRoot, sha256, text, at, by)
    },
  }
}
