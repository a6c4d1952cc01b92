import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lockDataDir } from './data-dir-lock.ts'

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

describe('the lock of a data directory', () => {
  test('is held by one at a time, and can be had again once it is released', () => {
    const folder = emptyFolder()
    const lock = lockDataDir(folder)

    expect(() => lockDataDir(folder)).toThrow(
      expect.objectContaining({ code: 'data_dir_locked', details: { data_dir: folder } }),
    )
    lock.release()
    lockDataDir(folder).release()
  })

  test('a directory in which nothing can be written is not called locked', () => {
    const folder = emptyFolder()
    // What cannot be opened as a file; permissions would not stop root.
    mkdirSync(join(folder, 'server.lock'))

    expect(() => lockDataDir(folder)).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: `The data dir cannot be used: ${folder} (unable to open database file). Name a folder that you may write to with --data-dir.`,
      }),
    )
  })
})
