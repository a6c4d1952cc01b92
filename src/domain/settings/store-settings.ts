/** A SQLite file in the data directory, memory, or a Postgres database that several servers can share. */
export type StoreSettings = 'sqlite' | ':memory:' | PostgresSettings

export interface PostgresSettings {
  /** May hold a password. */
  url: string
  /** When an acknowledged commit is safe. */
  commit: 'on' | 'remote_apply'
  connections: number
  /** How long a call waits for a database that is away. */
  waitMs: number
}

export const isPostgres = (store: StoreSettings): store is PostgresSettings => typeof store === 'object'

/** The URL without its password, for people and logs. */
export function shownStore(url: string): string {
  return url.replace(/^(postgres(?:ql)?:\/\/[^:@/?]*):[^/]*@/, '$1@').replace(/([?&]password=)[^&]*/g, '$1…')
}
