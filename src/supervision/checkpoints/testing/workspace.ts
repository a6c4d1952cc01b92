import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Disk, systemDisk } from '../workspace-folder.ts'

/** Does not sync. Only a power cut shows the difference, and syncs take most of the time. */
export const quickDisk: Disk = { ...systemDisk, fsyncSync() {} }

/** A folder that goes away with the test. */
export function temporaryFolder(): string {
  const folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'quarterdeck-checkpoints-')))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }), 600_000)
  return folder
}

export function writeFiles(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(root, path)), { recursive: true })
    fs.writeFileSync(join(root, path), text)
  }
}

/** Every file and link, with its text. */
export function readFiles(root: string): Record<string, string> {
  const items = fs.readdirSync(root, { recursive: true, withFileTypes: true }).filter((item) => !item.isDirectory())
  const read = items.map((item) => {
    const path = join(item.parentPath, item.name)
    const text = item.isSymbolicLink() ? `-> ${fs.readlinkSync(path)}` : fs.readFileSync(path, 'utf8')
    return [path.slice(root.length + 1), text]
  })
  return Object.fromEntries(read.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)))
}

export const workspaceWith = (files: Readonly<Record<string, string>>): string => {
  const root = temporaryFolder()
  writeFiles(root, files)
  return root
}
