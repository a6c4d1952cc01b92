import {
  appendFile,
  link,
  mkdir,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { createSystemClock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { KnowledgeStore } from '../../store/ports/knowledge.ts'
import { createMemoryKnowledge } from '../../store/testing/memory-knowledge.ts'
import { byLine, contentOf, INDEX, never, plainReader, settingsOf, testUpdater } from './testing/test-updater.ts'
import { newFolder, writeFiles } from './testing/write-files.ts'

const none = { read: 0, known: 0, unchanged: 0, removed: 0, problems: 0, passing: 0 }

async function startedWith(files: Record<string, string | { to: string }>, parts = {}) {
  const folder = await newFolder()
  await writeFiles(folder, files)
  return { folder, ...testUpdater(folder, parts) }
}

const said = async (store: KnowledgeStore): Promise<string[]> => (await contentOf(store)).passages

describe('an update', () => {
  test('reads what is new, and nothing again while nothing changes', async () => {
    const { store, reads, update } = await startedWith({ 'docs/a.md': 'one\ntwo', 'docs/sub/b.md': 'three' })

    expect(await update()).toEqual({ ...none, read: 2 })
    expect(await said(store)).toEqual(['a.md: one', 'a.md: two', 'sub/b.md: three'])
    expect(await update()).toEqual({ ...none, unchanged: 2 })
    expect(reads).toHaveLength(2)
  })

  test('replaces what has changed and removes what is gone', async () => {
    const { folder, store, update } = await startedWith({
      'docs/a.md': 'old',
      'docs/b.md': 'gone',
      'docs/c.md': 'same',
    })
    await update()
    await writeFile(join(folder, 'docs/a.md'), 'newer')
    await rm(join(folder, 'docs/b.md'))

    expect(await update()).toEqual({ ...none, read: 1, removed: 1, unchanged: 1 })
    expect(await said(store)).toEqual(['a.md: newer', 'c.md: same'])
  })

  test('sees a change that keeps the size and the time of a file', async () => {
    const { folder, store, update } = await startedWith({ 'docs/a.md': '14 days' })
    await update()
    const { atime, mtime } = await stat(join(folder, 'docs/a.md'))
    await writeFile(join(folder, 'docs/a.md'), '21 days')
    await utimes(join(folder, 'docs/a.md'), atime, mtime)

    expect(await update()).toEqual({ ...none, read: 1 })
    expect(await said(store)).toEqual(['a.md: 21 days'])
  })

  test('sees such a change that was made while no server ran', async () => {
    const { folder, store, update } = await startedWith({ 'docs/a.md': '14 days' })
    await update()
    const { atime, mtime } = await stat(join(folder, 'docs/a.md'))
    await writeFile(join(folder, 'docs/a.md'), '21 days')
    await utimes(join(folder, 'docs/a.md'), atime, mtime)

    expect(await testUpdater(folder, { store }).update()).toEqual({ ...none, read: 1 })
    expect(await said(store)).toEqual(['a.md: 21 days'])
  })

  test('only notes the new time of a file that says the same', async () => {
    const { folder, store, reads, update } = await startedWith({ 'docs/a.md': 'one' })
    await update()
    await utimes(join(folder, 'docs/a.md'), 1_000, 1_000)

    expect(await update()).toEqual({ ...none, known: 1 })
    expect(await store.files(INDEX, '', 9)).toMatchObject([
      { path: 'a.md', changedMs: Math.floor((await stat(join(folder, 'docs/a.md'))).ctimeMs) },
    ])
    expect(reads).toHaveLength(1)
  })

  test('reads nothing again when a folder moves', async () => {
    const { folder, store, reads, update } = await startedWith({ 'docs/old/a.md': 'one', 'docs/old/sub/b.md': 'two' })
    await update()
    await rename(join(folder, 'docs/old'), join(folder, 'docs/new'))

    expect(await update()).toEqual({ ...none, known: 2, removed: 2 })
    expect(reads).toHaveLength(2)
    expect(await said(store)).toEqual(['new/a.md: one', 'new/sub/b.md: two'])
  })

  test('reads a copy once, and keeps it when the first one goes', async () => {
    const { folder, store, reads, update } = await startedWith({ 'docs/a/x.md': 'same' })
    await update()
    await writeFiles(folder, { 'docs/b/x.md': 'same', 'docs/c/x.md': 'same' })
    await rm(join(folder, 'docs/a'), { recursive: true })

    expect(await update()).toEqual({ ...none, known: 2, removed: 1 })
    expect(reads).toEqual(['same'])
    expect(await said(store)).toEqual(['b/x.md: same'])
  })

  test('cuts everything again when cutting has another version', async () => {
    const { folder, store, update } = await startedWith({ 'docs/a.md': 'one' })
    await update()
    const again = testUpdater(folder, { store, version: 2 })

    expect(await again.update()).toEqual({ ...none, read: 1 })
    expect(await again.update()).toEqual({ ...none, unchanged: 1 })
  })

  test('indexes the rest when files cannot be read, and names each with the reason', async () => {
    const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nx'
    const { folder, store, update } = await startedWith(
      {
        'docs/a.md': 'fine',
        'docs/bad.md': 'BAD',
        'docs/bug.md': 'BUG',
        'docs/blank.md': ' \n ',
        'docs/empty.md': '',
        'docs/howto.md': key,
        'docs/scan.md': 'SCAN',
        'docs/uncut.md': 'UNCUT',
        'docs/.env': 'KEY=1',
        'docs/lost': { to: '/etc/passwd' },
        'docs/nul.bin': '\0\0\0\0',
      },
      {
        reader: {
          async read(file: Parameters<ReturnType<typeof plainReader>['read']>[0], ...rest: [AbortSignal]) {
            const extract = await plainReader().read(file, ...rest)
            const text = extract.sections[0]?.text ?? ''
            if (file.mimeType === 'application/octet-stream')
              throw new ServerError('file_unreadable', 'Not a type we read.')
            if (text === 'BAD') throw new ServerError('file_unreadable', 'The file is damaged.')
            if (text === 'BUG') throw new TypeError('x is not a function')
            return text === 'SCAN'
              ? { ...extract, unread: ['page 2', 'page 3'], notes: ['A note.', 'Two pictures are left out.'] }
              : extract
          },
        },
        // The files are old, so that none may have changed in the moment of the first look.
        clock: { ...createSystemClock(), now: () => Date.now() + 10_000 },
        prepare: (...args: Parameters<typeof byLine>) => {
          if (args[1].name === 'uncut.md') throw new TypeError('x is not a function')
          return byLine(...args)
        },
      },
    )

    expect(await update()).toEqual({ ...none, read: 2, problems: 9, passing: 1 })
    const problems = await store.problems(INDEX, 99)
    expect(Object.fromEntries(problems.map(({ path, problem }) => [path, problem]))).toEqual({
      '.env': 'Such a file holds passwords and keys of the environment.',
      'bad.md': 'The file is damaged.',
      'blank.md': 'It has no text.',
      'bug.md': 'It could not be read.',
      'empty.md': 'It has no text.',
      'howto.md': 'It holds a private key.',
      lost: 'It is a link that leads out of the source.',
      'nul.bin': 'Not a type we read.',
      'scan.md': 'Two pictures are left out. 2 scanned pages were not read.',
      'uncut.md': 'Its text could not be cut into passages. The log of the server says why.',
    })
    expect(await said(store)).toEqual(['a.md: fine', 'scan.md: SCAN'])
    // What may pass is tried again at once, and what a new start may mend after that.
    expect(await update()).toEqual({ ...none, unchanged: 10, problems: 9, passing: 1 })
    await rm(join(folder, 'docs/bug.md'))
    expect(await testUpdater(folder, { store }).update()).toMatchObject({ read: 3, problems: 5 })
    expect(await readdir(join(folder, 'copies'))).toEqual([])
  })

  test('hides at once what a file said before it could not be read any more', async () => {
    const { folder, store, update } = await startedWith({ 'docs/a.md': 'old' })
    await update()
    await truncate(join(folder, 'docs/a.md'), 60_000_000)

    expect(await update()).toEqual({ ...none, problems: 1 })
    expect(await said(store)).toEqual([])
  })

  test('reads on in a scan that takes long', async () => {
    const left = ['page 2', 'page 3', 'page 4']
    const asked: unknown[] = []
    const { store, update } = await startedWith(
      { 'docs/a.md': 'x' },
      {
        reader: {
          async read(_file: unknown, _signal: unknown, _progress: unknown, unread: unknown) {
            asked.push(unread)
            left.pop()
            return { sections: [{ label: '', text: 'scan' }], notes: [], ...(left.length > 0 && { unread: [...left] }) }
          },
        },
      },
    )

    expect(await update()).toEqual({ ...none, read: 1 })
    expect(asked).toEqual([undefined, 'all', 'all'])
    expect(await store.problems(INDEX, 9)).toEqual([])
  })

  test('reads two files at a time at most', async () => {
    let [now, most] = [0, 0]
    const together = Promise.withResolvers<void>()
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`docs/${i}.md`, `text ${i}`]))
    const { update } = await startedWith(files, {
      reader: {
        async read() {
          now += 1
          most = Math.max(most, now)
          if (now === 2) together.resolve()
          await together.promise
          await new Promise(setImmediate)
          now -= 1
          return { sections: [{ label: '', text: 'x' }], notes: [] }
        },
      },
    })
    await update()

    expect(most).toBe(2)
  })

  test('tells its folders and its progress', async () => {
    const { folder, update } = await startedWith({ 'docs/a.md': '1', 'docs/b.md': '2', 'docs/c.md': '3' })
    const told: unknown[] = []
    await update(never, ['docs'], { walked: (folders) => told.push(folders), progress: (one) => told.push(one) })

    expect(told[0]).toEqual([join(folder, 'docs')])
    expect(told[1]).toEqual({ done: 0, total: 3, phase: 'reading' })
    expect(told.at(-1)).toEqual({ done: 3, total: 3, phase: 'reading' })
  })
})

