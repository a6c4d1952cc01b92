import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lockDataDir } from './data-dir-lock.ts'

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

const myself = process.getuid?.() ?? 0
/** The user id of nobody. */
const stranger = 65_533
const lockModule = new URL('./data-dir-lock.ts', import.meta.url).href
const modeOf = (path: string) => statSync(path).mode & 0o777

function runAs(uid: number, code: string): string {
  const asOther = uid === myself ? {} : { uid, gid: uid }
  const args = ['--input-type=module', '--eval', code]
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: '/', env: {}, ...asOther })
  return stdout || stderr
}

/** What another process of this user sees when it asks for the lock. */
const tryAs = (uid: number, folder: string): string =>
  runAs(
    uid,
    `const { lockDataDir } = await import('${lockModule}')
     try { lockDataDir(${JSON.stringify(folder)}); process.stdout.write('locked') } catch (error) { process.stdout.write(error.code) }`,
  )

/** What another process of this user sees when it opens the file, which is enough to hold the lock. */
const hold = (uid: number, path: string): string =>
  runAs(
    uid,
    `const { DatabaseSync } = await import('node:sqlite')
     try {
       new DatabaseSync(${JSON.stringify(path)}, { readOnly: true }).exec('BEGIN; SELECT * FROM sqlite_master')
       process.stdout.write('held')
     } catch (error) { process.stdout.write(error.message) }`,
  )

describe('the lock of a data directory', () => {
  test('belongs to one process at a time, and is free again once it is released', () => {
    const folder = emptyFolder()
    const lock = lockDataDir(folder)

    expect(() => lockDataDir(folder)).toThrow(
      expect.objectContaining({ code: 'data_dir_locked', details: { data_dir: folder } }),
    )
    lock.release()
    lockDataDir(folder).release()
  })

  test('is not blamed for a directory that cannot be written to', () => {
    const folder = emptyFolder()
    // A folder cannot be opened as a file. Permissions would not stop root.
    mkdirSync(join(folder, 'server.lock'))

    expect(() => lockDataDir(folder)).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: `The data directory cannot be used: ${join(folder, 'server.lock')} (it is not a file). Name a folder that you may write to with --data-dir.`,
      }),
    )
  })

  test('stays with its holder if the same process asks again', () => {
    const folder = emptyFolder()
    const lock = lockDataDir(folder)
    expect(() => lockDataDir(folder)).toThrow()

    expect(tryAs(myself, folder)).toBe('data_dir_locked')

    lock.release()
    expect(tryAs(myself, folder)).toBe('locked')
  })

  test('cannot be a link', () => {
    const folder = emptyFolder()
    writeFileSync(join(folder, 'mine'), '')
    symlinkSync(join(folder, 'mine'), join(folder, 'server.lock'))

    expect(() => lockDataDir(folder)).toThrow(
      `The data directory cannot be used: ${join(folder, 'server.lock')} (it is a link). Name a folder that you may write to with --data-dir.`,
    )
  })

  test.skipIf(process.platform === 'win32')('is for this user alone, also where it was not', () => {
    const folder = emptyFolder()
    writeFileSync(join(folder, 'server.lock'), '')
    chmodSync(join(folder, 'server.lock'), 0o644)
    chmodSync(folder, 0o777)

    lockDataDir(folder).release()

    expect(modeOf(join(folder, 'server.lock'))).toBe(0o600)
    expect(modeOf(folder)).toBe(0o755)
  })
})

/** Only root can act as another user, and that user must be able to read this checkout. */
const canBeStranger =
  process.getuid?.() === 0 && runAs(stranger, `await import('${lockModule}'); process.stdout.write('up')`) === 'up'

describe.skipIf(!canBeStranger)('another user (needs root)', () => {
  test('cannot hold the lock', () => {
    const folder = emptyFolder()
    chmodSync(folder, 0o755)
    lockDataDir(folder).release()

    expect(hold(stranger, join(folder, 'server.lock'))).toBe('unable to open database file')
  })

  test('cannot put one there', () => {
    const folder = emptyFolder()
    writeFileSync(join(folder, 'server.lock'), '')
    chownSync(join(folder, 'server.lock'), stranger, stranger)

    expect(() => lockDataDir(folder)).toThrow(
      `${join(folder, 'server.lock')} belongs to another user (uid ${stranger}). Name a folder of your own with --data-dir.`,
    )
  })

  test('cannot offer a folder', () => {
    const folder = emptyFolder()
    chownSync(folder, stranger, stranger)
    chmodSync(folder, 0o777)

    expect(tryAs(stranger + 1, folder)).toBe('config_invalid')
    expect(tryAs(stranger, folder)).toBe('locked')
  })

  test('can use what root created in its folder', () => {
    const folder = emptyFolder()
    chownSync(folder, stranger, stranger)
    lockDataDir(folder).release()

    expect(tryAs(stranger, folder)).toBe('locked')
  })
})
