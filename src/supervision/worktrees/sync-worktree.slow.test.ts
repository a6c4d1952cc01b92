import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFiles, temporaryFolder, writeFiles } from '../checkpoints/testing/workspace.ts'
import { readChanges } from './read-changes.ts'
import { type SyncRequest, syncWorktree } from './sync-worktree.ts'

const SCRIPT = join(import.meta.dirname, '../testing/sync-until-killed.ts')

function places(): SyncRequest {
  const top = temporaryFolder()
  const [folder, workspaceRoot] = [join(top, 'S1'), join(top, 'shop')]
  const root = join(folder, 'tree')
  fs.mkdirSync(root, { recursive: true })
  writeFiles(workspaceRoot, { 'a.txt': 'one\n', 'b.txt': 'one\n', 'gone/c.txt': 'one\n', 'gone/d.txt': 'one\n' })
  return { sessionId: 'S1', folder, root, workspaceRoot, excluded: [], discarded: [], settled: [] }
}

test('killed at any moment, it takes nothing of ours for the work of the agent', async () => {
  const mono = () => 0
  let n = 0
  for (let isOver = false; !isOver; n += 1) {
    const request = places()
    const { workspaceRoot, root } = request
    syncWorktree(request, mono)
    writeFiles(root, { 'b.txt': 'agent\n', 'agent.txt': 'agent\n' })
    writeFiles(workspaceRoot, { 'a.txt': 'two\n', 'new/e.txt': 'two\n' })
    fs.rmSync(join(workspaceRoot, 'gone'), { recursive: true })
    const { signal, status, stderr } = spawnSync(process.execPath, [SCRIPT, JSON.stringify(request), String(n)], {
      encoding: 'utf8',
    })
    expect([n, stderr]).toEqual([n, ''])
    isOver = signal === null && status === 0
    // People go on before the next start.
    writeFiles(workspaceRoot, { 'a.txt': 'three\n', 'new/e.txt': 'three\n', 'gone/c.txt': 'three\n' })
    syncWorktree(request, mono)
    expect([n, readFiles(root)]).toEqual([
      n,
      { ...readFiles(workspaceRoot), 'b.txt': 'agent\n', 'agent.txt': 'agent\n' },
    ])
    const { changes, left } = await readChanges({ ...request, serverPaths: [] }, mono)
    expect([n, left, changes.map(({ kind, path, warnings }) => [kind, path, warnings])]).toEqual([
      n,
      [],
      [
        ['create', 'agent.txt', []],
        ['modify', 'b.txt', []],
      ],
    ])
  }
  expect(n).toBeGreaterThan(8)
})
