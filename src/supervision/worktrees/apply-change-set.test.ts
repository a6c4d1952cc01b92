import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFiles, writeFiles } from '../checkpoints/testing/workspace.ts'
import { createChangeWriter } from '../diffs/change-writer.ts'
import { proposeBytes } from '../diffs/propose-change.ts'
import { makeWorkspace } from '../testing/workspace.ts'
import { applyChangeSet, finishChangeSet } from './apply-change-set.ts'
import { type ChangeSet, changeSetOf, packSet, type SetChange } from './change-set.ts'

const OLD = { 'a.txt': 'one\n', 'b.txt': 'b\n', 'c/d.txt': 'd\n' }
const NEW = { 'a.txt': 'two\n', 'c/d.txt': 'dd\n', 'new/e.txt': 'e\n' }

async function approved(root: string): Promise<ChangeSet> {
  const changes: SetChange[] = []
  for (const [filePath, text] of [...Object.entries(NEW), ['b.txt', null] as const]) {
    const bytes = text === null ? null : Buffer.from(text)
    const change = await proposeBytes({ workspaceRoot: root, filePath, bytes })
    if (change !== null) changes.push({ ...change, agentHash: change.afterHash })
  }
  return changeSetOf(changes, [])
}

const SCRIPT = join(import.meta.dirname, '../testing/apply-set-until-killed.ts')

test('every file is written, after its approval is used up', async () => {
  const root = makeWorkspace(OLD)
  const { changes } = await approved(root)
  const seen: unknown[] = []
  const applied = await applyChangeSet(
    { workspaceRoot: root, changes },
    { writer: createChangeWriter(), beforeFirst: async () => void seen.push(readFiles(root)) },
  )
  expect([seen, readFiles(root), applied]).toEqual([
    [OLD],
    NEW,
    {
      files_written: [
        { path: 'a.txt', bytes: 4 },
        { path: 'b.txt', bytes: 0 },
        { path: 'c/d.txt', bytes: 3 },
        { path: 'new/e.txt', bytes: 2 },
      ],
      conflicts: [],
      warnings: [],
    },
  ])
})

test('nothing is written if one file has changed, and the error names it', async () => {
  const root = makeWorkspace(OLD)
  const { changes } = await approved(root)
  writeFiles(root, { 'c/d.txt': 'person\n', 'new/e.txt': 'person\n' })
  const before = readFiles(root)
  let isUsed = false
  const beforeFirst = async () => {
    isUsed = true
  }
  const applying = applyChangeSet({ workspaceRoot: root, changes }, { writer: createChangeWriter(), beforeFirst })
  await expect(applying).rejects.toMatchObject({
    code: 'patch_conflict',
    message: expect.stringContaining('c/d.txt, new/e.txt'),
    details: { paths: ['c/d.txt', 'new/e.txt'] },
  })
  expect([isUsed, readFiles(root)]).toEqual([false, before])
})

test('nothing is written if its use cannot be recorded', async () => {
  const root = makeWorkspace(OLD)
  const { changes } = await approved(root)
  const beforeFirst = () => Promise.reject(new Error('no store'))
  await expect(
    applyChangeSet({ workspaceRoot: root, changes }, { writer: createChangeWriter(), beforeFirst }),
  ).rejects.toThrow('no store')
  expect(readFiles(root)).toEqual(OLD)
})

test('a file that somebody changes while others are written is left alone and named', async () => {
  const root = makeWorkspace(OLD)
  const { changes } = await approved(root)
  const beforeFirst = async () => writeFiles(root, { 'c/d.txt': 'person\n' })
  const applied = await applyChangeSet({ workspaceRoot: root, changes }, { writer: createChangeWriter(), beforeFirst })
  expect([applied.conflicts, readFiles(root)]).toEqual([['c/d.txt'], { ...NEW, 'c/d.txt': 'person\n' }])
})

test('killed between any two files, it is finished once, and never without its record', {
  timeout: 300_000,
}, async () => {
  for (let n = 0; n <= 5; n += 1) {
    const root = makeWorkspace(OLD)
    const side = makeWorkspace()
    const set = await approved(root)
    const { diff, after } = packSet(set)
    writeFileSync(join(side, 'set'), JSON.stringify({ diff, after: Buffer.from(after).toString('base64') }))
    const args = [SCRIPT, root, join(side, 'set'), set.digest, join(side, 'used'), String(n)]
    const { signal, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect([n, signal, stderr]).toEqual([n, 'SIGKILL', ''])
    const isUsed = existsSync(join(side, 'used'))
    expect([isUsed, n > 0 || Object.keys(readFiles(root)).join()]).toEqual([n > 0, n > 0 || Object.keys(OLD).join()])
    if (!isUsed) continue
    const request = { workspaceRoot: root, changes: set.changes }
    const once = await finishChangeSet(request, createChangeWriter())
    expect([once.conflicts, once.files_written.length, readFiles(root)]).toEqual([[], 4, NEW])
    expect(await finishChangeSet(request, createChangeWriter())).toEqual(once)
  }
})

test('what is left after a kill is not written over what a person did since', async () => {
  const root = makeWorkspace(OLD)
  const { changes } = await approved(root)
  writeFiles(root, { 'a.txt': 'two\n', 'c/d.txt': 'person\n' })
  rmSync(join(root, 'b.txt'))
  const applied = await finishChangeSet({ workspaceRoot: root, changes }, createChangeWriter())
  expect([applied.conflicts, readFiles(root)]).toEqual([['c/d.txt'], { ...NEW, 'c/d.txt': 'person\n' }])
})
