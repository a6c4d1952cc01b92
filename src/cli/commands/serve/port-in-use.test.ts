import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ServerError } from '../../../domain/errors.ts'
import { findFreePort, findPortHolder, isPortInUse, portInUse, takenHost } from './port-in-use.ts'

async function takePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

describe('a port in use', () => {
  test('is recognised inside one of our errors', () => {
    const cause = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' })

    expect(isPortInUse(cause)).toBe(true)
    expect(isPortInUse(new ServerError('config_invalid', 'Port 8000 is in use.', { cause }))).toBe(true)
    expect(isPortInUse(new ServerError('config_invalid', 'No such address.'))).toBe(false)
    expect(isPortInUse('EADDRINUSE')).toBe(false)
  })

  test('names the process and a free port', async () => {
    const port = await takePort()

    const error = await portInUse(['127.0.0.1'], port, async () => ({ pid: 7, command: 'node other.js' }))

    expect([error.exitCode, error.message]).toEqual([
      69,
      `Port ${port} on 127.0.0.1 is in use by node other.js (pid 7).`,
    ])
    expect(error.mend).toEqual([expect.stringMatching(/^This port is free: --port \d+$/)])
  })

  test('works if the process cannot be seen or no port is free', async () => {
    const error = await portInUse(['127.0.0.1'], 65_535, async () => null)

    expect([error.message, error.mend]).toEqual([
      'Port 65535 on 127.0.0.1 is in use by another process.',
      ['Let the system choose a port: --port 0'],
    ])
  })
})

describe('free ports', () => {
  test('a port that is listened on is not free', async () => {
    expect(await takenHost(['127.0.0.1'], await takePort())).toBe('127.0.0.1')
    expect(await takenHost(['127.0.0.2', '127.0.0.1'], await takePort())).toBe('127.0.0.1')
  })

  test('finds a higher port that can be listened on', async () => {
    const taken = await takePort()
    // No machine has the second address: it is reserved for examples.
    const free = await findFreePort(['127.0.0.1', '2001:db8::1'], taken)

    expect(free).toBeGreaterThan(taken)
    expect(await takenHost(['127.0.0.1'], free ?? 0)).toBeNull()
  })

  test('there is none after the last port', async () => {
    expect(await findFreePort(['127.0.0.1'], 65_535)).toBeNull()
  })
})

const HEADER = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n'

/** A /proc with these sockets and processes. */
async function makeProc(tables: Record<string, string>, processes: Record<string, { inode: number; command: string }>) {
  const proc = await mkdtemp(join(tmpdir(), 'quarterdeck-proc-'))
  onTestFinished(() => rm(proc, { recursive: true }))
  await mkdir(join(proc, 'net'))
  for (const [name, rows] of Object.entries(tables)) await writeFile(join(proc, 'net', name), HEADER + rows)
  for (const [pid, { inode, command }] of Object.entries(processes)) {
    await mkdir(join(proc, pid, 'fd'), { recursive: true })
    await symlink('/dev/null', join(proc, pid, 'fd', '0'))
    await symlink(`socket:[${inode}]`, join(proc, pid, 'fd', '7'))
    await writeFile(join(proc, pid, 'cmdline'), command)
  }
  return proc
}

const row = (local: string, state: string, inode: number): string =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0 100 0 0 10 0\n`

describe('findPortHolder', () => {
  test('names the process that listens, not one that only connects', async () => {
    const proc = await makeProc(
      { tcp: row('0100007F:1F40', '01', 11) + row('0100007F:1F40', '0A', 12), tcp6: '' },
      {
        '100': { inode: 11, command: 'curl\0http://127.0.0.1:8000\0' },
        '200': { inode: 12, command: 'node\0other.js\0' },
      },
    )

    expect(await findPortHolder(8000, proc)).toEqual({ pid: 200, command: 'node other.js' })
  })

  test('also reads IPv6, and keeps a hostile command line on one line', async () => {
    const proc = await makeProc(
      { tcp6: row('00000000000000000000000000000000:0050', '0A', 5) },
      { '9': { inode: 5, command: `evil\0\x1b[2J\nsecond\0${'x'.repeat(200)}` } },
    )

    const holder = await findPortHolder(80, proc)
    expect(holder).toEqual({ pid: 9, command: `evil <U+001B>[2J second ${'x'.repeat(55)}…` })
  })

  test('finds nothing if it cannot see the process', async () => {
    const proc = await makeProc({ tcp: row('0100007F:1F40', '0A', 12) }, {})

    expect(await findPortHolder(8000, proc)).toBeNull()
    expect(await findPortHolder(8000, join(proc, 'nowhere'))).toBeNull()
  })

  test.runIf(process.platform === 'linux')('finds this very process', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0

    expect(await findPortHolder(port)).toMatchObject({ pid: process.pid })
  })
})
