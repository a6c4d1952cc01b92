// Rules for what comes from an export of another store.

import { MAIN_CHAIN } from '../../domain/supervision/audit.ts'
import { emptyChain, verifyChain } from '../audit-chain.ts'
import type { ImportAudit } from '../ports/audit.ts'
import type { ImportCommand, ImportRecords, ImportSession } from '../ports/sessions.ts'
import { conflict, taken } from './find-rows.ts'
import { ask, type Change, type Decision, done, type Rule, type RulesOf } from './rows.ts'
import { countNew } from './run-rules.ts'
import { refuseTaken } from './session-rules.ts'

function* importSession(command: ImportSession): Rule<Decision> {
  const { session: given, runs, messages, entries, waits = [], files = [], notes = [], feedback = [] } = command
  const { proposals = [], instructions = [], checkpoints = [] } = command
  for (const { id } of runs) if ((yield* ask('run', id)) !== null) throw taken('run', id)
  for (const { id } of waits) if ((yield* ask('wait', id)) !== null) throw taken('wait', id)
  for (const { id } of files) if ((yield* ask('file', id)) !== null) throw taken('file', id)
  for (const { id } of instructions) if ((yield* ask('instruction', id)) !== null) throw taken('message', id)
  for (const { id } of checkpoints) if (yield* ask('hasCheckpoint', id)) throw taken('checkpoint', id)
  yield* refuseTaken(given)
  // Otherwise an archive could take the thread of another session, and what people say there would go to this one.
  for (const { channel, key } of notes) {
    if ((yield* ask('note', channel, key)) !== null) throw taken('note', `${key} of ${channel}`)
  }
  const session = { ...given, messageCount: countNew(messages, []) }
  const sessionId = session.id
  return done([
    { write: 'insert_session', session },
    ...runs.map((run): Change => ({ write: 'insert_run', run: { ...run, sessionId } })),
    { write: 'insert_messages', sessionId, messages },
    ...waits.map((wait): Change => ({ write: 'insert_wait', wait: { ...wait, sessionId } })),
    { write: 'import_entries', sessionId, entries },
    ...proposals.map((proposal): Change => ({ write: 'put_proposal', sessionId, proposal })),
    ...instructions.map((one): Change => ({ write: 'insert_instruction', instruction: { ...one, sessionId } })),
    ...checkpoints.map((one): Change => ({ write: 'insert_checkpoint', checkpoint: { ...one, sessionId } })),
    ...files.map((file): Change => ({ write: 'insert_file', file: { ...file, sessionId } })),
    ...feedback.map((one): Change => ({ write: 'put_feedback', sessionId, feedback: one })),
    ...notes.map((note): Change => ({ write: 'put_note', note: { ...note, session: sessionId } })),
  ])
}

function* importRecords(command: ImportRecords): Rule<Decision> {
  const { grants = [], instructions = [], pins = [], usage = [], notes = [] } = command
  for (const { id } of grants) if (yield* ask('hasGrant', id)) throw taken('grant', id)
  for (const { id } of instructions) if ((yield* ask('instruction', id)) !== null) throw taken('task', id)
  for (const { channel, key } of notes) if ((yield* ask('note', channel, key)) !== null) throw taken('note', key)
  for (const row of usage) if (yield* ask('hasUsage', row)) throw taken('row of usage of session', row.sessionId)
  return done([
    ...grants.map((grant): Change => ({ write: 'put_grant', grant })),
    ...instructions.map((one): Change => ({ write: 'insert_instruction', instruction: { ...one, sessionId: null } })),
    ...pins.map((pin): Change => ({ write: 'put_pin', pin })),
    ...notes.map((note): Change => ({ write: 'put_note', note: { ...note, session: null } })),
    ...(usage.length === 0 ? [] : [{ write: 'add_usage', rows: usage } as const]),
  ])
}

function* importAudit({ entries, audit }: ImportAudit): Rule<Decision> {
  const [first] = entries
  if (first === undefined) return done([])
  const { chain } = first
  if (chain === MAIN_CHAIN) throw conflict('The main chain of another store needs another name here.')
  const end = yield* ask('auditEnd', chain)
  // Nobody could tell what is added here from what its server has done, and the server would go on behind the wrong entry.
  if (end?.isOwn === true)
    throw conflict(`Chain ${chain} is written by a server on this store, and an import does not add to it.`)
  const verdict = verifyChain(entries, end === null ? emptyChain(chain) : { chain, n: end.n, head: end.hash })
  if (!verdict.ok) throw conflict(`Chain ${chain} does not go on with these entries. ${verdict.reason}`)
  return done([
    { write: 'import_audit', entries },
    ...(audit.length === 0 ? [] : [{ write: 'add_audit', records: audit } as const]),
  ])
}

export const importRules: RulesOf<ImportCommand | ImportAudit> = {
  import_session: importSession,
  import_records: importRecords,
  import_audit: importAudit,
}
