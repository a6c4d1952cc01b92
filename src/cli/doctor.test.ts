import { chmod, mkdir, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../domain/clock.ts'
import { lockDataDir } from '../store/sqlite/data-dir-lock.ts'
import { checkClock, checkDataDir, checkNode } from './doctor-checks.ts'
import { main } from './main.ts'
import { startFakeServer } from './testing/fake-server.ts'
import { tempFolder } from './testing/temp-folder.ts'
import { createTestIo } from './testing/test-io.ts'

async function doctor(cwd: string, ...args: string[]) {
  const io = createTestIo({ cwd, clock: createSystemClock() })
  const exitCode = await main(['doctor', ...args], io)
  return { exitCode, out: io.printed() }
}

const writeAgent = (cwd: string, model: string): Promise<void> =>
  writeFile(join(cwd, 'agent.yaml'), `name: crow\nmodel: ${model}\ninstructions: { inline: You repeat. }\n`)

describe('quarterdeck doctor', () => {
  test('finds everything well with the demo agent', async () => {
    const cwd = await tempFolder()

    const { exitCode, out } = await doctor(cwd, '--port', '0')

    expect(exitCode).toBe(0)
    expect(out.replace(/24\.\S+|\d+ ms|[\d.]+ GB|\d{4}-\S+Z/g, 'N')).toBe(
      `ok    Node    N
ok    Config  agent assistant
ok    Key     assistant: demo needs none
ok    Model   assistant (demo/demo) answers (N)
ok    Port    any free one
ok    Data    ${join(cwd, '.quarterdeck')} will be made at the first start
ok    Disk    N free
ok    Clock   N
`,
    )
  })

  test('a missing key fails with the variable to set', async () => {
    const cwd = await tempFolder()
    await writeAgent(cwd, '{ provider: openai, name: gpt-x }')

    const { exitCode, out } = await doctor(cwd, '--port', '0')

    expect(exitCode).toBe(1)
    expect(out).toMatch(/^fail {2}Key +crow \(openai\/gpt-x\): .*OPENAI_API_KEY.*\n +→ .+\.env.+$/m)
  })

  test('a wrong key and a server that is down are told apart', async () => {
    const cwd = await tempFolder()
    const server = await startFakeServer((_, response) => {
      const error = { message: 'no', code: 'invalid_api_key' }
      response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
    })
    await writeAgent(cwd, `{ provider: openai, name: gpt-x, base_url: "${server.url}/v1", api_key: bad, retries: 0 }`)
    const failing = async () => {
      const { exitCode, out } = await doctor(cwd, '--port', '0')
      expect(exitCode).toBe(1)
      return /^fail {2}(\w+).*\n +→ (.+)$/m.exec(out)?.slice(1)
    }

    expect(await failing()).toEqual(['Key', 'Make a new key at the provider and set it in the environment or in .env.'])
    await server.close()
    expect(await failing()).toEqual([
      'Model',
      'Start the model server, or correct model.base_url; behind a proxy check its settings.',
    ])
  })

  test('a file with mistakes is quoted with its lines, and the machine is looked at all the same', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'agent.yaml'), 'name: crow\nmodel: { provider: demo }\n')

    const { exitCode, out } = await doctor(cwd, '--json')

    const result = JSON.parse(out)
    expect([exitCode, result.ok]).toEqual([1, false])
    expect(result.checks.map(({ name, status }: { name: string; status: string }) => [name, status])).toEqual([
      ['Node', 'ok'],
      ['Config', 'fail'],
      ['Disk', expect.any(String)],
      ['Clock', 'ok'],
    ])
    expect(result.checks[1].detail).toMatch(/agent\.yaml:\d+:\d+ instructions: /)
  })

  test('a port that somebody else has fails, one that a Quarterdeck has is a warning', async () => {
    const cwd = await tempFolder()
    const other = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    const address = other.address()
    const taken = typeof address === 'object' && address !== null ? address.port : 0
    const ours = await startFakeServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"healthy","agent_ready":true}')
    })
    onTestFinished(() => ours.close())

    expect(await doctor(cwd, '--port', String(taken))).toMatchObject({
      exitCode: 1,
      out: expect.stringMatching(
        new RegExp(`fail {2}Port +Port ${taken} on 127\\.0\\.0\\.1 is in use by .+\\n +→ This one is free`),
      ),
    })
    expect(await doctor(cwd, '--port', new URL(ours.url).port)).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining(`warn  Port    A Quarterdeck runs on port ${new URL(ours.url).port} already`),
    })
  })
})

describe('the checks', () => {
  test('Node before 24 is too old', () => {
    expect([checkNode('24.0.0').status, checkNode('26.1.0').status, checkNode('20.20.2')]).toEqual([
      'ok',
      'ok',
      { name: 'Node', status: 'fail', detail: '20.20.2 is too old', mend: 'Install Node 24: https://nodejs.org' },
    ])
  })

  test('a data directory may be free, in use, open to others, or no folder', async () => {
    const folder = await tempFolder()
    const dataDir = join(folder, 'data')
    await mkdir(dataDir, { mode: 0o700 })
    await writeFile(join(folder, 'file'), '')

    expect(await checkDataDir(dataDir)).toEqual({
      name: 'Data',
      status: 'ok',
      detail: `${dataDir} is writable and free`,
    })
    const lock = lockDataDir(dataDir)
    expect(await checkDataDir(dataDir)).toMatchObject({
      status: 'warn',
      detail: `${dataDir} is in use by a running server`,
    })
    lock.release()
    await chmod(dataDir, 0o755)
    expect(await checkDataDir(dataDir)).toMatchObject({
      status: 'warn',
      mend: `It holds conversations and tokens: chmod 700 ${dataDir}`,
    })
    expect(await checkDataDir(join(folder, 'file'))).toMatchObject({
      status: 'fail',
      detail: `${join(folder, 'file')} is no folder`,
    })
  })

  test('a clock that is behind is noticed', async () => {
    const folder = await tempFolder()
    const now = Date.UTC(2026, 10, 15)
    await writeFile(join(folder, 'quarterdeck.db'), '')
    await utimes(join(folder, 'quarterdeck.db'), now / 1000 + 3600, now / 1000 + 3600)

    expect((await checkClock(now + 3_600_000, folder)).status).toBe('ok')
    expect((await checkClock(now, folder)).status).toBe('warn')
    expect((await checkClock(0, folder)).status).toBe('fail')
  })
})
