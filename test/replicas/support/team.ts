// Several real servers on one real Postgres, behind a proxy that knows nothing.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { operatorEnv } from '../../crash/support/operator.ts'
import { openYard, type TestServer, type YardOptions } from '../../crash/support/start-server.ts'
import { type PostgresOptions, type PostgresServer, startPostgres } from '../../postgres/server.ts'
import { type RoundRobin, startRoundRobin } from './round-robin.ts'
import { workshop } from './workshop.ts'

export interface Team {
  /** Of the proxy. */
  readonly url: string
  readonly directory: string
  readonly postgres: PostgresServer
  /** The database that the replicas share. */
  storeUrl(): string
  /** Those that run, by their place. */
  readonly replicas: (TestServer | null)[]
  /** Starts the replica at this place. */
  start(place: number): Promise<void>
  /** The lines that the tool has written: its call, its session and the process that did it. */
  ledger(): readonly { call: string; session: string; pid: number }[]
  /** The processes in which an approved call has begun, as often as one has. */
  begun(): readonly number[]
  /** What replicas have logged that nobody should have to read: errors. */
  errors(): string[]
}

export interface TeamOptions {
  replicas: number
  /** The agent. Left out: `workshop`. */
  yard?: YardOptions
  postgres?: PostgresOptions
  /** One that runs already, and that somebody else ends. */
  server?: PostgresServer
  /** Replaces the URL that the replica at a place gets. */
  store?: (url: string, place: number) => string
  env?: Readonly<Record<string, string>>
  flags?: readonly string[]
}

type OnEnd = (clean: () => Promise<void>) => void

export async function openTeam(onEnd: OnEnd, options: TeamOptions): Promise<Team> {
  const postgres = options.server ?? (await startPostgres(options.postgres))
  if (options.server === undefined) onEnd(() => postgres.discard())
  const proxy: RoundRobin = await startRoundRobin()
  onEnd(() => proxy.close())
  const yard = await openYard(onEnd, options.yard ?? workshop)
  const replicas: (TestServer | null)[] = Array(options.replicas).fill(null)
  const ended: TestServer[] = []
  const storeUrl = (place: number): string => options.store?.(postgres.url, place) ?? postgres.url
  const env = { ...operatorEnv, QUARTERDECK_ALLOWED_HOSTS: new URL(proxy.url).host, ...options.env }
  const flags = ['--log-level', 'warn', ...(options.flags ?? [])]

  async function start(place: number): Promise<void> {
    const before = replicas[place]
    if (before != null) ended.push(before)
    replicas[place] = await yard.start({
      env: { ...env, QUARTERDECK_STORE: storeUrl(place) },
      flags,
      dataDir: join(yard.directory, `data-${place}`),
    })
    // A dead one stays in the list, as it would in the list of a proxy.
    proxy.set(replicas.flatMap((replica) => replica?.port ?? []))
  }
  await Promise.all(replicas.map((_, place) => start(place)))

  return {
    url: proxy.url,
    directory: yard.directory,
    postgres,
    storeUrl: () => storeUrl(0),
    replicas,
    start,
    ledger() {
      const lines = readLines(join(yard.directory, 'ledger'))
      return lines.map((line) => {
        const [call = '', session = '', pid = ''] = line.split(' ')
        return { call, session, pid: Number(pid) }
      })
    },
    begun: () => readLines(join(yard.directory, 'begun')).map(Number),
    errors: () =>
      [...ended, ...replicas].flatMap((replica) =>
        (replica?.log() ?? '').split('\n').filter((line) => line.includes('"level":"error"')),
      ),
  }
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}
