import pg from 'pg'
import { inject } from 'vitest'
import { createIds } from '../../src/domain/ids.ts'

export interface TestDatabase {
  readonly url: string
  /** Ends all connections to it, and removes it. */
  drop(): Promise<void>
}

/** A new and empty database on the server that the tests share, or on the one of `server`. */
export async function openTestDatabase(server: string = inject('postgres')): Promise<TestDatabase> {
  const name = `test_${createIds(Date.now).uuid().replaceAll('-', '')}`
  await askOnce(server, `CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => askOnce(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).then(() => {}) }
}

/** One statement on a connection of its own. Rows are objects. */
export async function askOnce(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
