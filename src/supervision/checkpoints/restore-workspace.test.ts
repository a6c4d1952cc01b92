import { fork } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type SaveRequest, saveCheckpoint } from './checkpoint-job.ts'
import { compareWorkspace, type Divergence } from './compare-workspace.ts'
import { hashWorkspace } from './hash-workspace.ts'
import { contentLimits, planRestore } from './restore-plan.ts'
import { finishRestore, openRestores, type RestoreRequest, restoreWorkspace } from './restore-workspace.ts'
import { createSnapshotStore } from './snapshot-store.ts'
import { quickDisk, readFiles, temporaryFolder, workspaceWith, writeFiles } from './testing/workspace.ts'
import type { Disk } from './workspace-folder.ts'

const quiet = { mono: () => 0 }
const FILES = { 'a.txt': 'one', 'b/c.txt': 'two', 'b/d/e.txt': 'three', 'f.sh': '#!/bin/sh', '.gitignore': '*.log' }

function open(files: Readonly<Record<string, string>> = FILES) {
  const root = workspaceWith(files)
  const folder = join(temporaryFolder(), 'checkpoints')
  const store = createSnapshotStore(folder, quickDisk)
  let count = 0
  const save = (request: Partial<SaveRequest> = {}): string =>
    saveCheckpoint(
      { root, excluded: [], checkpointId: 'c1', label: null, createdAt: 1, content: contentLimits, ...request },
      { ...quiet, store, disk: quickDisk },
    ).manifest
  const compare = (name: string): Divergence => {
    const manifest = store.readManifest(name)
    return compareWorkspace(
      name,
      manifest,
      hashWorkspace(
        { root, excluded: [], ignoreFiles: manifest.ignoreFiles },
        { ...quiet, disk: quickDisk, content: null },
      ),
    )
  }
  const requestFor = (name: string, request: Partial<RestoreRequest> = {}): RestoreRequest => {
    count += 1
    const safety = { checkpointId: `safety-${count}`, label: null, createdAt: 2 }
    const confirm = request.confirm ?? compare(name).digest
    const defaults = { root, excluded: [], manifest: name, confirm, restoreId: `r${count}`, safety }
    return { ...defaults, content: contentLimits, ...request }
  }
  const restore = (name: string, request: Partial<RestoreRequest> = {}, disk: Disk = quickDisk) =>
    restoreWorkspace(requestFor(name, request), { ...quiet, store: createSnapshotStore(folder, disk), disk })
  /** Restores, and expects that it works. */
  const restored = (name: string, request: Partial<RestoreRequest> = {}, disk?: Disk) => {
    const outcome = restore(name, request, disk)
    if (outcome.status !== 'restored') throw new Error('the workspace has changed')
    return outcome.result
  }
  return { root, folder, store, save, compare, restore, restored, requestFor }
}

/** A day of work: a change, a removed folder, new files, a file in the place of a folder and a folder in the place of a file. */
function work(root: string): void {
  fs.rmSync(join(root, 'b'), { recursive: true })
  fs.rmSync(join(root, 'f.sh'))
  writeFiles(root, { 'a.txt': 'changed', b: 'a file', 'f.sh/x/y': 'a folder', 'new/deep/z': 'new', 'x.log': 'ignored' })
}

const paths = (changes: readonly { path: string }[]): string[] => changes.map(({ path }) => path)

