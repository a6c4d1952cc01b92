import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createIds } from '../../domain/ids.ts'
import { silentLogger } from '../../domain/logger.ts'
import type { SharedBlobs } from '../../domain/shared-blobs.ts'
import { createCachedBlobs } from './cached-blobs.ts'

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** What a database keeps for all processes. */
function sharedBytes() {
  const kept = new Map<string, Buffer>()
  const read: string[] = []
  const shared: SharedBlobs = {
    async put(sha256, bytes, content) {
      const parts: Uint8Array[] = []
      for await (const part of content()) parts.push(part)
      const whole = Buffer.concat(parts)
      expect(whole.length).toBe(bytes)
      kept.set(sha256, whole)
    },
    async *get(sha256) {
      read.push(sha256)
      const bytes = kept.get(sha256)
      if (bytes === undefined) return
      yield bytes.subarray(0, 2)
      yield bytes.subarray(2)
    },
    has: async (sha256) => kept.has(sha256),
    async *hashes() {
      yield [...kept.keys()]
    },
    remove: async (sha256) => kept.delete(sha256),
  }
  return { kept, read, shared }
}

async function openCache(shared: SharedBlobs, maxBytes = 1_000) {
  const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-cache-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const dir = join(folder, 'cache')
  const open = () => createCachedBlobs({ shared, dir, maxBytes, newId: createIds(Date.now).uuid, log: silentLogger })
  const blobs = open()
  return {
    blobs,
    dir,
    /** Another process with the same cache, after this one has ended. */
    reopen: open,
    async add(text: string): Promise<string> {
      const incoming = await blobs.begin(createIds(Date.now).uuid())
      await incoming.write(Buffer.from(text))
      await incoming.sync()
      await incoming.keepAs(hashOf(text))
      await incoming.discard()
      return hashOf(text)
    },
    async textOf(sha256: string): Promise<string> {
      using open = await blobs.open(sha256)
      return await readFile(open.path, 'utf8')
    },
    async names(): Promise<string[]> {
      const found = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => [])
      return found.filter((entry) => entry.isFile()).map(({ name }) => name)
    },
  }
}

describe('the cache of shared bytes', () => {
  test('keeps what is added here, and what other processes added comes when it is opened', async () => {
    const { shared, kept, read } = sharedBytes()
    const [here, there] = [await openCache(shared), await openCache(shared)]
    const sha256 = await here.add('hello')

    expect(kept.get(sha256)?.toString()).toBe('hello')
    expect(await here.textOf(sha256)).toBe('hello')
    expect(read).toEqual([])
    expect(await Promise.all([there.textOf(sha256), there.textOf(sha256)])).toEqual(['hello', 'hello'])
    expect(read).toEqual([sha256])
    expect((await stat(there.dir)).mode & 0o777).toBe(0o700)
  })

  test('is bounded: the least recently used file goes, unless somebody reads it', async () => {
    const { shared } = sharedBytes()
    const { blobs, add, textOf, names } = await openCache(shared, 10)
    const [a, b] = [await add('aaaa'), await add('bbbb')]
    await textOf(a)
    const c = await add('cccc')
    expect((await names()).sort()).toEqual([a, c].sort())

    const reading = await blobs.open(a)
    const d = await add('dddddd')
    expect((await names()).sort()).toEqual([a, d].sort())
    expect(await readFile(reading.path, 'utf8')).toBe('aaaa')
    reading[Symbol.dispose]()
    expect(await textOf(b)).toBe('bbbb')
    expect((await names()).sort()).toEqual([b, d].sort())
  })

  test('of an earlier process is used again, and stays bounded', async () => {
    const { shared, read } = sharedBytes()
    const { add, reopen, names } = await openCache(shared, 10)
    const [a] = [await add('aaaa'), await add('bbbb')]
    const later = reopen()
    using open = await later.open(a)

    expect(await readFile(open.path, 'utf8')).toBe('aaaa')
    expect(read).toEqual([])
    const incoming = await later.begin('id')
    await incoming.write(Buffer.from('cccc'))
    await incoming.sync()
    await incoming.keepAs(hashOf('cccc'))
    expect((await names()).sort()).toEqual([a, hashOf('cccc')].sort())
  })

  test('never shows bytes that do not have their hash', async () => {
    const { shared, kept } = sharedBytes()
    const { textOf, add, names } = await openCache(shared)
    kept.set(hashOf('hello'), Buffer.from('other'))

    await expect(textOf(hashOf('hello'))).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(textOf(hashOf('nobody'))).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await names()).toEqual([])
    expect(await textOf(await add('fine'))).toBe('fine')
  })

  test('forgets what was removed here or elsewhere', async () => {
    const { shared, kept } = sharedBytes()
    const { blobs, add, names } = await openCache(shared)
    const [a, b] = [await add('aaaa'), await add('bbbb')]
    kept.delete(b)
    const all: string[] = []
    for await (const hashes of blobs.hashes()) all.push(...hashes)
    expect([...new Set(all)].sort()).toEqual([a, b].sort())

    expect(await blobs.remove(a, 0)).toBe(true)
    expect(await blobs.remove(b, 0)).toBe(false)
    expect(await names()).toEqual([])
  })

  test('has nothing when the shared store did not take the bytes', async () => {
    const { shared } = sharedBytes()
    const failing = await openCache({ ...shared, put: () => Promise.reject(new Error('away')) })

    await expect(failing.add('hello')).rejects.toThrow('away')
    await expect(failing.textOf(hashOf('hello'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