describe('a file that changes while it is read', () => {
  test('is read as it is afterwards, and its text is never kept under the hash of another', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'docs/a.md': 'first' })
    const path = join(folder, 'docs/a.md')
    const { store, update } = testUpdater(folder, {
      store: onceBefore(createMemoryKnowledge(), 'known', () => writeFile(path, 'second text')),
    })

    expect(await update()).toEqual({ ...none, read: 1 })
    expect(await said(store)).toEqual(['a.md: second text'])
    expect(await store.files(INDEX, '', 9)).toMatchObject([
      { bytes: 11, changedMs: Math.floor((await stat(path)).ctimeMs) },
    ])
  })

  test('is a problem that passes when it never stops', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'docs/a.md': 'first', 'docs/b.md': 'fine' })
    const path = join(folder, 'docs/a.md')
    const inner = createMemoryKnowledge()
    let isBusy = true
    const store = {
      ...inner,
      known: async (...args: Parameters<typeof inner.known>) => {
        if (isBusy) await appendFile(path, 'more')
        return inner.known(...args)
      },
    }
    const { update } = testUpdater(folder, { store })

    expect(await update()).toEqual({ ...none, read: 1, problems: 1, passing: 1 })
    expect(await store.problems(INDEX, 9)).toMatchObject([{ path: 'a.md', problem: 'It changes while it is read.' }])
    isBusy = false
    expect(await update()).toMatchObject({ read: 1, problems: 0, passing: 0 })
    expect(await store.problems(INDEX, 9)).toEqual([])
  })

  test.each([
    ['a link to a file outside', async (path: string, outside: string) => symlink(outside, path)],
    ['a folder', async (path: string) => mkdir(path)],
  ])('is not read when %s has taken its place', async (_, replace) => {
    const folder = await newFolder()
    await writeFiles(folder, { 'docs/a.md': 'inside', 'outside.md': 'private' })
    const path = join(folder, 'docs/a.md')
    const { store, reads, update } = testUpdater(folder, {
      store: onceBefore(createMemoryKnowledge(), 'files', async () => {
        await rm(path)
        await replace(path, join(folder, 'outside.md'))
      }),
    })

    expect(await update()).toEqual({ ...none, problems: 1, passing: 1 })
    expect(reads).toEqual([])
    expect(await said(store)).toEqual([])
  })

  test('is not read when a link to another folder has taken the place of its folder', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'docs/sub/a.md': 'inside', 'outside/a.md': 'private' })
    const { reads, update } = testUpdater(folder, {
      store: onceBefore(createMemoryKnowledge(), 'files', async () => {
        await rename(join(folder, 'docs/sub'), join(folder, 'docs/other'))
        await symlink(join(folder, 'outside'), join(folder, 'docs/sub'))
      }),
    })

    expect(await update()).toEqual({ ...none, problems: 1, passing: 1 })
    expect(reads).toEqual([])
  })

  test('vanishes when it is gone before it is read', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'docs/a.md': 'one', 'docs/b.md': 'two' })
    const { store, update } = testUpdater(folder, {
      store: onceBefore(createMemoryKnowledge(), 'files', () => rm(join(folder, 'docs/a.md'))),
    })

    expect(await update()).toEqual({ ...none, read: 1 })
    expect(await said(store)).toEqual(['b.md: two'])
  })
})

