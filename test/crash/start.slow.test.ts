// The order of a start: the port answers 503 before the store is open. A damaged database ends the start. Damage that is found later
// ends nothing.
//
//   RUNS=2000 vitest run test/crash/start.slow.test.ts      the long variant

import { spawnSync } from 'node:child_process'
import { open, readFile, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../src/http/testing/free-port.ts'
import type { ScriptedAnswer } from '../../src/models/scripted/script.ts'
import { fromEnvironment, ms, print } from './support/figures.ts'
import { seedLog } from './support/seed-log.ts'
import { record } from './support/sse-recorder.ts'
import { DidNotStart, openYard } from './support/start-server.ts'
import { until } from './support/until.ts'

const RUNS = fromEnvironment('RUNS', 150)
const hasSqlite = spawnSync('sqlite3', ['--version']).status === 0
const quiet = ['--log-level', 'error']

/** `refused`, or the status and whether there is a Retry-After. */
async function ask(url: string): Promise<string> {
  try {
    const { status, headers, body } = await fetch(url, { signal: AbortSignal.timeout(30_000) })
    await body?.cancel()
    return `${status}${headers.has('retry-after') ? ' later' : ''}`
  } catch {
    return 'refused'
  }
}

test('requests during the recovery of a server are told to come back later', { timeout: 300_000 }, async () => {
  const answers: ScriptedAnswer[] = [{ parts: [{ text: 'tok ' }, { hang: true }] }]
  const yard = await openYard(onTestFinished, { answers })
  const first = await yard.start({ flags: quiet })
  for (let i = 0; i < RUNS; i += 1) {
    const { status } = await record({
      url: `${first.url}/sessions/s${i}/messages`,
      method: 'POST',
      body: { message: 'Go.' },
    }).done
    expect(status).toBe(202)
  }
  await first.kill()

  const port = await freePort()
  const afterwards = { '/sessions': '200', '/ready': '200', '/health': '200', '/nowhere': '404' }
  const paths = Object.keys(afterwards)
  async function startAndAsk() {
    const heard = new Map<string, string[]>(paths.map((path) => [path, []]))
    let isReady = false
    async function askOn(path: string): Promise<void> {
      while (!isReady) {
        const answer = await ask(`http://127.0.0.1:${port}${path}`)
        if (heard.get(path)?.at(-1) !== answer) heard.get(path)?.push(answer)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    // It says that the server is alive, and must not say so before the server can be used.
    let early = 0
    async function pingOn(): Promise<void> {
      while (!isReady) {
        const ping = await ask(`http://127.0.0.1:${port}/ping`)
        if (ping === '200' && (await ask(`http://127.0.0.1:${port}/ready`)) === '503 later') early += 1
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    const asking = [...paths.map(askOn), pingOn()]
    const server = await yard.start({ flags: [...quiet, '--port', String(port)] })
    isReady = true
    await Promise.all(asking)
    return { server, heard, early }
  }
  let { server, heard, early } = await startAndAsk()
  // A machine that does much else may not have let us ask in so short a time.
  for (let i = 0; i < 5 && ![...heard.values()].every((answers) => answers.includes('503 later')); i += 1) {
    await server.kill()
    ;({ server, heard, early } = await startAndAsk())
  }

  expect(early).toBe(0)
  print(`start: ${RUNS} runs recovered in ${ms(server.readyMs)}; heard meanwhile: ${JSON.stringify([...heard])}`)
  for (const [path, status] of Object.entries(afterwards)) {
    const answers = heard.get(path) ?? []
    // The last one may have come too late to be told that the server is ready.
    expect([...answers.slice(0, 2), status]).toEqual(['refused', '503 later', status])
    expect([[], [status]]).toContainEqual(answers.slice(2))
  }
})

test('a damaged database ends the start with 65 and is named', async () => {
  const yard = await openYard(onTestFinished)
  await (await yard.start({ flags: quiet })).kill()
  const path = join(yard.dataDir, 'quarterdeck.db')
  await truncate(path, 3 * 4096)

  const failure: unknown = await yard.start({ flags: quiet }).catch((error: unknown) => error)

  if (!(failure instanceof DidNotStart)) throw new Error('it started on a damaged database')
  expect(failure.exit.code).toBe(65)
  expect(failure.exit.log).toMatch(
    /^quarterdeck: The database is damaged: \S+quarterdeck\.db \(.+\)\. Restore it: .+\n {2}More: .+ explain data_dir_damaged\n$/,
  )
})

test('damage that recovery finds ends the start too', async () => {
  const yard = await openYard(onTestFinished)
  // So large that the check at the start reads only its ends.
  await seedLog(yard.dataDir, 150_000)
  const path = join(yard.dataDir, 'quarterdeck.db')
  const db = new DatabaseSync(path, { readOnly: true })
  const root = Number(db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'runs_open'").get()?.rootpage)
  db.close()
  const file = await open(path, 'r+')
  await file.write(Buffer.alloc(4096, 0x5a), 0, 4096, 4096 * (root - 1))
  await file.close()

  const failure: unknown = await yard.start({ flags: quiet }).catch((error: unknown) => error)

  if (!(failure instanceof DidNotStart)) throw new Error('it started on a damaged database')
  expect(failure.exit.code).toBe(65)
  expect(failure.exit.log).toMatch(
    /^quarterdeck: The database is damaged: \S+quarterdeck\.db \(.+\)\. Restore it: .+\n {2}More: .+ explain data_dir_damaged\n$/,
  )
})

test.skipIf(!hasSqlite)('readable data can be saved as the docs say (needs sqlite3)', async () => {
  const yard = await openYard(onTestFinished)
  await seedLog(yard.dataDir, 20_000)
  const path = join(yard.dataDir, 'quarterdeck.db')
  const { size } = await stat(path)
  const file = await open(path, 'r+')
  await file.write(Buffer.alloc(4096, 0x5a), 0, 4096, 4096 * Math.floor(size / 4096 / 2))
  await file.close()
  await expect(yard.start({ flags: quiet })).rejects.toThrow('The database is damaged')
  const docs = await readFile(new URL('../../docs/do/find-out-what-is-wrong.md', import.meta.url), 'utf8')
  const recipe = /^umask 077\n[^`]+/m.exec(docs)?.[0] ?? ''

  const { stderr } = spawnSync('sh', ['-c', recipe], { cwd: yard.dataDir, encoding: 'utf8' })

  const server = await yard.start({ flags: quiet })
  const { body } = await record({ url: `${server.url}/sessions?limit=100` }).done
  const saved = body.match(/"session_id"/g)?.length ?? 0
  print(`damage: ${saved} of 20 sessions saved ${stderr.slice(0, 200)}`)
  expect(saved).toBe(20)
})

test('damage that is found later is answered with 503 and ends nothing', async () => {
  const yard = await openYard(onTestFinished)
  await seedLog(yard.dataDir, 300_000)
  const path = join(yard.dataDir, 'quarterdeck.db')
  const server = await yard.start({ flags: quiet })
  expect(await ask(`${server.url}/health`)).toBe('200')
  const { body } = await record({ url: `${server.url}/sessions?limit=100` }).done
  const ids = [...body.matchAll(/"session_id":"([^"]+)"/g)].map((match) => match[1] ?? '')

  const { size } = await stat(path)
  const file = await open(path, 'r+')
  await file.write(Buffer.alloc(size / 2, 0x5a), 0, size / 2, Math.floor(size / 4))
  await file.close()
  const statuses: string[] = []
  for (const id of ids) statuses.push(await ask(`${server.url}/sessions/${id}`))
  for (const id of ids) statuses.push(await ask(`${server.url}/sessions/${id}/events?after=0`))
  // The search index has read the messages, so they may still be in memory. The events are too many for that.
  for (const id of ids) statuses.push(await ask(`${server.url}/sessions/${id}/log?limit=1000`))

  const posted = await record({ url: `${server.url}/sessions/new/messages`, method: 'POST', body: { message: 'Hi' } })
    .done
  await until('health says so', async () => (await ask(`${server.url}/health`)) === '503')

  expect(new Set(statuses)).toEqual(new Set(['200', '503 later']))
  expect([posted.status, JSON.parse(posted.body).code]).toEqual([503, 'storage_failed'])
  expect(await ask(`${server.url}/ready`)).toBe('503')
  expect(server.log().match(/the database is damaged/g)).toHaveLength(1)
  expect(server.log()).toContain(`"path":"${path}"`)
  const refused = statuses.filter((status) => status !== '200').length
  print(
    `damage: ${refused} of ${statuses.length} reads answered with 503, the rest served, nothing stored, one line in the log`,
  )
  server.signal('SIGTERM')
  expect(await server.exited).toMatchObject({ code: 0, signal: null })
})
