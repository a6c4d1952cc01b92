import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createManualClock } from '../../../models/testing/manual-clock.ts'
import { createPassphrase } from './passphrase.ts'
import { createRequirePassphrase, PASSPHRASE_HEADER, passphraseHeaders } from './require-passphrase.ts'

function setUp() {
  const root = mkdtempSync(join(tmpdir(), 'quarterdeck-passphrase-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'data'))
  const clock = createManualClock()
  const open = () =>
    createPassphrase({
      configDir: join(root, 'config'),
      dataDir: join(root, 'data'),
      makeFolder: (path, mode) => void mkdirSync(path, { recursive: true, mode }),
      clock,
      cost: { N: 16, r: 1, p: 1 },
    })
  return { passphrase: open(), open, clock }
}

const RIGHT = 'four words nobody guesses'
const wrong = { code: 'passphrase_wrong' }

describe('the passphrase', () => {
  test('is set once, survives a restart, and only its hash is kept, for this user alone', async () => {
    const { passphrase, open } = setUp()
    expect(passphrase.isSet()).toBe(false)
    await expect(passphrase.verify(RIGHT)).rejects.toMatchObject({ code: 'passphrase_required' })
    await passphrase.set(RIGHT)
    await open().verify(RIGHT)
    await expect(open().verify('something else')).rejects.toMatchObject(wrong)
    expect([statSync(passphrase.path).mode & 0o777, readFileSync(passphrase.path, 'utf8').includes('words')]).toEqual([
      0o600,
      false,
    ])
  })

  test('is changed only with the old one', async () => {
    const { passphrase } = setUp()
    await passphrase.set(RIGHT)
    await expect(passphrase.set('another good one')).rejects.toMatchObject({ code: 'conflict' })
    await expect(passphrase.change('not the old one', 'another good one')).rejects.toMatchObject(wrong)
    await passphrase.verify(RIGHT)
    await passphrase.change(RIGHT, 'another good one')
    await passphrase.verify('another good one')
    await expect(passphrase.verify(RIGHT)).rejects.toMatchObject(wrong)
  })

  test.each(['', 'short', '   seven7  ', 'x'.repeat(513)])('cannot be %j', async (text) => {
    const { passphrase } = setUp()
    await expect(passphrase.set(text)).rejects.toMatchObject({ code: 'invalid_request' })
    expect(passphrase.isSet()).toBe(false)
  })

  test('is the same however the keyboard writes its characters', async () => {
    const { passphrase } = setUp()
    await passphrase.set('caf\u00e9 au lait')
    await passphrase.verify(' cafe\u0301 au lait')
  })

  test('may be tried five times, then each try has to wait longer', async () => {
    const { passphrase, clock } = setUp()
    await passphrase.set(RIGHT)
    const attempt = (text: string) =>
      passphrase.verify(text).then(
        () => 'right',
        (error: { code: string; details: Record<string, unknown> }) => error.details.retry_after_seconds ?? error.code,
      )
    const results: unknown[] = []
    for (let i = 0; i < 5; i += 1) results.push(await attempt('guess'))
    results.push(await attempt(RIGHT))
    await clock.advance(1_000)
    results.push(await attempt('guess'), await attempt(RIGHT))
    await clock.advance(2_000)
    results.push(await attempt(RIGHT), await attempt('guess'), await attempt(RIGHT))
    expect(results).toEqual([
      ...Array.from({ length: 5 }, () => 'passphrase_wrong'),
      1,
      'passphrase_wrong',
      2,
      'right',
      'passphrase_wrong',
      'right',
    ])
  })

  test('cannot be guessed faster by many tries at once', async () => {
    const { passphrase } = setUp()
    await passphrase.set(RIGHT)
    const tries = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => passphrase.verify(`guess ${i}`)))
    const codes = tries.map((one) => (one.status === 'rejected' ? one.reason.code : 'right'))
    expect([codes.filter((code) => code === 'passphrase_wrong').length, codes.includes('right')]).toEqual([5, false])
  })

  test('whose file is damaged or readable by others decides nothing', async () => {
    const { passphrase } = setUp()
    await passphrase.set(RIGHT)
    chmodSync(passphrase.path, 0o644)
    await expect(passphrase.verify(RIGHT)).rejects.toMatchObject({ code: 'config_invalid' })
    chmodSync(passphrase.path, 0o600)
    writeFileSync(passphrase.path, '{"scrypt":{"N":1e9,"r":8,"p":1},"salt":"x","hash":"x"}')
    await expect(passphrase.verify(RIGHT)).rejects.toMatchObject({ code: 'config_invalid' })
    expect(() => passphrase.isSet()).toThrow(/it is damaged/)
  })
})

describe('a decision', () => {
  const request = (via: 'http' | 'ctl', headers: Record<string, string> = {}) => ({
    via,
    header: (name: string) => headers[name],
  })

  test('through the local socket needs the passphrase, over the network it does not', async () => {
    const { passphrase } = setUp()
    const require = createRequirePassphrase(passphrase)
    await require(request('http'))
    await expect(require(request('ctl'))).rejects.toThrow(/There is no passphrase yet/)
    await passphrase.set('größe 🔑 & 100%')
    await expect(require(request('ctl'))).rejects.toMatchObject({ code: 'passphrase_required' })
    await expect(require(request('ctl', { [PASSPHRASE_HEADER]: '%' }))).rejects.toMatchObject(wrong)
    await require(request('ctl', passphraseHeaders('größe 🔑 & 100%')))
  })

  test('is not possible there if the server can keep no passphrase', async () => {
    await expect(createRequirePassphrase(null)(request('ctl'))).rejects.toMatchObject({ code: 'forbidden' })
  })
})
