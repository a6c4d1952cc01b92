import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../../domain/clock.ts'
import { type FindServerOptions, findServer, openLogFile, serverEnvironment } from './mcp.ts'

function setUp(more: Partial<FindServerOptions> = {}) {
  const said: string[] = []
  const started: string[] = []
  const find = () =>
    findServer({
      dataDir: '/data',
      readAddress: () => (started.length === 0 ? null : 'http://127.0.0.1:1234'),
      isReady: async () => true,
      start: (logFile) => started.push(logFile),
      clock: createSystemClock(),
      say: (text) => said.push(text),
      ...more,
    })
  return { find, said, started }
}

test('a server that runs is used', async () => {
  const { find, said, started } = setUp({ readAddress: () => 'http://127.0.0.1:8000' })

  expect([await find(), said, started]).toEqual(['http://127.0.0.1:8000', [], []])
})

test('otherwise one is started, and its address is used when it is ready', async () => {
  const { find, said, started } = setUp()

  expect([await find(), started]).toEqual(['http://127.0.0.1:1234', [join('/data', 'server.log')]])
  expect(said.length).toBe(2)
})

test('an old address is not used', async () => {
  let isUp = false
  const { find } = setUp({
    readAddress: () => (isUp ? 'http://127.0.0.1:2' : 'http://127.0.0.1:1'),
    isReady: async (url) => url.endsWith(':2'),
    start: () => {
      isUp = true
    },
  })

  expect(await find()).toBe('http://127.0.0.1:2')
})

test('a server that does not become ready is an error that names its log', async () => {
  const { find } = setUp({ isReady: async () => false, waitMs: 1 })

  await expect(find()).rejects.toMatchObject({ exitCode: 69, mend: [expect.stringContaining('server.log')] })
})

test('the log is for this user alone, is continued, and is never behind a link', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'server.log')
  for (const line of ['one\n', 'two\n']) {
    const { fd, close } = openLogFile(path)
    writeSync(fd, line)
    close()
  }
  writeFileSync(join(folder, 'other'), '')
  symlinkSync(join(folder, 'other'), join(folder, 'link'))

  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['one\ntwo\n', 0o600])
  expect(() => openLogFile(join(folder, 'link'))).toThrow('ELOOP')
})

test('the environment of a server has settings, and neither credentials nor the agent’s variables', () => {
  const kept = { PATH: '/bin', HOME: '/home/ada', LANG: 'C', LC_ALL: 'C', XDG_CONFIG_HOME: '/c', QUARTERDECK_PORT: '1' }
  const dropped = {
    OPENAI_API_KEY: 'sk',
    ANTHROPIC_BASE_URL: 'http://x',
    NODE_OPTIONS: '--require ./evil.js',
    LD_PRELOAD: './evil.so',
    CLAUDE_CODE: '1',
    QUARTERDECK_TOKEN: 't',
    QUARTERDECK_OPERATOR_TOKEN: 't',
    QUARTERDECK_AGENT_TOKEN: 't',
    QUARTERDECK_WORKSPACE_ROOT: '/w',
    QUARTERDECK_MCP_URL: 'http://x',
    QUARTERDECK_SESSION_ID: 's',
  }

  expect(serverEnvironment({ ...kept, ...dropped, EMPTY: undefined })).toEqual(kept)
})
