// Backups of a server that is busy, and commands that are killed or run out of disk.
//
//   ROUNDS=50 vitest run test/crash/backup.slow.test.ts      the long variant

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { mountSmallDisk } from './support/broken-machine.ts'
import { fromEnvironment, print } from './support/figures.ts'
import { openYard, type Yard } from './support/start-server.ts'

const KILLS = fromEnvironment('ROUNDS', 6)

interface Ran {
  code: number | null
  signal: NodeJS.Signals | null
  out: string
  err: string
  ms: number
}

/** Runs the program, and kills it after `killMs`. */
function runProgram({ directory }: Yard, args: readonly string[], killMs: number | null = null): Promise<Ran> {
  const program = inject('program')
  const began = performance.now()
  const child = spawn(process.execPath, [program, ...args], {
    cwd: directory,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      XDG_CACHE_HOME: join(dirname(program), '../cache'),
      QUARTERDECK_CONFIG_DIR: join(directory, 'config'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const timer = killMs === null ? undefined : setTimeout(() => child.kill('SIGKILL'), killMs)
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ code, signal, out, err, ms: performance.now() - began })
    })
  })
}

/** Sends messages with files, each in a session of its own, until it is stopped. */
function sendWithoutEnd(url: string, client: number) {
  const acknowledged: string[] = []
  let isStopped = false
  let failure: unknown = null
  const send = async (): Promise<void> => {
    for (let n = 0; !isStopped; n += 1) {
      const message = `message ${client}-${n}.`
      const content = Buffer.from(randomBytes(20_000).toString('hex')).toString('base64')
      const files = [{ content, mime_type: 'text/plain', filename: `${n}.txt` }]
      const response = await post(`${url}/sessions/client-${client}-${n}/messages`, { message, files })
      if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`)
      acknowledged.push(message)
    }
  }
  const done = send().catch((error: unknown) => {
    failure = error
  })
  return {
    acknowledged,
    async until(count: number): Promise<void> {
      while (acknowledged.length < count) {
        if (failure !== null) throw failure
        await new Promise((next) => setTimeout(next, 20))
      }
    },
    async stop(): Promise<void> {
      isStopped = true
      await done
      if (failure !== null) throw failure
    },
  }
}

const post = (url: string, body: object): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })

test('a backup under load has every acknowledged message and its file', { timeout: 180_000 }, async () => {
  const yard = await openYard(onTestFinished, {})
  const server = await yard.start({ flags: ['--log-level', 'error'] })
  const clients = [1, 2, 3].map((client) => sendWithoutEnd(server.url, client))
  await Promise.all(clients.map((client) => client.until(5)))

  const rounds = [1, 2, 3]
  const known: string[][] = []
  for (const round of rounds) {
    known.push(clients.flatMap(({ acknowledged }) => [...acknowledged]))
    const { code, err } = await runProgram(yard, ['backup', `kept-${round}`, '--data-dir', yard.dataDir])
    expect([code, err]).toEqual([0, expect.stringMatching(/^Not in it/)])
  }
  await Promise.all(clients.map(({ stop }) => stop()))
  await server.kill()

  for (const [i, round] of rounds.entries()) {
    expect(await runProgram(yard, ['restore', `kept-${round}`, '--data-dir', `back-${round}`])).toMatchObject({
      code: 0,
    })
    const { code, out } = await runProgram(yard, ['sessions', 'export', '--data-dir', `back-${round}`])
    expect(code).toBe(0)
    expect((known[i] ?? []).filter((text) => !out.includes(text))).toEqual([])
  }
  const last = known.at(-1) ?? []
  print(`backup under load: ${last.length} acknowledged messages with files, none missing in ${rounds.length} backups`)

  const again = await yard.start({ dataDir: join(yard.directory, 'back-3'), flags: ['--log-level', 'error'] })
  const answer = await post(`${again.url}/sessions/client-1-0/messages`, { message: 'Hello again' })
  expect(answer.status).toBe(202)
})

test('a backup or restore that is killed leaves nothing half', { timeout: 300_000 }, async () => {
  const yard = await openYard(onTestFinished, {})
  const server = await yard.start({ flags: ['--log-level', 'error'] })
  const client = sendWithoutEnd(server.url, 1)
  await client.until(150)
  await client.stop()
  await server.kill()
  const back = ['backup', 'kept', '--data-dir', yard.dataDir]
  const restore = ['restore', 'whole', '--data-dir', 'back']

  const { ms: backupMs, code } = await runProgram(yard, ['backup', 'whole', '--data-dir', yard.dataDir])
  expect(code).toBe(0)
  const { ms: restoreMs } = await runProgram(yard, ['restore', 'whole', '--data-dir', 'try'])
  let halves = 0
  for (const [args, ms, made, half] of [
    [back, backupMs, 'kept', 'kept.partial'],
    [restore, restoreMs, 'back', 'back.restoring'],
  ] as const) {
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await runProgram(yard, args, (ms * kill) / (KILLS + 1))
      if (existsSync(join(yard.directory, half))) halves += 1
      const path = join(yard.directory, made)
      if (!existsSync(path)) continue
      // It was killed after the rename.
      const check =
        made === 'kept' ? ['restore', 'kept', '--data-dir', 'checked'] : ['backup', 'checked', '--data-dir', 'back']
      expect(await runProgram(yard, check)).toMatchObject({ code: 0 })
      await rm(join(yard.directory, 'checked'), { recursive: true })
      await rm(path, { recursive: true })
    }
    expect(await runProgram(yard, args)).toMatchObject({ code: 0 })
    expect(existsSync(join(yard.directory, half))).toBe(false)
  }
  const files = async (folder: string) =>
    (await readdir(join(yard.directory, folder), { recursive: true })).filter((name) => !name.startsWith('server.lock'))
  expect((await files('back')).toSorted()).toEqual((await files('try')).toSorted())
  print(`kill -9: ${2 * KILLS} times, ${halves} of them in the middle; no half backup, no half data directory`)
})

test('a full disk: code 74, and nothing half', { timeout: 120_000 }, async ({ skip }) => {
  const yard = await openYard(onTestFinished, {})
  const disk = await mountSmallDisk(yard, onTestFinished, 4_000_000)
  if (disk === null) {
    print('backup on a full disk: skipped, no tmpfs can be mounted here')
    return skip()
  }
  const server = await yard.start({ flags: ['--log-level', 'error'] })
  const client = sendWithoutEnd(server.url, 1)
  await client.until(120)
  await client.stop()
  await server.kill()
  const place = dirname(disk.dataDir)
  await rm(disk.dataDir, { recursive: true })

  for (const leave of [100_000, 3_000_000]) {
    await disk.fill(leave)
    expect(await runProgram(yard, ['backup', join(place, 'kept'), '--data-dir', yard.dataDir])).toMatchObject({
      code: 74,
      out: '',
    })
    expect(await readdir(place)).toEqual(['filler'])
    await disk.free()
  }
  expect(await runProgram(yard, ['backup', 'kept', '--data-dir', yard.dataDir])).toMatchObject({ code: 0 })
  await mkdir(join(place, 'data'))
  expect(await runProgram(yard, ['restore', 'kept', '--data-dir', join(place, 'data')])).toMatchObject({
    code: 74,
    out: '',
  })
  expect(await readdir(place, { recursive: true })).toEqual(['data'])
})
