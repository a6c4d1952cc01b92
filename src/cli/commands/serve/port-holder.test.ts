import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findPortHolder } from './port-holder.ts'

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
  test('names the process that listens, not one that merely talks through the port', async () => {
    const proc = await makeProc(
      { tcp: row('0100007F:1F40', '01', 11) + row('0100007F:1F40', '0A', 12), tcp6: '' },
      {
        '100': { inode: 11, command: 'curl\0http://127.0.0.1:8000\0' },
        '200': { inode: 12, command: 'node\0other.js\0' },
      },
    )

    expect(await findPortHolder(8000, proc)).toEqual({ pid: 200, command: 'node other.js' })
  })

  test('looks at IPv6 too and keeps a hostile command line on one line', async () => {
    const proc = await makeProc(
      { tcp6: row('00000000000000000000000000000000:0050', '0A', 5) },
      { '9': { inode: 5, command: `evil\0\x1b[2J\nsecond\0${'x'.repeat(200)}` } },
    )

    const holder = await findPortHolder(80, proc)
    expect(holder).toEqual({ pid: 9, command: `evil \\u{1b}[2J second ${'x'.repeat(57)}…` })
  })

  test('is silent about what it cannot see', async () => {
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