describe('an update that cannot go on', () => {
  test('ends when the disk is full, and the next one goes on where it was', async () => {
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`docs/${i}.md`, `text ${i}`]))
    const folder = await newFolder()
    await writeFiles(folder, files)
    const inner = createMemoryKnowledge()
    let room = 7
    const put: typeof inner.put = async (...args) => {
      room -= 1
      if (room < 0) throw new ServerError('storage_full', 'The disk is full.')
      return inner.put(...args)
    }
    const { reads, update } = testUpdater(folder, { store: { ...inner, put } })

    await expect(update()).rejects.toMatchObject({ code: 'storage_full' })
    expect((await inner.figures(INDEX)).files).toBe(7)
    room = 99
    expect(await update()).toEqual({ ...none, read: 13, unchanged: 7 })
    expect(reads.length).toBeLessThanOrEqual(22)
  })

  test('goes on with other files when the readers have too much to do, and ends when they close', async () => {
    const { update } = await startedWith(
      { 'docs/a.md': 'one' },
      {
        reader: {
          read: async () => {
            throw new ServerError('queue_full', 'Later.')
          },
        },
      },
    )
    expect(await update()).toEqual({ ...none, problems: 1, passing: 1 })

    const closing = await startedWith(
      { 'docs/a.md': 'one' },
      {
        reader: {
          read: async () => {
            throw new ServerError('shutting_down', 'Bye.')
          },
        },
      },
    )
    await expect(closing.update()).rejects.toMatchObject({ code: 'shutting_down' })
  })

  test('equals a fresh one after any abort and one more update', async () => {
    const names = ['a', 'b', 'c', 'd/a', 'd/b', 'e/a']
    const someFiles = fc.dictionary(fc.constantFrom(...names), fc.constantFrom('one', 'two', 'one\ntwo', ''))
    const step = fc.record({ files: someFiles, abortAt: fc.nat(60) })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
        const folder = await newFolder()
        const store = createMemoryKnowledge()
        let [left, stop] = [Number.POSITIVE_INFINITY, new AbortController()]
        /** Stops the update before or after a call, as kill -9 would. */
        const counted = stopping(store, () => {
          left -= 1
          if (left < 0) stop.abort(new Error('killed'))
        })
        for (const { files, abortAt } of steps) {
          await rm(join(folder, 'docs'), { recursive: true, force: true })
          await mkdir(join(folder, 'docs'))
          await writeFiles(
            join(folder, 'docs'),
            Object.fromEntries(Object.entries(files).map(([name, text]) => [`${name}.md`, text])),
          )
          left = abortAt
          stop = new AbortController()
          await testUpdater(folder, {
            store: counted,
            reader: stoppingReader(() => {
              left -= 1
              if (left < 0) stop.abort(new Error('killed'))
            }),
          })
            .update(stop.signal)
            .catch((error: Error) => expect(error.message).toBe('killed'))
        }
        left = Number.POSITIVE_INFINITY
        stop = new AbortController()
        // Within one moment, so that only the content tells files apart.
        const last = testUpdater(folder, { store })
        await last.update()
        await last.update()
        const fresh = testUpdater(folder)
        await fresh.update()
        expect(await contentOf(store)).toEqual(await contentOf(fresh.store))
      }),
      { numRuns: runs(100) },
    )
  })
})

