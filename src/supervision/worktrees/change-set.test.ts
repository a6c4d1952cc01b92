import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changeDigest, proposeBytes } from '../diffs/propose-change.ts'
import { makeWorkspace } from '../testing/workspace.ts'
import { type ChangeSet, changeSetOf, editedSet, packSet, type SetChange, unpackSet } from './change-set.ts'

async function setIn(workspaceRoot: string, files: Record<string, string | Uint8Array | null>): Promise<ChangeSet> {
  const changes: SetChange[] = []
  for (const [filePath, content] of Object.entries(files)) {
    const bytes = content === null ? null : Buffer.from(content)
    const change = await proposeBytes({ workspaceRoot, filePath, bytes })
    if (change !== null) changes.push({ ...change, agentHash: change.afterHash })
  }
  return changeSetOf(changes, [{ path: 'link', why: 'It is a symbolic link.' }])
}

/** Buffers and their copies are compared by what is in them. */
const plain = ({ changes, ...rest }: ChangeSet) => ({
  ...rest,
  changes: changes.map(({ after, ...change }) => ({
    ...change,
    after: after && Buffer.from(after).toString('base64'),
  })),
})

const FILES = {
  'b.txt': 'two\n',
  'a.bin': Uint8Array.of(0, 255, 1),
  'gone.txt': null,
  'new.md': '--- a/title\nné\n',
  'package.json': '{"scripts":{"x":"y"}}',
}

const workspace = () => makeWorkspace({ 'b.txt': 'one\n', 'gone.txt': 'x\n', 'package.json': '{}' })

test('a set is sorted, has one digest over all its files, and says how risky each is', async () => {
  const root = workspace()
  const set = await setIn(root, FILES)
  expect(set.changes.map(({ path, kind, risk }) => [path, kind, risk])).toEqual([
    ['a.bin', 'create', 'low'],
    ['b.txt', 'modify', 'low'],
    ['gone.txt', 'delete', 'low'],
    ['new.md', 'create', 'low'],
    ['package.json', 'modify', 'critical'],
  ])
  expect((await setIn(root, Object.fromEntries(Object.entries(FILES).reverse()))).digest).toBe(set.digest)
  expect((await setIn(root, { ...FILES, 'b.txt': 'three\n' })).digest).not.toBe(set.digest)
  // A file that reads like a patch is the file, not a patch.
  expect(Buffer.from(set.changes[3]?.after ?? []).toString()).toBe('--- a/title\nné\n')
})

test('a stored set comes back as it was, and anything else is refused', async () => {
  const set = await setIn(workspace(), FILES)
  const packed = packSet(set)
  expect(plain(unpackSet(packed, set.digest))).toEqual(plain(set))
  const refused = expect.objectContaining({ code: 'invalid_diff' })
  const failure = (stored: Parameters<typeof unpackSet>[0], digest = set.digest): unknown => {
    try {
      return unpackSet(stored, digest)
    } catch (error) {
      return error
    }
  }
  expect(failure(null)).toEqual(refused)
  expect(failure({ diff: '', after: null })).toEqual(refused)
  expect(failure(packed, 'other')).toEqual(refused)
  expect(failure({ ...packed, diff: packed.diff.slice(1) })).toEqual(refused)
  fc.assert(
    fc.property(fc.nat(packed.after.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const after = Uint8Array.from(packed.after)
      after[at] = (after[at] ?? 0) ^ change
      const got = failure({ ...packed, after })
      if (got instanceof Error) expect(got).toEqual(refused)
      // Words beside the bytes are not part of the digest; what is written is.
      else expect((got as ChangeSet).changes.map(changeDigest)).toEqual(set.changes.map(changeDigest))
    }),
  )
  for (const length of [0, 1, packed.after.length - 1])
    expect(failure({ ...packed, after: packed.after.slice(0, length) })).toEqual(refused)
})

test('a person leaves files out and edits one, and gets another digest', async () => {
  const root = workspace()
  const set = await setIn(root, FILES)
  const edited = await editedSet(
    set,
    { leave: ['package.json', 'a.bin', 'gone.txt'], edits: { 'b.txt': 'better\n' } },
    { workspaceRoot: root, serverPaths: [] },
  )
  expect(edited.set.digest).not.toBe(set.digest)
  expect(
    edited.set.changes.map(({ path, after, agentHash }) => [path, String(Buffer.from(after ?? [])), agentHash]),
  ).toEqual([
    ['b.txt', 'better\n', set.changes[1]?.agentHash],
    ['new.md', '--- a/title\nné\n', set.changes[3]?.agentHash],
  ])
  expect(edited.differences).toEqual([
    { path: 'b.txt', difference: '--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-two\n+better\n' },
  ])
  const edit = (leave: string[], edits: Record<string, string>) =>
    editedSet(set, { leave, edits }, { workspaceRoot: root, serverPaths: [] })
  await expect(edit(['none.txt'], {})).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(edit([], { __proto__: 'x', 'none\u202e': 'x' })).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(
    edit(
      set.changes.map(({ path }) => path),
      {},
    ),
  ).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(edit([], { 'a.bin': 'text now\n' })).rejects.toMatchObject({ code: 'invalid_diff' })
})
