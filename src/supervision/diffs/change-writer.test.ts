import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeWorkspace } from '../testing/workspace.ts'
import { type ApprovedChange, createChangeWriter } from './change-writer.ts'
import { proposeChange } from './propose-change.ts'

const approved = async (workspaceRoot: string, filePath: string, diff: string): Promise<ApprovedChange> => ({
  ...(await proposeChange({ workspaceRoot, filePath, diff })),
  workspaceRoot,
})
const deletion = (path: string, line: string) => `--- a/${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-${line}\n`
const beforeRename = async () => {}
const read = (root: string, path: string) => readFileSync(join(root, path), 'utf8')

describe('an approved change', () => {
  test('is written with its mode, and leaves nothing else behind', async () => {
    const root = makeWorkspace({ 'run.sh': 'one\n' })
    chmodSync(join(root, 'run.sh'), 0o750)
    const change = await approved(root, 'run.sh', 'two\n')
    expect(await createChangeWriter().apply(change, { beforeRename })).toEqual({
      files_written: [{ path: 'run.sh', bytes: 4 }],
      warnings: [],
    })
    expect([read(root, 'run.sh'), readdirSync(root)]).toEqual(['two\n', ['run.sh']])
    if (process.platform !== 'win32') expect(statSync(join(root, 'run.sh')).mode & 0o777).toBe(0o750)
  })

  test('creates a file in new folders, and deletes one', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\n' })
    const writer = createChangeWriter()
    await writer.apply(await approved(root, 'x/y/new.ts', 'two\n'), { beforeRename })
    expect(read(root, 'x/y/new.ts')).toBe('two\n')
    const gone = await writer.apply(await approved(root, 'a.ts', deletion('a.ts', 'one')), { beforeRename })
    expect([gone.files_written, readdirSync(root)]).toEqual([[{ path: 'a.ts', bytes: 0 }], ['x']])
  })

  test('is ready on disk, but not in place, when its use is recorded', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\n' })
    const seen: string[][] = []
    await createChangeWriter().apply(await approved(root, 'a.ts', 'two\n'), {
      beforeRename: async () => void seen.push([read(root, 'a.ts'), ...readdirSync(root)]),
    })
    expect(seen).toEqual([['one\n', expect.stringMatching(/^\.quarterdeck-[0-9a-f]{24}\.tmp$/), 'a.ts']])
  })

  test('is not written if its use cannot be recorded', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\n' })
    const refused = async () => Promise.reject(new Error('already consumed'))
    for (const [path, text] of [
      ['a.ts', 'two\n'],
      ['x/new.ts', 'two\n'],
      ['a.ts', deletion('a.ts', 'one')],
    ] as const) {
      const change = await approved(root, path, text)
      await expect(createChangeWriter().apply(change, { beforeRename: refused })).rejects.toThrow('already consumed')
    }
    expect([read(root, 'a.ts'), readdirSync(root)]).toEqual(['one\n', ['a.ts']])
  })

  test('conflicts if the file was changed, deleted or created meanwhile', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\n' })
    const writer = createChangeWriter()
    const modify = await approved(root, 'a.ts', 'two\n')
    const remove = await approved(root, 'a.ts', deletion('a.ts', 'one'))
    const create = await approved(root, 'new.ts', 'two\n')
    writeFileSync(join(root, 'a.ts'), 'mine\n')
    writeFileSync(join(root, 'new.ts'), 'mine\n')
    for (const change of [modify, remove, create]) {
      await expect(writer.apply(change, { beforeRename })).rejects.toMatchObject({
        code: 'patch_conflict',
        details: {},
      })
    }
    rmSync(join(root, 'a.ts'))
    await expect(writer.apply(modify, { beforeRename })).rejects.toMatchObject({ code: 'patch_conflict' })
    expect([read(root, 'new.ts'), readdirSync(root)]).toEqual(['mine\n', ['new.ts']])
  })

  test('conflicts if the file changes while its use is recorded, and says that it is used', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\n' })
    for (const [path, text] of [
      ['a.ts', 'two\n'],
      ['new.ts', 'two\n'],
    ] as const) {
      const change = await approved(root, path, text)
      await expect(
        createChangeWriter().apply(change, { beforeRename: async () => writeFileSync(join(root, path), 'mine\n') }),
      ).rejects.toMatchObject({ code: 'patch_conflict', details: { consumed: true } })
      expect(read(root, path)).toBe('mine\n')
    }
    expect(readdirSync(root)).toEqual(['a.ts', 'new.ts'])
  })

  test('replaces a changed file by force, with a warning', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\n', 'b.ts': 'one\n' })
    const writer = createChangeWriter()
    const modify = await approved(root, 'a.ts', 'two\n')
    const remove = await approved(root, 'b.ts', deletion('b.ts', 'one'))
    const create = await approved(root, 'new.ts', 'two\n')
    writeFileSync(join(root, 'a.ts'), 'mine\n')
    writeFileSync(join(root, 'new.ts'), 'mine\n')
    rmSync(join(root, 'b.ts'))
    for (const change of [modify, remove, create]) {
      const { warnings } = await writer.apply(change, { force: true, beforeRename })
      expect(warnings).toEqual(['The file had changed after the approval and was replaced.'])
    }
    expect([read(root, 'a.ts'), read(root, 'new.ts'), readdirSync(root)]).toEqual([
      'two\n',
      'two\n',
      ['a.ts', 'new.ts'],
    ])
  })

  test('never leaves the workspace, not even by force', async () => {
    const outside = makeWorkspace({ 'a.ts': 'one\n' })
    const root = makeWorkspace({ 'src/a.ts': 'one\n', 'b.ts': 'one\n', 'c.ts': 'one\n' })
    const changes = await Promise.all(['src/a.ts', 'b.ts', 'c.ts'].map((path) => approved(root, path, 'evil\n')))
    const swap = () => {
      renameSync(join(root, 'src'), join(root, 'moved'))
      symlinkSync(outside, join(root, 'src'))
    }
    const [inSwapped, linked, folder] = changes
    const writer = createChangeWriter()
    if (inSwapped === undefined || linked === undefined || folder === undefined) throw new Error('missing')
    await expect(writer.apply(inSwapped, { force: true, beforeRename: async () => swap() })).rejects.toMatchObject({
      code: 'path_violation',
      details: { consumed: true },
    })
    await expect(writer.apply(inSwapped, { force: true, beforeRename })).rejects.toMatchObject({
      code: 'path_violation',
    })
    rmSync(join(root, 'b.ts'))
    symlinkSync(join(outside, 'a.ts'), join(root, 'b.ts'))
    await expect(writer.apply(linked, { force: true, beforeRename })).rejects.toMatchObject({ code: 'path_violation' })
    rmSync(join(root, 'c.ts'))
    mkdirSync(join(root, 'c.ts'))
    await expect(writer.apply(folder, { force: true, beforeRename })).rejects.toMatchObject({ code: 'path_violation' })
    expect([read(outside, 'a.ts'), readdirSync(outside), readdirSync(join(root, 'moved'))]).toEqual([
      'one\n',
      ['a.ts'],
      ['a.ts'],
    ])
  })

  test('does not write through a link with the name of its temporary file', async () => {
    const outside = makeWorkspace({ 'a.ts': 'one\n' })
    const root = makeWorkspace({ 'a.ts': 'one\n' })
    const change = await approved(root, 'a.ts', 'two\n')
    let name = ''
    const stop = async () => {
      name = readdirSync(root)[0] ?? ''
      throw new Error('stop')
    }
    await expect(createChangeWriter().apply(change, { beforeRename: stop })).rejects.toThrow('stop')
    symlinkSync(join(outside, 'a.ts'), join(root, name))
    await createChangeWriter().apply(change, { beforeRename })
    expect([read(outside, 'a.ts'), read(root, 'a.ts'), readdirSync(root)]).toEqual(['one\n', 'two\n', ['a.ts']])
  })

  test('is refused if the stored text is not the approved one', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\n' })
    const change = { ...(await approved(root, 'a.ts', 'two\n')), after: Buffer.from('evil\n') }
    await expect(createChangeWriter().apply(change, { beforeRename })).rejects.toMatchObject({ code: 'invalid_diff' })
    expect(read(root, 'a.ts')).toBe('one\n')
  })

  test('of two for the same content, one is written and the other conflicts', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\n' })
    const writer = createChangeWriter()
    const changes = await Promise.all(Array.from({ length: 20 }, (_, i) => approved(root, 'a.ts', `${i}\n`)))
    const results = await Promise.allSettled(changes.map((change) => writer.apply(change, { beforeRename })))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', ...Array.from({ length: 19 }, () => 'rejected')])
    expect([read(root, 'a.ts'), readdirSync(root)]).toEqual(['0\n', ['a.ts']])
  })
})