describe('comparing', () => {
  test('finds nothing where nothing changed', () => {
    const { save, compare } = open()

    expect(compare(save())).toEqual({
      modified: [],
      deleted: [],
      added: [],
      unknown: [],
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  test('finds what was modified, deleted and added', () => {
    const { root, save, compare } = open()
    const name = save()
    writeFiles(root, { 'a.txt': 'changed', 'new.txt': '', 'x.log': '' })
    fs.chmodSync(join(root, 'f.sh'), 0o700)
    fs.rmSync(join(root, 'b/c.txt'))
    fs.rmSync(join(root, 'b/d/e.txt'))
    fs.symlinkSync('../../a.txt', join(root, 'b/d/e.txt'))
    const { modified, deleted, added } = compare(name)

    expect(paths(modified)).toEqual(['a.txt', 'b/d/e.txt', 'f.sh'])
    expect(paths(deleted)).toEqual(['b/c.txt'])
    expect(paths(added)).toEqual(['new.txt'])
  })

  test('uses the rules of the checkpoint, whatever .gitignore says now', () => {
    const { root, save, compare } = open()
    const name = save()
    writeFiles(root, { '.gitignore': '*', 'b/.gitignore': '*', 'new.txt': '', 'y.log': '' })

    expect(compare(name)).toMatchObject({
      modified: [{ path: '.gitignore' }],
      deleted: [],
      added: [{ path: 'b/.gitignore' }, { path: 'new.txt' }],
    })
  })

  test('the digest covers the present bytes and the checkpoint', () => {
    const { root, save, compare } = open()
    const [name, other] = [save(), save({ checkpointId: 'c2' })]
    const digests = [name, other].map((one) => compare(one).digest)
    writeFiles(root, { 'a.txt': 'changed' })
    digests.push(compare(name).digest)
    writeFiles(root, { 'a.txt': 'changed!' })
    digests.push(compare(name).digest)
    fs.chmodSync(join(root, 'a.txt'), 0o700)
    digests.push(compare(name).digest)

    expect(new Set(digests).size).toBe(5)
    expect(compare(name).digest).toBe(digests.at(-1))
  })

  test('nothing is said about what could not be read', () => {
    const { root, save, compare } = open()
    const limits = { maxDepth: 1 }
    const name = save({ limits })
    writeFiles(root, { 'b/d/e.txt': 'changed', 'b/d/new.txt': '' })

    expect(compare(name)).toMatchObject({ modified: [], deleted: [], added: [], unknown: ['b/d'] })
  })
})

describe('a plan', () => {
  test('says what will be lost, what cannot come back and what is protected', () => {
    const { root, store, save, compare } = open({ ...FILES, large: 'x'.repeat(200) })
    const limits = { maxFileBytes: 100, maxTotalBytes: 100 }
    const name = save({ content: limits })
    writeFiles(root, { large: 'y', 'a.txt': 'z'.repeat(101), 'new.txt': '1', '.github/workflows/ci.yml': '2' })
    fs.rmSync(join(root, 'f.sh'))
    const facts = {
      kept: store.readManifest(name).kept,
      limits,
      isProtected: (path: string) => path.startsWith('.git'),
    }

    expect(planRestore(compare(name), { ...facts, shown: 1 })).toEqual({
      digest: compare(name).digest,
      counts: {
        modified: 2,
        deleted: 1,
        added: 2,
        unknown: 0,
        cannot_restore: 1,
        lost_for_good: 1,
        protected: 1,
      },
      modified: ['a.txt'],
      deleted: ['f.sh'],
      added: ['.github/workflows/ci.yml'],
      unknown: [],
      cannot_restore: ['large'],
      lost_for_good: ['a.txt'],
      protected: ['.github/workflows/ci.yml'],
    })
  })
})

describe('restoring', () => {
  test('brings back files, folders, links and modes, and removes what was added', () => {
    const { root, save, compare, restored } = open()
    fs.symlinkSync('a.txt', join(root, 'link'))
    fs.chmodSync(join(root, 'f.sh'), 0o750)
    const before = readFiles(root)
    const name = save()
    work(root)
    fs.rmSync(join(root, 'link'))
    writeFiles(root, { link: 'a file' })

    expect(restored(name)).toMatchObject({ written: 5, removed: 3, not_restored: [] })
    expect(readFiles(root)).toEqual({ ...before, 'x.log': 'ignored' })
    expect(fs.statSync(join(root, 'f.sh')).mode & 0o777).toBe(0o750)
    expect(fs.existsSync(join(root, 'new'))).toBe(false)
    expect(compare(name)).toMatchObject({ modified: [], deleted: [], added: [] })
  })

  test('brings back a mode, also without the bytes', () => {
    const { root, save, restored } = open()
    fs.chmodSync(join(root, 'f.sh'), 0o750)
    const name = save({ content: null })
    fs.chmodSync(join(root, 'f.sh'), 0o600)

    expect(restored(name)).toMatchObject({ written: 1, not_restored: [] })
    expect(fs.statSync(join(root, 'f.sh')).mode & 0o777).toBe(0o750)
  })

  test('can be undone', () => {
    const { root, save, restored } = open()
    const name = save()
    work(root)
    const worked = readFiles(root)
    const { safety } = restored(name)

    expect(safety).toMatchObject({ checkpoint_id: 'safety-1', workspace_root: root, skipped: 0 })
    expect(restored(safety.manifest)).toMatchObject({ not_restored: [] })
    expect(readFiles(root)).toEqual(worked)
  })

  test('leaves alone what it has no bytes for, and says so', () => {
    const { root, save, restored } = open()
    const name = save({ content: null })
    writeFiles(root, { 'a.txt': 'changed', 'new.txt': '' })

    expect(restored(name)).toMatchObject({
      written: 0,
      removed: 1,
      not_restored: [{ path: 'a.txt', reason: 'no_content' }],
    })
    expect(readFiles(root)).toEqual({ ...FILES, 'a.txt': 'changed' })
  })

  test('writes nothing after a change that the person did not see', () => {
    const { root, folder, save, compare, restore } = open()
    const name = save()
    work(root)
    const { digest } = compare(name)
    writeFiles(root, { 'new/late': 'unseen' })
    const before = readFiles(root)

    expect(restore(name, { confirm: digest })).toEqual({ status: 'changed', divergence: compare(name) })
    expect(readFiles(root)).toEqual(before)
    expect(fs.existsSync(join(folder, 'restores'))).toBe(false)
  })

  test('does not touch a file that changes while it works', () => {
    const { root, save, restored } = open()
    const name = save()
    work(root)
    const disk: Disk = {
      ...quickDisk,
      unlinkSync(path) {
        fs.unlinkSync(path)
        writeFiles(root, { 'a.txt': 'a late word' })
      },
    }

    expect(restored(name, {}, disk)).toMatchObject({ not_restored: [{ path: 'a.txt', reason: 'changed' }] })
    expect(fs.readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a late word')
  })

  test('never writes through a link', () => {
    const outside = workspaceWith({ 'c.txt': 'mine' })
    const { root, save, restored } = open()
    const name = save()
    writeFiles(root, { 'b/c.txt': 'changed', 'b/added': '' })
    const disk: Disk = {
      ...quickDisk,
      unlinkSync(path) {
        fs.unlinkSync(path)
        if (fs.lstatSync(join(root, 'b')).isSymbolicLink()) return
        fs.renameSync(join(root, 'b'), join(root, 'moved'))
        fs.symlinkSync(outside, join(root, 'b'))
      },
    }

    expect(restored(name, {}, disk)).toMatchObject({ not_restored: [{ path: 'b/c.txt', reason: 'in_the_way' }] })
    expect(readFiles(outside)).toEqual({ 'c.txt': 'mine' })
  })

  test('a folder with ignored files stays, and what needed its place is named', () => {
    const { root, save, restored } = open()
    const name = save()
    work(root)
    writeFiles(root, { 'f.sh/x/z.log': 'ignored' })

    expect(restored(name)).toMatchObject({ not_restored: [{ path: 'f.sh', reason: 'in_the_way' }] })
    expect(fs.readFileSync(join(root, 'f.sh/x/z.log'), 'utf8')).toBe('ignored')
  })

  test('damaged bytes are named, and the file stays', () => {
    const { root, folder, save, restored } = open()
    const name = save()
    writeFiles(root, { 'a.txt': 'changed' })
    for (const path of Object.keys(readFiles(join(folder, 'blobs')))) fs.writeFileSync(join(folder, 'blobs', path), '')

    expect(restored(name)).toMatchObject({ not_restored: [{ path: 'a.txt', reason: 'damaged' }] })
    expect(fs.readFileSync(join(root, 'a.txt'), 'utf8')).toBe('changed')
  })

  test('refuses the checkpoint of another workspace', () => {
    const { save, restore } = open()
    const name = save()

    expect(() => restore(name, { root: temporaryFolder(), confirm: 'x' })).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    )
  })
})

describe('a restore that ends early', () => {
  /** Each call that changes something, in order. After `calls` of them nothing works any more, as if the process were dead. */
  function dyingDisk(calls: number): Disk {
    let left = calls
    const alive = <T extends (...args: never[]) => unknown>(call: T): T =>
      ((...args) => {
        left -= 1
        if (left < 0) throw new Error('killed')
        return call(...args)
      }) as T
    return {
      ...quickDisk,
      fchmodSync: alive(fs.fchmodSync),
      mkdirSync: alive(fs.mkdirSync),
      renameSync: alive(fs.renameSync),
      rmdirSync: alive(fs.rmdirSync),
      rmSync: alive(fs.rmSync),
      symlinkSync: alive(fs.symlinkSync),
      unlinkSync: alive(fs.unlinkSync),
      writeSync: alive(fs.writeSync),
    }
  }

  test('at any moment is whole or can be finished, and loses nothing', { timeout: 120_000 }, () => {
    let ended = false
    let finished = 0
    for (let calls = 0; !ended; calls += 1) {
      const { root, store, save, compare, restored } = open()
      const name = save()
      work(root)
      const worked = readFiles(root)
      try {
        restored(name, {}, dyingDisk(calls))
        ended = true
      } catch (error) {
        expect(error).toMatchObject({ message: 'killed' })
      }
      const [journal] = openRestores(store)
      if (!ended && journal === undefined) {
        const { modified, deleted, added } = compare(name)
        const isDone = modified.length + deleted.length + added.length === 0
        // Only the last call, which syncs the removed journal, comes after the work.
        if (!isDone) expect(readFiles(root)).toEqual(worked)
      }
      if (journal !== undefined) {
        finished += 1
        expect(journal).toEqual({ restore_id: 'r1', manifest: name, workspace_root: root, started_at: 2, steps: 7 })
        // The contents that it needs must survive a sweep before it goes on.
        if (calls % 5 === 0) store.sweep(new Set([name]), Number.MAX_SAFE_INTEGER)
        const result = finishRestore('r1', store, quickDisk)
        expect(result).toMatchObject({ not_restored: [] })
        expect(readFiles(root)).toEqual({ ...FILES, 'x.log': 'ignored' })
        if (calls % 5 === 0) {
          expect(restored(result?.safety.manifest ?? '')).toMatchObject({ not_restored: [] })
          expect(readFiles(root)).toEqual(worked)
        }
      }
      expect(openRestores(store)).toEqual([])
      expect(finishRestore('r1', store, quickDisk)).toBeNull()
    }
    expect(finished).toBeGreaterThan(20)
  })

  test('with a full disk says so and can be finished later', () => {
    const { root, store, save, restored } = open()
    const name = save()
    work(root)
    const disk: Disk = {
      ...quickDisk,
      fchmodSync() {
        throw Object.assign(new Error('full'), { code: 'ENOSPC' })
      },
    }

    expect(() => restored(name, {}, disk)).toThrow(expect.objectContaining({ code: 'storage_full' }))
    expect(openRestores(store)).toHaveLength(1)
    expect(() => restored(name)).toThrow(expect.objectContaining({ code: 'conflict' }))
    expect(finishRestore('r1', store, quickDisk)).toMatchObject({ not_restored: [] })
    expect(readFiles(root)).toEqual({ ...FILES, 'x.log': 'ignored' })
  })

  test('is not found outside its folder', () => {
    const { store } = open()

    expect(() => finishRestore('../manifests/x', store)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })

  test('after kill -9 can be finished', async () => {
    const { root, folder, store, save, requestFor } = open()
    const name = save()
    work(root)
    const child = fork(new URL('./testing/killed-restore.ts', import.meta.url), { execArgv: [] })
    // Four contents, the checkpoint for an undo and the journal come first: this is the second file.
    child.send({ folder, request: requestFor(name), renames: 8 })
    const [, signal] = await once(child, 'exit')

    expect(signal).toBe('SIGKILL')
    expect(openRestores(store)).toHaveLength(1)
    expect(finishRestore('r1', store, quickDisk)).toMatchObject({ not_restored: [] })
    expect(readFiles(root)).toEqual({ ...FILES, 'x.log': 'ignored' })
  })
})
