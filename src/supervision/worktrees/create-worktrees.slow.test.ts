import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readFiles, writeFiles } from '../checkpoints/testing/workspace.ts'
import { createChangeWriter } from '../diffs/change-writer.ts'
import { applyChangeSet } from './apply-change-set.ts'
import { editedSet } from './change-set.ts'
import type { Worktree } from './create-worktrees.ts'
import { openWorktree } from './testing/open-worktree.ts'

const beforeFirst = async () => {}

/** Path and what happens to it. */
const shapeOf = async (worktree: Worktree) => {
  const { changes, left } = await worktree.changes()
  return { changes: changes.map(({ kind, path }) => `${kind} ${path}`), left: left.map(({ path }) => path) }
}

const nothing = { changes: [], left: [] }

describe('a worktree', () => {
  test('has the files of the workspace as they are, without what is ignored or leads out', async () => {
    const { worktree, top } = await openWorktree(
      {
        'a.txt': 'one\n',
        'src/b.sh': '#!\n',
        '.gitignore': 'node_modules/\ndist/\n.env\n',
        '.env': 'KEY=1',
        'node_modules/x/index.js': 'x',
        'dist/out.js': 'x',
        '.quarterdeck/policy.json': '{}',
      },
      {
        prepare(workspace) {
          fs.chmodSync(join(workspace, 'src/b.sh'), 0o755)
          fs.symlinkSync('a.txt', join(workspace, 'inside'))
          fs.symlinkSync('../data', join(workspace, 'outside'))
          fs.symlinkSync('/etc', join(workspace, 'far'))
        },
      },
    )
    expect(readFiles(worktree.root)).toEqual({
      '.gitignore': 'node_modules/\ndist/\n.env\n',
      '.quarterdeck/policy.json': '{}',
      'a.txt': 'one\n',
      inside: '-> a.txt',
      'src/b.sh': '#!\n',
    })
    expect(fs.statSync(join(worktree.root, 'src/b.sh')).mode & 0o777).toBe(0o755)
    expect([worktree.mounts, worktree.objects]).toEqual([['node_modules'], null])
    expect(fs.statSync(join(top, 'data/worktrees/S1')).mode & 0o777).toBe(0o700)
    expect(await shapeOf(worktree)).toEqual(nothing)
  })

  test('shows what the agent did, sorted by path, and writes it to the workspace once', async () => {
    const { worktree, workspace, inTree } = await openWorktree({ 'a.txt': 'one\n', 'b.txt': 'b\n', 'c.txt': 'c\n' })
    writeFiles(worktree.root, { 'z.txt': 'z\n', 'a.txt': 'two\n', 'new/deep.txt': 'deep\n' })
    fs.rmSync(inTree('b.txt'))
    fs.writeFileSync(inTree('image.png'), Buffer.from([0x89, 0x50, 0, 1]))
    const set = await worktree.changes()
    expect(set.changes.map(({ kind, path, diff }) => [kind, path, diff.split('\n').slice(2)])).toEqual([
      ['modify', 'a.txt', ['@@ -1 +1 @@', '-one', '+two', '']],
      ['delete', 'b.txt', ['@@ -1 +0,0 @@', '-b', '']],
      ['create', 'image.png', [expect.stringMatching(/^\+Binary file, 4 bytes \(SHA-256 [0-9a-f]{64}\)$/), '']],
      ['create', 'new/deep.txt', ['@@ -0,0 +1 @@', '+deep', '']],
      ['create', 'z.txt', ['@@ -0,0 +1 @@', '+z', '']],
    ])
    const applied = await applyChangeSet(
      { workspaceRoot: workspace, changes: set.changes },
      { writer: createChangeWriter(), beforeFirst },
    )
    expect(applied.conflicts).toEqual([])
    expect(readFiles(workspace)).toEqual(readFiles(worktree.root))
    await worktree.settled(set.changes)
    expect(await shapeOf(worktree)).toEqual(nothing)
  })

  test('gets what people changed meanwhile, and loses nothing of the agent', async () => {
    const { worktree, workspace, open } = await openWorktree({
      'a.txt': 'one\n',
      'b.txt': 'one\n',
      'gone.txt': 'x\n',
      'both.txt': 'one\n',
    })
    writeFiles(worktree.root, { 'a.txt': 'agent\n', 'agent.txt': 'new\n', 'both.txt': 'same\n' })
    writeFiles(workspace, { 'a.txt': 'person\n', 'b.txt': 'person\n', 'person.txt': 'new\n', 'both.txt': 'same\n' })
    fs.rmSync(join(workspace, 'gone.txt'))
    await (await open()).refresh()
    expect(readFiles(worktree.root)).toEqual({
      'a.txt': 'agent\n',
      'agent.txt': 'new\n',
      'b.txt': 'person\n',
      'both.txt': 'same\n',
      'person.txt': 'new\n',
    })
    const { changes } = await worktree.changes()
    expect(changes.map(({ path, warnings }) => [path, warnings])).toEqual([
      ['a.txt', [expect.stringMatching(/^Somebody changed this file in the workspace/)]],
      ['agent.txt', []],
    ])
  })

  test('puts back what is discarded, whatever the agent made of it', async () => {
    const { worktree, inTree, workspace } = await openWorktree({ 'a.txt': 'one\n', 'b/c.txt': 'one\n', 'd.txt': 'd\n' })
    writeFiles(worktree.root, { 'a.txt': 'two\n', 'new/x.txt': 'x\n', 'd.txt': 'e\n' })
    fs.rmSync(inTree('b'), { recursive: true })
    fs.writeFileSync(inTree('b'), 'a file now')
    execFileSync('mkfifo', [inTree('pipe')])
    await worktree.discard(['d.txt'])
    expect((await shapeOf(worktree)).changes).toEqual(['modify a.txt', 'create new/x.txt'])
    await worktree.discard('all')
    expect(readFiles(worktree.root)).toEqual(readFiles(workspace))
    expect(await shapeOf(worktree)).toEqual(nothing)
  })

  test('keeps what a person left out, and takes what a person wrote instead', async () => {
    const { worktree, workspace } = await openWorktree({ 'a.txt': 'one\n', 'b.txt': 'one\n', 'c.txt': 'one\n' })
    writeFiles(worktree.root, { 'a.txt': 'agent\n', 'b.txt': 'agent\n', 'c.txt': 'agent\n' })
    const at = { workspaceRoot: workspace, serverPaths: [] }
    const edits = { leave: ['a.txt'], edits: { 'b.txt': 'person\n', 'c.txt': 'person\n' } }
    const { set } = await editedSet(await worktree.changes(), edits, at)
    await applyChangeSet({ ...at, changes: set.changes }, { writer: createChangeWriter(), beforeFirst })
    // The agent goes on in the background.
    writeFiles(worktree.root, { 'c.txt': 'newer\n' })
    await worktree.settled(set.changes)
    await worktree.settled(set.changes)
    expect(readFiles(worktree.root)).toEqual({ 'a.txt': 'agent\n', 'b.txt': 'person\n', 'c.txt': 'newer\n' })
    expect(await shapeOf(worktree)).toEqual({ changes: ['modify a.txt', 'modify c.txt'], left: [] })
  })

  test('that was removed is gone, also with folders that nobody may enter or that are too deep', async () => {
    const { worktree, worktrees, inTree, top } = await openWorktree({ 'a.txt': 'one\n' })
    fs.mkdirSync(inTree('locked/in'), { recursive: true })
    fs.chmodSync(inTree('locked'), 0)
    const dig = `for (let i = 0; i < 60; i += 1) { fs.mkdirSync('d'.repeat(200)); process.chdir('d'.repeat(200)) }`
    execFileSync(process.execPath, ['-e', dig], { cwd: worktree.root })
    expect((await shapeOf(worktree)).changes).toEqual([])
    await worktrees.open({ sessionId: 'S2', workspaceRoot: worktree.workspaceRoot })
    await worktrees.sweep(['S2'])
    expect(fs.readdirSync(join(top, 'data/worktrees'))).toEqual(['S2'])
    await worktrees.remove('S2')
    await worktrees.remove('S2')
    expect(fs.readdirSync(join(top, 'data/worktrees'))).toEqual([])
  })
})
