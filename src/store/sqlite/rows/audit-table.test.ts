import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { verifyChain } from '../../audit-chain.ts'
import { newAudit } from '../../contract/samples.contract.ts'
import { migrate } from '../migrations.ts'
import { createStatements } from '../statements.ts'
import { createAuditReads, createAuditTable } from './audit-table.ts'

test('a transaction that is rolled back leaves no gap and no hash in the trail', async () => {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const { add } = createAuditTable(db)
  const reads = createAuditReads(createStatements(db))
  add([newAudit('first')])

  db.exec('BEGIN')
  add([newAudit('undone'), newAudit('undone too')])
  db.exec('ROLLBACK')
  add([newAudit('second'), newAudit('third')])

  const entries = await reads.entries(0, 10)
  expect(entries.map(({ text }) => JSON.parse(text).by)).toEqual(['first', 'second', 'third'])
  expect(verifyChain(entries)).toEqual({ ok: true, chain: 'main', n: 3, head: entries[2]?.hash })
  db.close()
})
