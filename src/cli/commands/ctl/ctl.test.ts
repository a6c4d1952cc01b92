import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../../domain/clock.ts'
import { createPassphrase } from '../../../http/auth/passphrase/passphrase.ts'
import type { Keychain } from '../../../operators/credentials/keychain.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { setCredential, setPassphrase } from './typed-secret.ts'

/** A file descriptor from which this text can be read. */
function descriptor(folder: string, text: string): string {
  const path = join(folder, 'secret')
  writeFileSync(path, text)
  const fd = openSync(path, 'r')
  onTestFinished(() => closeSync(fd))
  return String(fd)
}

async function setUp() {
  const cwd = await tempFolder()
  mkdirSync(join(cwd, '.quarterdeck'))
  const passphrase = createPassphrase({
    configDir: join(cwd, '.config'),
    dataDir: join(cwd, '.quarterdeck'),
    makeFolder: () => {},
    clock: createSystemClock(),
  })
  return { cwd, passphrase }
}

describe('quarterdeck ctl passphrase', () => {
  test('sets a passphrase, and changes it with the old one', async () => {
    const { cwd, passphrase } = await setUp()
    const io = createTestIo({ cwd })
    await setPassphrase({ passphraseFd: descriptor(cwd, 'first passphrase\n') }, io)
    await passphrase.verify('first passphrase')
    await setPassphrase({ passphraseFd: descriptor(cwd, 'first passphrase\nsecond one here\n') }, io)
    await passphrase.verify('second one here')
    expect(io.complained()).toBe(
      `The passphrase is set. Only its hash is kept, in ${passphrase.path}.\nThe passphrase is changed. Only its hash is kept, in ${passphrase.path}.\n`,
    )
  })

  test('asks at the terminal, twice, and shows nothing of what is typed', async () => {
    const { cwd, passphrase } = await setUp()
    const stdin = new PassThrough()
    const io = createTestIo({ cwd, stdin, terminal: true })
    const done = setPassphrase({}, io)
    await io.until('New passphrase: ')
    stdin.write('typed by a person\n')
    await io.until('Again: ')
    stdin.write('typed by a person\n')
    await done
    await passphrase.verify('typed by a person')
    expect(io.complained() + io.printed()).not.toContain('typed')
  })

  test('changes nothing if the two are not the same', async () => {
    const { cwd, passphrase } = await setUp()
    const stdin = new PassThrough()
    const io = createTestIo({ cwd, stdin, terminal: true })
    const done = setPassphrase({}, io)
    await io.until('New passphrase: ')
    stdin.write('typed by a person\n')
    await io.until('Again: ')
    stdin.write('typed by another\n')
    await expect(done).rejects.toThrow('The two are not the same. Nothing has changed.')
    expect(passphrase.isSet()).toBe(false)
  })

  test.each([
    [['ctl', 'passphrase'], 1, 'This has to be typed at a terminal, and there is none.'],
    [['ctl', 'passphrase', '--passphrase-fd', '0'], 2, 'expected a number above 2'],
    [['ctl', 'passphrase', '--passphrase-fd', 'x'], 2, 'expected the number of an open file descriptor'],
    [['ctl', 'passphrase', '--passphrase-fd', '99999'], 2, 'this file descriptor is not open'],
    [['ctl', 'passphrase', '--data-dir', 'none'], 2, 'There is no data of Quarterdeck in'],
    [['ctl', 'credential', 'set', 'slack_bot_tokn'], 2, 'Did you mean slack_bot_token?'],
  ])('%j ends with %i and one clear line, whatever a pipe says', async (args, exitCode, line) => {
    const { cwd, passphrase } = await setUp()
    const env = { QUARTERDECK_PASSPHRASE: 'from the environment' }
    const io = createTestIo({ cwd, stdin: 'from a pipe, long enough\n', env })
    expect([await main(args, io), passphrase.isSet()]).toEqual([exitCode, false])
    expect(io.complained()).toContain(line)
  })

  test('refuses a passphrase that is too short or a wrong old one', async () => {
    const { cwd } = await setUp()
    const io = createTestIo({ cwd })
    await expect(setPassphrase({ passphraseFd: descriptor(cwd, 'short') }, io)).rejects.toThrow(/8 to 512 characters/)
    await setPassphrase({ passphraseFd: descriptor(cwd, 'first passphrase') }, io)
    const wrong = descriptor(cwd, 'not the first\nsecond one here')
    await expect(setPassphrase({ passphraseFd: wrong }, io)).rejects.toThrow('This is not the passphrase.')
    await expect(setPassphrase({ passphraseFd: descriptor(cwd, 'one line only') }, io)).rejects.toThrow(
      /expected 2 lines of text/,
    )
  })
})

describe('quarterdeck ctl credential set', () => {
  const stored: [string, string][] = []
  const keychain: Keychain = {
    get: async () => ({ value: null, problem: null }),
    set: async (name, value) => {
      stored.push([name, value])
      return null
    },
  }

  test('puts a typed value into the keychain and into nothing else', async () => {
    const { cwd } = await setUp()
    const io = createTestIo({ cwd })
    await setCredential('slack_bot_token', { valueFd: descriptor(cwd, 'xoxb-12-34\n') }, io, keychain)
    expect([stored, io.complained()]).toEqual([
      [['slack_bot_token', 'xoxb-12-34']],
      'slack_bot_token is in the keychain. The server reads it when it starts.\n',
    ])
  })

  test('says what to do where there is no keychain', async () => {
    const { cwd } = await setUp()
    const io = createTestIo({ cwd })
    const none: Keychain = { ...keychain, set: async () => 'AccessDenied' }
    await expect(setCredential('slack_team_id', { valueFd: descriptor(cwd, 'T012') }, io, none)).rejects.toMatchObject({
      message: 'The keychain cannot be used here: AccessDenied.',
      mend: ['Set SLACK_TEAM_ID in the environment of the server instead.'],
    })
    await expect(setCredential('slack_team_id', { valueFd: descriptor(cwd, 'xoxb-1') }, io, none)).rejects.toThrow(
      /must be an id that begins with T/,
    )
  })
})