describe('copies of files', () => {
  test('of a killed server are removed, others stay', async () => {
    const { folder, documents } = await startedWith({ 'copies/old': 'x', 'copies/new': 'x' })
    await utimes(join(folder, 'copies/old'), 1_000, 1_000)
    await documents.sweep()

    expect(await readdir(join(folder, 'copies'))).toEqual(['new'])
  })

  test('a hard link to a file outside is a file like any other', async () => {
    const { folder, store, update } = await startedWith({ 'docs/a.md': 'one', 'b.md': 'two' })
    await link(join(folder, 'b.md'), join(folder, 'docs/b.md'))
    await update()

    expect(await said(store)).toEqual(['a.md: one', 'b.md: two'])
    expect(settingsOf(folder).sources).toEqual(['docs'])
  })
})

/** Does something before the first call of a method. */
function onceBefore(store: KnowledgeStore, method: 'known' | 'files', work: () => Promise<unknown>): KnowledgeStore {
  let isDone = false
  const before = async <T>(call: () => Promise<T>): Promise<T> => {
    if (!isDone) {
      isDone = true
      await work()
    }
    return call()
  }
  return method === 'known'
    ? { ...store, known: (...args) => before(() => store.known(...args)) }
    : { ...store, files: (...args) => before(() => store.files(...args)) }
}

/** Calls `tick` before and after each call. A call that has begun is done. */
function stopping(store: KnowledgeStore, tick: () => void): KnowledgeStore {
  const around =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      tick()
      const result = await call(...args)
      tick()
      return result
    }
  return {
    ...store,
    files: around(store.files),
    known: around(store.known),
    put: around(store.put),
    remove: around(store.remove),
  }
}

function stoppingReader(tick: () => void): Pick<ReturnType<typeof plainReader>, 'read'> {
  const { read } = plainReader()
  return {
    async read(...args) {
      tick()
      const extract = await read(...args)
      tick()
      return extract
    },
  }
}
