import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Checkpoints, createCheckpoints } from './create-checkpoints.ts'
import { createSnapshotStore } from './snapshot-store.ts'
import { readFiles, temporaryFolder, workspaceWith, writeFiles } from './testing/workspace.ts'

/** A thread starts in 0.1 s, but may take seconds on a busy machine. */
const PATIENT = { timeout: 600_000 }

/** Set it to 100000 to measure. */
const MANY = Number(process.env.CHECKPOINT_FILES ?? 2_000)

function open(files: Readonly<Record<string, string>>) {
  const root = workspaceWith(files)
  const folder = join(temporaryFolder(), 'checkpoints')
  const checkpoints = createCheckpoints({ folder, excluded: [], isProtected: (path) => path.startsWith('.github/') })
  const request = (checkpointId: string, content = true) => ({ root, checkpointId, label: null, createdAt: 1, content })
  return { root, folder, checkpoints, request }
}

const confirmed = (root: string, manifest: string, confirm: string): Parameters<Checkpoints['restore']>[0] => ({
  root,
  manifest,
  confirm,
  restoreId: 'r1',
  safety: { checkpointId: 'safety', label: 'before the restore', createdAt: 2 },
})

test('saves, plans and restores on a thread', PATIENT, async () => {
  const { root, checkpoints, request } = open({ 'a.txt': 'one', 'b.txt': 'two' })
  const { manifest } = await checkpoints.save(request('c1'))
  writeFiles(root, { 'a.txt': 'changed', '.github/ci.yml': 'new' })

  const plan = await checkpoints.plan({ root, manifest })
  expect(plan).toMatchObject({ modified: ['a.txt'], cannot_restore: [], protected: ['.github/ci.yml'] })
  expect(await checkpoints.restore(confirmed(root, manifest, 'another digest'))).toEqual({ status: 'changed', plan })
  expect(await checkpoints.restore(confirmed(root, manifest, plan.digest))).toMatchObject({
    status: 'restored',
    result: { written: 1, removed: 1, not_restored: [], safety: { checkpoint_id: 'safety' } },
  })
  expect(readFiles(root)).toEqual({ 'a.txt': 'one', 'b.txt': 'two' })
  expect(await checkpoints.finishRestore('r1')).toBeNull()
  expect(await checkpoints.files(manifest, null, 1)).toMatchObject({
    files: [{ path: 'a.txt' }],
    total: 2,
    next: 'a.txt',
  })
})

test('a server without checkpoints starts no thread to look for them', async () => {
  const { checkpoints } = open({})
  let threads = 0
  const count = () => {
    threads += 1
  }
  process.on('worker', count)
  onTestFinished(() => void process.off('worker', count))

  expect(await checkpoints.openRestores()).toEqual([])
  expect(await checkpoints.sweep([], Number.MAX_SAFE_INTEGER)).toEqual({ manifests: 0, blobs: 0, bytes: 0 })
  expect(threads).toBe(0)
})

test(`hashes ${MANY} files`, PATIENT, async () => {
  const { root, checkpoints, request } = open({})
  for (let i = 0; i < MANY; i += 1) {
    const folder = join(root, `folder-${i % 100}`, `part-${i % 7}`)
    if (i < 700) fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(join(folder, `file-${i}.ts`), `export const value = ${i}\n`.repeat(20))
  }
  const hashed = await checkpoints.save(request('c1', false))

  expect(hashed).toMatchObject({ files: MANY, files_with_content: 0, skipped: 0 })
  if (process.env.CHECKPOINT_FILES === undefined) return
  for (const [what, content] of Object.entries({ hashes: false, contents: true, 'known-contents': true })) {
    const started = performance.now()
    expect(await checkpoints.save(request(what, content))).toMatchObject({ files_with_content: content ? MANY : 0 })
    process.stderr.write(`${MANY} files, ${what}: ${Math.round(performance.now() - started)} ms\n`)
  }
})

describe('an abort', () => {
  test('ends the job and leaves nothing', PATIENT, async () => {
    const { folder, checkpoints, request } = open({ a: 'one' })
    const controller = new AbortController()
    const saving = checkpoints.save(request('c1'), controller.signal)
    controller.abort(new Error('enough'))

    await expect(saving).rejects.toThrow('enough')
    expect(fs.existsSync(join(folder, 'manifests'))).toBe(false)
    expect(await checkpoints.save(request('c2'))).toMatchObject({ files: 1 })
  })

  test('in the middle of the work removes what was written', PATIENT, async () => {
    const { root, folder, checkpoints, request } = open({ a: 'one' })
    // The files of a folder come before the folders in it. This one takes seconds to read, and no space on the disk.
    fs.mkdirSync(join(root, 'later'))
    const large = fs.openSync(join(root, 'later/large'), 'w')
    fs.ftruncateSync(large, 8 * 1024 ** 3)
    fs.closeSync(large)
    const controller = new AbortController()
    const saving = checkpoints.save(request('c1'), controller.signal)
    await vi.waitUntil(() => fs.existsSync(join(folder, 'incoming/c1')), { timeout: 60_000, interval: 5 })
    controller.abort(new Error('enough'))

    await expect(saving).rejects.toThrow('enough')
    expect(readFiles(folder)).toEqual({})
  })
})

test('an id that is not a name touches nothing', PATIENT, async () => {
  const { root, checkpoints, request } = open({ a: 'one' })

  await expect(checkpoints.save(request(`../../../${root}`))).rejects.toMatchObject({ code: 'invalid_request' })
  expect(readFiles(root)).toEqual({ a: 'one' })
})

test('a failure of the thread keeps its code', PATIENT, async () => {
  const { root, checkpoints, request } = open({ a: 'one' })
  fs.rmSync(root, { recursive: true })

  await expect(checkpoints.save(request('c1'))).rejects.toMatchObject({ name: 'ServerError', code: 'file_unreadable' })
})

test('a sweep beside saves takes nothing from them', PATIENT, async () => {
  const { folder, checkpoints, request } = open({ a: 'one' })
  const store = createSnapshotStore(folder)
  const old = await checkpoints.save(request('c0'))
  fs.rmSync(join(folder, 'manifests', old.manifest))
  // The bytes of `a` belong to nobody now, unless a save finds them again.
  const saved = await Promise.all([
    checkpoints.save(request('c1')),
    checkpoints.sweep([], 0),
    checkpoints.save(request('c2')),
  ])
  const [first, , second] = saved

  for (const { manifest } of [first, second]) {
    for (const sha256 of store.readManifest(manifest).kept) {
      expect(store.readBlob(sha256, 3).toString()).toBe('one')
    }
  }
  expect([first.files_with_content, second.files_with_content]).toEqual([1, 1])
})
