// One Postgres for all tests of a run. Vitest calls this only when a test of the project `postgres` is about to run.

import type { TestProject } from 'vitest/node'
import { startPostgres } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The database `postgres` of the server that all tests share. */
    postgres: string
  }
}

export default async function startSharedPostgres(project: TestProject): Promise<() => Promise<void>> {
  // Nobody cuts this server's power. Tests of durability start their own, which syncs.
  const server = await startPostgres({ settings: { fsync: 'off' } })
  project.provide('postgres', server.url)
  return () => server.discard()
}
