import { inject } from 'vitest'
import { openTestDatabase } from '../postgres/test-database.ts'

/** Where a server of these tests keeps its data. Use it with `await using`. */
export interface TestStore extends AsyncDisposable {
  /** For `resolveSettings`. */
  readonly env: Readonly<Record<string, string>>
}

/** Whether other servers could use the same store. */
export const isShared = (): boolean => inject('postgres') !== undefined

/** SQLite in the data directory. In a test run with a Postgres (`npm run test:replicas`): a database of its own. */
export async function openTestStore(): Promise<TestStore> {
  if (!isShared()) return { env: {}, [Symbol.asyncDispose]: async () => {} }
  const { url, drop } = await openTestDatabase()
  return { env: { QUARTERDECK_STORE: url }, [Symbol.asyncDispose]: drop }
}
