import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { collectLines, createManualClock, type LogLine } from './server.fixture.ts'
import { openTokenFile, type TokenFileOptions } from './token-file.ts'

function setUp() {
  const dataDir = mkdtempSync(join(tmpdir(), 'quarterdeck-tokens-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  const clock = createManualClock()
  const lines: LogLine[] = []
  const open = (more: Partial<TokenFileOptions> = {}) =>
    openTokenFile({ dataDir, clock, log: collectLines(lines), ...more })
  const write = (text: string) => writeFileSync(join(dataDir, 'tokens.json'), text, { mode: 0o600 })
  return { dataDir, clock, lines, open, write }
}

describe('token file', () => {
  test('the first start makes two tokens of 256 bits that only the user of the server can read', () => {
    const { open, dataDir } = setUp()

    const file = open()

    expect(file.created).toBe(true)
    expect(file.tokens()).toEqual([
      { token: expect.stringMatching(/^qd_[\w-]{43}$/), user: 'local_user', role: 'user' },
      { token: expect.stringMatching(/^qd_[\w-]{43}$/), user: 'local_user', role: 'operator' },
    ])
    expect(statSync(file.path).mode & 0o777).toBe(0o600)
    expect(readdirSync(dataDir)).toEqual(['tokens.json'])
  })

  test('the next start keeps them', () => {
    const { open } = setUp()
    const first = open()

    const second = open()

    expect(second.created).toBe(false)
    expect(second.tokens()).toEqual(first.tokens())
  })

  test('tokens of the settings replace those of the file, and named users come beside them', () => {
    const { open } = setUp()
    const bob = { token: 'token-of-bob-here', user: 'bob', role: 'user' } as const

    const file = open({ userToken: 'user-from-settings', operatorToken: 'operator-from-settings', tokens: [bob] })

    expect(file.tokens()).toEqual([
      { token: 'user-from-settings', user: 'local_user', role: 'user' },
      { token: 'operator-from-settings', user: 'local_user', role: 'operator' },
      bob,
    ])
  })

  test('a rotated token counts within a second, and the table is the same object until then', () => {
    const { open, write, clock } = setUp()
    const file = open()
    const before = file.tokens()

    write('{"token": "a-new-token-for-the-user"}')
    clock.advance(999)
    expect(file.tokens()).toBe(before)
    clock.advance(1)
    expect(file.tokens()).toEqual([{ token: 'a-new-token-for-the-user', user: 'local_user', role: 'user' }])
  })

  test('a file that was broken or removed leaves no token valid until it is repaired', () => {
    const { open, write, clock, lines } = setUp()
    const file = open()
    const original = readFileSync(file.path, 'utf8')
    const tokens = file.tokens()

    write('{"token": "half a fi')
    clock.advance(1_000)
    expect(file.tokens()).toEqual([])
    expect(JSON.stringify(lines)).not.toContain('half a fi')
    expect(lines.at(-1)).toMatchObject({ level: 'error', path: file.path })
    rmSync(file.path)
    clock.advance(1_000)
    expect(file.tokens()).toEqual([])
    write(original)
    clock.advance(1_000)
    expect(file.tokens()).toEqual(tokens)
  })

  test.each([
    ['[]', 'must hold one JSON object'],
    ['{"tokn": "x"}', 'the key "tokn" is unknown'],
    ['{"token": 7}', '"token" must be a string'],
    ['{"operator_token": null}', '"operator_token" must be a string'],
    ['{"tokens": [{"token": "token-of-somebody", "user": "x", "role": "admin"}]}', '"tokens" must be a list'],
    ['{"token": "the-same-for-both", "operator_token": "the-same-for-both"}', 'Two tokens are the same'],
  ])('a start with %s says what is wrong', (text, message) => {
    const { open, write } = setUp()
    write(text)

    expect(() => open()).toThrow(message)
  })

  test.skipIf(process.platform === 'win32')(
    'a file that others can read is refused with the command that helps',
    () => {
      const { open } = setUp()
      const { path } = open()
      chmodSync(path, 0o640)

      expect(() => open()).toThrow(`other users can read it; run: chmod 600 ${path}`)
    },
  )

  test('a folder that does not exist is named', () => {
    const { open, dataDir } = setUp()

    expect(() => open({ dataDir: join(dataDir, 'nowhere') })).toThrow('check that the data folder exists')
  })
})
