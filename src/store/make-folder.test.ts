import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeFolder } from './make-folder.ts'
import { makeDataDir } from './sqlite/disk/private-file.ts'

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-folder-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

const modeOf = (path: string) => statSync(path).mode & 0o777

describe('making a folder', () => {
  test('creates its missing parents too, for this user only', () => {
    const root = emptyFolder()

    makeDataDir(join(root, 'a', 'b', 'c'))

    expect(['a', 'a/b', 'a/b/c'].map((path) => modeOf(join(root, path)))).toEqual([0o700, 0o700, 0o700])
  })

  test('leaves an existing folder as it is', () => {
    const root = emptyFolder()
    makeFolder(join(root, 'a'), 0o755)

    makeDataDir(join(root, 'a'))
    makeDataDir('/')

    expect(modeOf(join(root, 'a'))).toBe(0o755)
  })

  test.each(['', '/deep'])('is refused if a file is in its place or above it (file%s)', (below) => {
    const path = join(emptyFolder(), 'file')
    writeFileSync(path, '')

    expect(() => makeDataDir(`${path}${below}`)).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: expect.stringContaining(`The data directory cannot be created: ${path}${below} (E`),
      }),
    )
  })

  test.runIf(process.platform === 'linux').each(['/proc/nowhere', '/proc/nowhere/deep'])(
    'ends where the system refuses every folder (%s)',
    (path) => {
      expect(() => makeDataDir(path)).toThrow(
        `The data directory cannot be created: ${path} (ENOENT). Name a folder that you may write to with --data-dir.`,
      )
    },
  )
})
