import { hash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type SaveRequest, saveCheckpoint } from './checkpoint-job.ts'
import { type Manifest, pageOfFiles } from './manifest.ts'
import { contentLimits } from './restore-plan.ts'
import { createSnapshotStore } from './snapshot-store.ts'
import { quickDisk, readFiles, temporaryFolder, workspaceWith, writeFiles } from './testing/workspace.ts'
import type { Disk } from './workspace-folder.ts'

const sha256 = (text: string): string => hash('sha256', text, 'hex')
const all = Number.MAX_SAFE_INTEGER

function open(disk = quickDisk) {
  const folder = join(temporaryFolder(), 'checkpoints')
  const store = createSnapshotStore(folder, disk)
  const save = (root: string, request: Partial<SaveRequest> = {}) =>
    saveCheckpoint(
      { root, excluded: [], checkpointId: 'c1', label: null, createdAt: 1, content: contentLimits, ...request },
      { store, mono: () => 0, disk },
    )
  const blobs = (): string[] =>
    Object.keys(readFiles(folder))
      .filter((path) => path.startsWith('blobs/'))
      .map((path) => path.slice('blobs/ab/'.length))
  return { folder, store, save, blobs }
}

describe('saving', () => {
  test('keeps hashes and contents, and sums them up', () => {
    const { store, save } = open()
    const root = workspaceWith({ 'a.txt': 'one', 'b/c.txt': 'two!', '.gitignore': 'x' })
    fs.symlinkSync('a.txt', join(root, 'link'))
    const summary = save(root, { label: 'before the refactoring' })

    expect(summary).toEqual({
      checkpoint_id: 'c1',
      label: 'before the refactoring',
      workspace_root: root,
      created_at: 1,
      manifest: expect.stringMatching(/^[0-9a-f]{64}$/),
      files: 4,
      bytes: 8,
      files_with_content: 3,
      skipped: 0,
      skipped_paths: [],
    })
    expect(store.readBlob(sha256('two!'), 4).toString()).toBe('two!')
  })

  test('reads back the manifest that it wrote', () => {
    const { store, save } = open()
    const root = workspaceWith({ 'a\nb': 'one', __proto__x: '', '.gitignore': 'x\ny' })
    fs.writeFileSync(Buffer.concat([Buffer.from(`${root}/x`), Buffer.from([0xff])]), '')
    fs.symlinkSync('somewhere', join(root, '__proto__'))
    const { manifest } = save(root)
    const mode = fs.statSync(join(root, 'a\nb')).mode & 0o777

    const expected: Manifest = {
      checkpointId: 'c1',
      label: null,
      workspaceRoot: root,
      createdAt: 1,
      files: new Map([
        ['.gitignore', { type: 'file', sha256: sha256('x\ny'), bytes: 3, mode }],
        ['__proto__', { type: 'link', target: 'somewhere' }],
        ['__proto__x', { type: 'file', sha256: sha256(''), bytes: 0, mode }],
        ['a\nb', { type: 'file', sha256: sha256('one'), bytes: 3, mode }],
      ]),
      kept: new Set([sha256('x\ny'), sha256('one'), sha256('')]),
      skipped: [{ path: 'x\ufffd', reason: 'bad_name' }],
      ignoreFiles: [{ folder: '', text: 'x\ny' }],
    }
    expect(store.readManifest(manifest)).toEqual(expected)
  })

  test('keeps the same bytes once', () => {
    const { save, blobs } = open()
    const first = save(workspaceWith({ a: 'same', b: 'same' }))
    const second = save(workspaceWith({ c: 'same', d: 'other' }), { checkpointId: 'c2' })

    expect(blobs().sort()).toEqual([sha256('same'), sha256('other')].sort())
    expect([first.files_with_content, second.files_with_content]).toEqual([2, 2])
  })

  test('only we may read what it keeps', () => {
    const { folder, save } = open()
    save(workspaceWith({ a: 'secret' }))
    const modes = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).map((item) => {
      const mode = fs.statSync(join(item.parentPath, item.name)).mode & 0o777
      return item.isDirectory() ? mode === 0o700 : mode === 0o600
    })

    expect(new Set(modes)).toEqual(new Set([true]))
  })

  test('files beyond the limits have only their hash', () => {
    const { store, save } = open()
    const root = workspaceWith({ 'a-large': 'x'.repeat(101), b: 'y'.repeat(60), c: 'z'.repeat(60), d: '' })
    const summary = save(root, { content: { maxFileBytes: 100, maxTotalBytes: 100 } })

    expect(summary).toMatchObject({ files: 4, files_with_content: 2 })
    expect(store.readManifest(summary.manifest).kept).toEqual(new Set([sha256('y'.repeat(60)), sha256('')]))
  })

  test('without contents it keeps only hashes', () => {
    const { save, blobs } = open()

    expect(save(workspaceWith({ a: 'one' }), { content: null })).toMatchObject({ files: 1, files_with_content: 0 })
    expect(blobs()).toEqual([])
  })
})