test('a writer that races with many applies never leaves a mixed file', async () => {
  const root = makeWorkspace({ 'a.ts': 'W\n' })
  const writer = createChangeWriter()
  const texts = new Set<string>()
  let isOver = false
  const race = (async () => {
    for (let i = 0; !isOver; i += 1) await writeFile(join(root, 'a.ts'), `W${i}\n`.repeat(1 + (i % 50)))
  })()
  const counts = { applied: 0, refused: 0 }
  for (let i = 0; i < 100; i += 1) {
    try {
      await writer.apply(await approved(root, 'a.ts', `P${i}\n`.repeat(2_000)), { beforeRename })
      counts.applied += 1
    } catch (error) {
      expect(error).toMatchObject({ code: 'patch_conflict' })
      counts.refused += 1
    }
    texts.add([...new Set(read(root, 'a.ts').split('\n'))].join(' '))
  }
  isOver = true
  await race
  // Each text that was seen repeats one line. A file that was just emptied has none.
  expect([...texts].filter((text) => !/^(?:[PW]\d+ |)$/.test(text))).toEqual([])
  expect(counts.applied + counts.refused).toBe(100)
  expect(readdirSync(root)).toEqual(['a.ts'])
})

describe('after a restart', () => {
  test('a used approval is finished: written if the file is as it was, done if it is there, else a conflict', async () => {
    const root = makeWorkspace({ 'a.ts': 'one\n', 'b.ts': 'one\n', 'd/e.ts': 'one\n' })
    const writer = createChangeWriter()
    const modify = await approved(root, 'a.ts', 'two\n')
    const remove = await approved(root, 'b.ts', deletion('b.ts', 'one'))
    const create = await approved(root, 'x/new.ts', 'two\n')
    const deep = await approved(root, 'd/e.ts', deletion('d/e.ts', 'one'))
    const deepToo = await approved(root, 'd/e.ts', 'two\n')
    rmSync(join(root, 'd'), { recursive: true })
    for (const change of [modify, remove, create, deep, modify, remove, create]) {
      expect(await writer.finish(change)).toBe('applied')
    }
    expect([read(root, 'a.ts'), read(root, 'x/new.ts'), existsSync(join(root, 'b.ts'))]).toEqual([
      'two\n',
      'two\n',
      false,
    ])
    writeFileSync(join(root, 'a.ts'), 'mine\n')
    writeFileSync(join(root, 'b.ts'), 'mine\n')
    writeFileSync(join(root, 'x/new.ts'), 'mine\n')
    for (const change of [modify, remove, create, deepToo]) expect(await writer.finish(change)).toBe('conflict')
    rmSync(join(root, 'a.ts'))
    symlinkSync('b.ts', join(root, 'a.ts'))
    expect(await writer.finish(modify)).toBe('conflict')
    expect([read(root, 'b.ts'), read(root, 'x/new.ts'), readdirSync(root)]).toEqual([
      'mine\n',
      'mine\n',
      ['a.ts', 'b.ts', 'x'],
    ])
  })

  // Processes that die at every step: 25 of them.
  test('a process that is killed at any step leaves the old or the new file', { timeout: 120_000 }, async () => {
    const compiled = makeWorkspace()
    const results = async (path: string, diff: string, steps: number): Promise<string[]> => {
      // The one that comes to its end leaves its compiled code for the others, which then start fast.
      const last = await killedAt(steps + 1, path, diff, compiled)
      const others = Array.from({ length: steps }, (_, i) => killedAt(i + 1, path, diff, compiled))
      return [...(await Promise.all(others)), last]
    }
    const expected = (unused: number, used: number, written: number) => [
      ...Array.from({ length: unused }, () => 'SIGKILL'),
      ...Array.from({ length: used }, () => 'SIGKILL, used'),
      ...Array.from({ length: written }, () => 'SIGKILL, used, written'),
      'finished, used, written',
    ]
    expect(await results('a.ts', 'two\n', 9)).toEqual(expected(6, 2, 1))
    expect(await results('x/new.ts', 'two\n', 11)).toEqual(expected(7, 2, 2))
    expect(await results('a.ts', deletion('a.ts', 'one'), 5)).toEqual(expected(2, 2, 1))
  })
})

