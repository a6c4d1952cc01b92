import { mkdtempSync } from 'node:fs'
import { mkdir, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder of this test alone, without links in its path. */
export async function newFolder(): Promise<string> {
  const folder = await realpath(mkdtempSync(join(tmpdir(), 'knowledge-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A file of such a text; a link that leads to such a path. All files are a minute old. */
export async function writeFiles(folder: string, files: Record<string, string | { to: string }>): Promise<void> {
  const then = new Date(Math.floor(Date.now() / 1_000 - 60) * 1_000)
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    if (typeof content === 'object') await symlink(content.to, file)
    else {
      await writeFile(file, content)
      await utimes(file, then, then)
    }
  }
}