describe('a full disk', () => {
  test('at any write leaves no checkpoint and nothing half', () => {
    let space = 0
    const disk: Disk = {
      ...quickDisk,
      writeSync: ((fd: number, bytes: Buffer, at: number) => {
        space -= 1
        if (space < 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
        return fs.writeSync(fd, bytes, at)
      }) as Disk['writeSync'],
    }
    const { folder, store, save, blobs } = open(disk)
    const root = workspaceWith({ a: 'one', b: 'two', c: 'three' })
    // Three contents and the manifest.
    for (const writes of [0, 1, 2, 3]) {
      space = writes
      expect(() => save(root)).toThrow(expect.objectContaining({ code: 'storage_full' }))
      expect(Object.keys(readFiles(folder)).filter((path) => !path.startsWith('blobs/'))).toEqual([])
    }
    // The contents were in their place before the manifest failed. They are whole, and a sweep removes them.
    expect(blobs()).toHaveLength(3)
    expect(store.sweep(new Set(), 0)).toMatchObject({ manifests: 0, blobs: 3 })

    space = 4
    expect(save(root)).toMatchObject({ files: 3, files_with_content: 3 })
  })

  test('while syncing is an error too', () => {
    const disk: Disk = {
      ...quickDisk,
      fsyncSync() {
        throw Object.assign(new Error('io'), { code: 'EIO' })
      },
    }
    const { folder, save } = open(disk)

    expect(() => save(workspaceWith({ a: 'one' }))).toThrow(expect.objectContaining({ code: 'storage_failed' }))
    expect(readFiles(folder)).toEqual({})
  })
})

describe('damage', () => {
  test('a manifest that is not what was written is refused', () => {
    const { folder, store, save } = open()
    const { manifest } = save(workspaceWith({ a: 'one' }))
    const path = join(folder, 'manifests', manifest)
    fs.writeFileSync(path, gzipSync('["quarterdeck-checkpoint-1",{}]'))

    expect(() => store.readManifest(manifest)).toThrow(expect.objectContaining({ code: 'storage_failed' }))
    fs.writeFileSync(path, 'not gzip')
    expect(() => store.readManifest(manifest)).toThrow(expect.objectContaining({ code: 'storage_failed' }))
    fs.rmSync(path)
    expect(() => store.readManifest(manifest)).toThrow(expect.objectContaining({ code: 'storage_failed' }))
    expect(() => store.readManifest('../../etc/passwd')).toThrow(expect.objectContaining({ code: 'storage_failed' }))
  })

  test('bytes that are not what was kept are refused, also if they would fill the memory', () => {
    const { folder, store, save } = open()
    save(workspaceWith({ a: 'one' }))
    const name = sha256('one')
    fs.writeFileSync(join(folder, 'blobs', name.slice(0, 2), name), gzipSync(Buffer.alloc(10_000_000)))

    expect(() => store.readBlob(name, 3)).toThrow(expect.objectContaining({ code: 'storage_failed' }))
  })

  test('a sweep removes no contents while a manifest is unreadable', () => {
    const { folder, store, save, blobs } = open()
    const { manifest } = save(workspaceWith({ a: 'one' }))
    fs.writeFileSync(join(folder, 'manifests', manifest), 'not gzip')

    expect(() => store.sweep(new Set([manifest]), all)).toThrow(expect.objectContaining({ code: 'storage_failed' }))
    expect(blobs()).toEqual([sha256('one')])
  })
})

describe('a sweep', () => {
  test('removes what no checkpoint needs', () => {
    const { store, save, blobs } = open()
    const root = workspaceWith({ a: 'shared', b: 'old' })
    const first = save(root)
    writeFiles(root, { b: 'new' })
    const second = save(root, { checkpointId: 'c2' })

    expect(first.manifest).not.toBe(second.manifest)
    expect(store.sweep(new Set([second.manifest]), all)).toEqual({ manifests: 1, blobs: 1, bytes: expect.any(Number) })
    expect(blobs().sort()).toEqual([sha256('shared'), sha256('new')].sort())
  })

  test('removes old checkpoints that nobody knows, and keeps young ones', () => {
    const { store, save, blobs } = open()
    const { manifest } = save(workspaceWith({ a: 'one' }))

    expect(store.sweep(new Set(), 1)).toMatchObject({ manifests: 0, blobs: 0 })
    expect(store.sweep(new Set(), all)).toMatchObject({ manifests: 1, blobs: 1 })
    expect(() => store.readManifest(manifest)).toThrow()
    expect(blobs()).toEqual([])
  })

  test('removes what a killed save left', () => {
    const { folder, store } = open()
    writeFiles(folder, { [`incoming/c9/${sha256('one')}`]: 'half' })
    store.sweep(new Set(), 0)

    expect(readFiles(folder)).toEqual({})
  })
})

test('lists the files of a checkpoint in pages', () => {
  const { store, save } = open()
  const root = workspaceWith({ a: '1', b: '2', c: '3' })
  const mode = 0o600
  for (const name of ['a', 'b', 'c']) fs.chmodSync(join(root, name), mode)
  fs.symlinkSync('a', join(root, 'd'))
  const manifest = store.readManifest(save(root, { content: { maxFileBytes: 1, maxTotalBytes: 2 } }).manifest)
  const has = (text: string): boolean => manifest.kept.has(sha256(text))
  const file = (path: string, text: string) => ({
    path,
    sha256: sha256(text),
    bytes: 1,
    mode,
    link_target: null,
    has_content: has(text),
  })

  expect(pageOfFiles(manifest, null, 2)).toEqual({ files: [file('a', '1'), file('b', '2')], total: 4, next: 'b' })
  expect(pageOfFiles(manifest, 'b', 2)).toEqual({
    files: [file('c', '3'), { path: 'd', sha256: null, bytes: 0, mode: null, link_target: 'a', has_content: true }],
    total: 4,
    next: null,
  })
})