/** Kills a process at a step of an apply, does what a restart does, and tells what the process had done. */
async function killedAt(step: number, path: string, diff: string, compiled: string): Promise<string> {
  const root = makeWorkspace({ 'work/a.ts': 'one\n' })
  const [work, record] = [join(root, 'work'), join(root, 'used')]
  const change = await approved(work, path, diff)
  const end = await applyInProcess(change, record, step, compiled)
  const [isUsed, stands] = [existsSync(record), contentOf(work, path)]
  const [old, now] = [path === 'a.ts' ? 'one\n' : null, change.after === null ? null : 'two\n']
  // Never written without the record, and never a part of a file.
  expect(isUsed ? [old, now] : [old]).toContainEqual(stands)
  if (isUsed) expect(await createChangeWriter().finish(change)).toBe('applied')
  else await createChangeWriter().clean(change)
  expect(contentOf(work, path)).toBe(isUsed ? now : old)
  expect(readdirSync(work, { recursive: true }).filter((name) => String(name).endsWith('.tmp'))).toEqual([])
  return `${end}${isUsed ? ', used' : ''}${stands === now ? ', written' : ''}`
}

const contentOf = (root: string, path: string): string | null =>
  existsSync(join(root, path)) ? read(root, path) : null

/** Returns the signal that ended the process, or `finished`. */
async function applyInProcess(change: ApprovedChange, record: string, step: number, compiled: string): Promise<string> {
  const after = change.after === null ? null : Buffer.from(change.after).toString('base64')
  const program = join(import.meta.dirname, '../testing/apply-until-killed.ts')
  const args = [program, JSON.stringify({ ...change, after }), record, String(step)]
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled }
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'], env })
  await once(child, 'exit')
  return child.signalCode ?? (child.exitCode === 0 ? 'finished' : 'failed')
}
