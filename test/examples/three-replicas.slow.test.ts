// The servers of the compose file as processes on a real Postgres, with the environment, command and health check that stand in it. No test
// runs a container engine.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { createClient } from '../../src/client/client.ts'
import { findPostgres, NO_POSTGRES } from '../postgres/find-postgres.ts'
import { startPostgres } from '../postgres/server.ts'
import { askOnce } from '../postgres/test-database.ts'
import { type CopiedExample, copyExample, freePort } from './copied-example.ts'

const hasPostgres = findPostgres() !== null
if (!hasPostgres) process.stdout.write(`SKIPPED: examples/three-replicas. ${NO_POSTGRES}\n`)

interface Service {
  command: string[]
  environment: Record<string, string>
  healthcheck: { test: string[] }
}

/** The variables that the README writes into .env, for clients of this machine. */
async function makeSecrets({ folder, run }: CopiedExample): Promise<Record<string, string>> {
  const [, commands = ''] =
    /```sh\n(umask[\s\S]*?> \.env\n)/.exec(readFileSync(join(folder, 'README.md'), 'utf8')) ?? []
  await run('sh', ['-c', commands.replace('SITE localhost', 'SITE 127.0.0.1')])
  const lines = readFileSync(join(folder, '.env'), 'utf8').trim().split('\n')
  return Object.fromEntries(lines.map((line) => line.split('=')))
}

/** `${NAME}`, `${NAME:-default}` and `${NAME:?complaint}`, as Compose reads them. */
const fill = (text: string, secrets: Record<string, string>): string =>
  text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, sign?: string, word?: string) =>
    String(secrets[name] ?? (sign === '-' ? word : expect.fail(`${name} is not set`))),
  )

test.skipIf(!hasPostgres)(
  'three-replicas answer for each other, and go on with the run of one that is killed',
  async () => {
    const example = await copyExample('three-replicas')
    const secrets = await makeSecrets(example)
    const compose = fill(readFileSync(join(example.folder, 'compose.yaml'), 'utf8'), secrets)
    const services: Record<string, Service> = parse(compose, { merge: true }).services
    const database = await startPostgres()
    onTestFinished(() => database.discard())
    const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = services.postgres?.environment ?? {}
    await askOnce(database.url, `CREATE ROLE ${POSTGRES_USER} LOGIN PASSWORD '${POSTGRES_PASSWORD}'`)
    await askOnce(database.url, `CREATE DATABASE ${POSTGRES_DB} OWNER ${POSTGRES_USER}`)

    async function startReplica(name: string) {
      const { command, environment, healthcheck } = services[name] ?? expect.fail(`there is no ${name}`)
      expect(command.slice(0, 2)).toEqual(['quarterdeck', 'serve'])
      const port = String(await freePort())
      const own = (path = '') => path.replace('/tmp', join(example.folder, name))
      const { HOME, QUARTERDECK_DATA_DIR, QUARTERDECK_CONFIG_DIR, QUARTERDECK_STORE = '' } = environment
      const store = new URL(QUARTERDECK_STORE)
      store.host = new URL(database.url).host
      const server = await example.start({
        env: {
          ...secrets,
          ...environment,
          HOME: own(HOME),
          QUARTERDECK_CONFIG_DIR: own(QUARTERDECK_CONFIG_DIR),
          QUARTERDECK_STORE: store.href,
        },
        dataDir: own(QUARTERDECK_DATA_DIR),
        flags: ['--port', port, ...command.slice(2)],
      })
      const [, program = '', ...args] = healthcheck.test.map((word) => word.replace('8000', port))
      await promisify(execFile)(program, args)
      return { ...server, client: createClient({ url: server.url, token: secrets.QUARTERDECK_TOKEN ?? '' }) }
    }
    const names = Object.keys(services).filter((name) => name.startsWith('quarterdeck-'))
    const [first, second, third] = await Promise.all(names.map(startReplica))
    if (first === undefined || second === undefined || third === undefined) expect.fail(`only ${names} are there`)

    const refused = await fetch(`${third.url}/chat`, { method: 'POST', body: '{}' })
    expect(refused.status).toBe(401)
    const { content, session_id } = await first.client.chat('assistant', 'count 3')
    expect(content).toContain('1, 2, 3.')
    expect((await second.client.chat('assistant', 'remember', { session: session_id })).content).toContain('count 3')

    const { run_id } = await first.client.send('long', 'count 400')
    const pieces: string[] = []
    for await (const { event } of second.client.events({ run: run_id })) {
      if (event.type !== 'TEXT_MESSAGE_CONTENT') continue
      if (pieces.length === 0) await first.kill()
      pieces.push(event.delta)
    }
    const { status, answer } = await third.client.run(run_id)
    expect(status).toBe('completed')
    expect(answer).toMatch(/\b399, 400\./)
  },
)
