import { expect, test } from 'vitest'
import { startPostgres } from './server.ts'
import { askOnce, openTestDatabase } from './test-database.ts'

test('each test file has a database of its own, and it is gone after it is dropped', async () => {
  const one = await openTestDatabase()
  const other = await openTestDatabase()
  await askOnce(one.url, 'CREATE TABLE t (n int)')

  expect(await askOnce(other.url, `SELECT to_regclass('t') AS t`)).toEqual([{ t: null }])
  await one.drop()
  await other.drop()
  await expect(askOnce(one.url, 'SELECT 1')).rejects.toMatchObject({ code: '3D000' })
})

test('a server that is killed keeps what it committed, and starts again on the same port', async () => {
  const server = await startPostgres()
  await askOnce(server.url, 'CREATE TABLE t AS SELECT 7 AS n')
  await server.kill()
  await expect(askOnce(server.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })

  await server.start()

  expect(await askOnce(server.url, 'SELECT n FROM t')).toEqual([{ n: 7 }])
  await server.discard()
})
