// The promises of the port for knowledge. Every implementation runs this suite.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  answersOf,
  codeOf,
  document,
  file,
  passage,
  randomDocument,
  someDocuments,
  somePaths,
  someTerms,
  someVectors,
  vector,
} from './contract/knowledge-samples.contract.ts'
import type { KnowledgeStore, NewPassage } from './ports/knowledge.ts'
import { createMemoryKnowledge } from './testing/memory-knowledge.ts'

const RUNS = 15
const none = { files: 0, problems: 0, passages: 0, length: 0, embedded: 0, languages: [] }
const weighted = (...terms: number[]) => terms.map((term) => ({ terms: [term], weight: 1 }))

/** `open` gives an empty store, and closes it when the test has finished. */
export function describeKnowledgeStore(name: string, open: () => Promise<KnowledgeStore>): void {
  const pathsOf = async (store: KnowledgeStore, ...ids: string[]) =>
    (await store.passages('i', ids)).map(({ id, file }) => [id, file])
  const foundBy = async (store: KnowledgeStore, ...terms: number[]) =>
    (await store.candidates('i', weighted(...terms), [], 100)).map(({ id }) => id)

  describe(`${name} knowledge: files`, () => {
    test('an index that nobody has written to is empty', async () => {
      const store = await open()

      expect(await store.indexes()).toEqual([])
      expect(await store.figures('i')).toEqual(none)
      expect(await store.files('i', '', 10)).toEqual([])
      expect(await store.problems('i', 10)).toEqual([])
      expect(await store.known('i', ['d'])).toEqual(new Set())
      expect(await store.frequencies('i', [1, 2])).toEqual([0, 0])
      expect(await store.candidates('i', weighted(1), [1], 10)).toEqual([])
      expect(await store.around('i', 'p', 1, 1)).toEqual([])
      expect(await store.unembedded('i', 10)).toEqual([])
      expect(await store.dimensions('i')).toBeNull()
      expect(await store.nearest('i', codeOf(1), 10)).toEqual([])
      await store.remove('i', ['a.md'])
      await store.putVectors('i', [])
      await store.sweepVectors('i', true)
      await store.clear('i')
      expect(await store.indexes()).toEqual([])
    })

    test('a file and its passages come back as they were put', async () => {
      const store = await open()
      const [kept, next] = [passage('p', { 7: 2 }), passage('q', { 7: 1, 9: 255 }, { continues: true })]
      await store.put('i', file('a/b.md', 'd', 'Page 3 is missing.'), document(kept, next))

      expect(await store.files('i', '', 10)).toEqual([file('a/b.md', 'd', 'Page 3 is missing.')])
      expect(await store.known('i', ['d', 'other'])).toEqual(new Set(['d']))
      const { bytes, changedMs } = file('a/b.md', 'd')
      const shown = ({ id, place, headings, text, continues }: NewPassage) => ({
        ...{ id, place, headings, text, continues },
        ...{ file: 'a/b.md', bytes, changedMs },
      })
      expect(await store.passages('i', ['q', 'unknown', 'p', 'q'])).toEqual([shown(next), shown(kept), shown(next)])
    })

    test('a put replaces what was known of the file', async () => {
      const store = await open()
      await store.put('i', file('a.md', 'old'), document(passage('p', { 1: 1, 2: 1 }), passage('q', { 2: 1 })))

      await store.put(
        'i',
        { ...file('a.md', 'new'), bytes: 9 },
        { ...document(passage('q', { 2: 1 })), language: 'de' },
      )

      expect(await store.files('i', '', 10)).toEqual([{ ...file('a.md', 'new'), bytes: 9 }])
      expect(await store.known('i', ['old', 'new'])).toEqual(new Set(['new']))
      expect(await store.frequencies('i', [1, 2])).toEqual([0, 1])
      expect(await pathsOf(store, 'p', 'q')).toEqual([['q', 'a.md']])
      expect(await store.figures('i')).toEqual({ ...none, files: 1, passages: 1, length: 1, languages: ['de'] })
    })

    test('a file that cannot be read is kept with its problem, and has no passages any more', async () => {
      const store = await open()
      await store.put('i', file('a.md', 'd'), document(passage('p', { 1: 1 })))
      await store.put('i', file('b.md', null, 'It is damaged.'), null)

      await store.put('i', file('a.md', null, 'It is locked.'), null)

      const bad = [file('a.md', null, 'It is locked.'), file('b.md', null, 'It is damaged.')]
      expect(await store.files('i', '', 10)).toEqual(bad)
      expect(await store.problems('i', 10)).toEqual(bad)
      expect(await store.problems('i', 1)).toEqual(bad.slice(0, 1))
      expect(await store.figures('i')).toEqual({ ...none, files: 2, problems: 2 })
      expect(await foundBy(store, 1)).toEqual([])
    })

    test('files with the same content share it, and the first by path is named', async () => {
      const store = await open()
      await store.put('i', file('b.md', 'd'), document(passage('p', { 1: 1 })))
      await store.put('i', file('c.md', 'd'), null)
      expect(await pathsOf(store, 'p')).toEqual([['p', 'b.md']])
      await store.put('i', file('a.md', 'd'), document(passage('p', { 1: 1 })))

      expect(await pathsOf(store, 'p')).toEqual([['p', 'a.md']])
      expect(await store.frequencies('i', [1])).toEqual([1])
      expect(await store.figures('i')).toEqual({ ...none, files: 3, passages: 1, length: 1, languages: ['en'] })
      await store.remove('i', ['a.md', 'b.md', 'unknown'])
      expect(await pathsOf(store, 'p')).toEqual([['p', 'c.md']])
      await store.remove('i', ['c.md'])
      expect(await pathsOf(store, 'p')).toEqual([])
      expect(await store.frequencies('i', [1])).toEqual([0])
      expect(await store.figures('i')).toEqual(none)
      expect(await store.known('i', ['d'])).toEqual(new Set())
    })

    test('documents that say the same share the passage, and one may have it twice', async () => {
      const store = await open()
      const [same, own, other] = [passage('p', { 1: 1 }), passage('q', { 1: 1 }), passage('r', { 2: 1 })]
      await store.put('i', file('b.md', 'd'), document(own, same, { ...same, continues: true }))
      await store.put('i', file('a.md', 'e'), document(same, other))

      expect(await foundBy(store, 1)).toEqual(['p', 'q'])
      expect(await store.frequencies('i', [1])).toEqual([2])
      expect(await store.figures('i')).toMatchObject({ passages: 3, length: 3 })
      expect((await store.around('i', 'p', 1, 1)).map(({ id, file }) => [id, file])).toEqual([
        ['p', 'a.md'],
        ['r', 'a.md'],
      ])
      await store.remove('i', ['a.md'])
      expect((await store.around('i', 'p', 1, 1)).map(({ id, continues }) => [id, continues])).toEqual([
        ['q', false],
        ['p', false],
        ['p', true],
      ])
      await store.remove('i', ['b.md'])
      expect(await store.frequencies('i', [1, 2])).toEqual([0, 0])
    })

    test('a renamed file loses nothing, whether its old path goes first or last', async () => {
      const store = await open()
      await store.put('i', file('a.md', 'd'), document(passage('p', { 1: 1 })))
      await store.put('i', file('copy.md', 'd'), null)

      await store.put('i', file('b.md', 'd'), null)
      await store.remove('i', ['a.md'])
      expect(await pathsOf(store, 'p')).toEqual([['p', 'b.md']])
      await store.remove('i', ['b.md'])
      await store.put('i', file('z.md', 'd'), null)
      await store.remove('i', ['copy.md'])
      expect(await pathsOf(store, 'p')).toEqual([['p', 'z.md']])
    })

    test('a put of a document that went meanwhile is refused, and changes nothing', async () => {
      const store = await open()
      await store.put('i', file('a.md', 'd'), document(passage('p', { 1: 1 })))

      await expect(store.put('i', file('a.md', 'gone'), null)).rejects.toMatchObject({ code: 'conflict' })
      await expect(store.put('other', file('a.md', 'd'), null)).rejects.toMatchObject({ code: 'conflict' })

      expect(await store.files('i', '', 10)).toEqual([file('a.md', 'd')])
      expect(await pathsOf(store, 'p')).toEqual([['p', 'a.md']])
      expect(await store.indexes()).toEqual(['i'])
    })

    test('files come in pages, in the order of the bytes of their paths', async () => {
      const store = await open()
      const paths = ['Z', 'a', 'a/b', 'a0', 'ä', '\uffee', '😀']
      for (const path of [3, 6, 0, 5, 2, 4, 1].map((i) => paths[i] ?? '')) await store.put('i', file(path, null), null)

      const found: string[][] = []
      for (let after = ''; ; after = found.at(-1)?.at(-1) ?? '') {
        const page = (await store.files('i', after, 3)).map(({ path }) => path)
        if (page.length === 0) break
        found.push(page)
      }
      expect(found).toEqual([paths.slice(0, 3), paths.slice(3, 6), paths.slice(6)])
    })

    test('names, paths and texts may be anything that a file system or a document can have', async () => {
      const store = await open()
      const texts = [
        '"',
        "'; DROP TABLE files",
        'a\0b',
        '\ud800',
        'x\udc00',
        '😀',
        '\\',
        '%',
        '\u0001',
        '\u0001"a"',
        '__proto__',
      ]
      for (const [i, text] of texts.entries()) {
        const more = { text, headings: [text, ''], place: { page: 1, sheet: text, slide: 2, line: null } }
        await store.put(text, file(text, `d${i}`, text), { language: 'en', passages: [passage(`p${i}`, {}, more)] })
      }

      expect((await store.indexes()).toSorted()).toEqual(texts.toSorted())
      for (const [i, text] of texts.entries()) {
        expect(await store.files(text, '', 10)).toEqual([file(text, `d${i}`, text)])
        const [found] = await store.passages(text, [`p${i}`])
        expect([found?.file, found?.text, found?.headings, found?.place.sheet]).toEqual([text, text, [text, ''], text])
        await store.remove(text, [text])
        expect(await store.files(text, '', 10)).toEqual([])
      }
    })

    test('a path of 2,000 bytes is kept, and a longer one refused', async () => {
      const store = await open()
      // What no database can make shorter.
      const long = Array.from({ length: 500 }, (_, i) => String.fromCodePoint(0x10000 + ((i * 7919) % 50_000))).join('')
      await store.put('i', file(long, null), null)

      expect(await store.files('i', '', 10)).toEqual([file(long, null)])
      for (const path of [`${long}a`, '\ud800'.repeat(400), 'a'.repeat(1_000_000)]) {
        await expect(store.put('i', file(path, null), null)).rejects.toMatchObject({ code: 'invalid_request' })
      }
    })

    test('indexes do not see each other, and a cleared one is gone', async () => {
      const store = await open()
      for (const index of ['i', 'j']) {
        await store.put(index, file('a.md', 'd'), document(passage('p', { 1: 1 })))
        await store.putVectors(index, [vector('digest of p', 1)])
      }
      await store.put('j', file('b.md', 'e'), document(passage('q', { 1: 1 })))
      const before = await answersOf(store, 'j')

      await store.clear('i')

      expect(await store.indexes()).toEqual(['j'])
      expect(await store.figures('i')).toEqual(none)
      expect(await pathsOf(store, 'p')).toEqual([])
      expect(await store.dimensions('i')).toBeNull()
      expect(await answersOf(store, 'j')).toEqual({ ...before, indexes: ['j'] })
      await store.put('i', file('b.md', 'e'), document(passage('q', { 1: 1 })))
      expect(await foundBy(store, 1)).toEqual(['q'])
    })
  })

  describe(`${name} knowledge: passages`, () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd']
    async function four(): Promise<KnowledgeStore> {
      const store = await open()
      const [first, second] = [passage('d', { 1: 1, 2: 7 }), passage('b', { 2: 255, 4294967295: 3 })]
      await store.put('i', file('x.md', 'x'), document(first, second))
      await store.put('i', file('y.md', 'y'), document(passage('a', { 3: 1 }), passage('c', { 1: 2, 2: 1, 3: 1 })))
      return store
    }

    test('candidates come by the sum of the weights of the terms they have, equal ones by id', async () => {
      const store = await four()

      const ids = async (most: number, ...terms: [term: number, weight: number][]) =>
        (
          await store.candidates(
            'i',
            terms.map(([term, weight]) => ({ terms: [term], weight })),
            [],
            most,
          )
        ).map(({ id }) => id)
      expect(await ids(10, [1, 1], [2, 1], [3, 5])).toEqual([c, a, d, b])
      expect(await ids(10, [1, 2], [2, 2])).toEqual([c, d, b])
      expect(await ids(2, [1, 2], [2, 2], [3, 1])).toEqual([c, d])
      expect(await ids(1, [2, 1])).toEqual([b])
      expect(await ids(2, [2, 1])).toEqual([b, c])
      expect(await ids(10, [99, 1])).toEqual([])
      expect(await ids(10)).toEqual([])
      expect(await ids(10, [4_294_967_295, 2_000_000_000], [2, 2_000_000_000])).toEqual([b, c, d])
    })

    test('a candidate says its length and how often it has each of the asked terms', async () => {
      const store = await four()

      expect(await store.candidates('i', weighted(2), [4_294_967_295, 2, 9, 1, 2], 2)).toEqual([
        { id: 'b', length: 258, counts: [3, 255, 0, 0, 255] },
        { id: 'c', length: 4, counts: [0, 1, 0, 2, 1] },
      ])
    })

    test('a frequency is the number of passages that have the term', async () => {
      const store = await four()
      expect(await store.frequencies('i', [2, 1, 9, 4_294_967_295, 2])).toEqual([3, 2, 0, 1, 3])
      await store.remove('i', ['x.md'])
      expect(await store.frequencies('i', [2, 1, 9, 4_294_967_295])).toEqual([1, 1, 0, 0])
      expect(await store.frequencies('i', [])).toEqual([])
    })

    test('what is around a passage ends with its document', async () => {
      const store = await open()
      const chapter = ['p1', 'p2', 'p3', 'p4', 'p5'].map((id, i) => passage(id, {}, { continues: i % 2 === 1 }))
      await store.put('i', file('a.md', 'd'), document(...chapter))
      await store.put('i', file('b.md', 'e'), document(passage('q')))

      const ids = async (id: string, before: number, after: number) =>
        (await store.around('i', id, before, after)).map((one) => one.id)
      expect(await ids('p3', 1, 1)).toEqual(['p2', 'p3', 'p4'])
      expect(await ids('p1', 5, 0)).toEqual(['p1'])
      expect(await ids('p4', 0, 5)).toEqual(['p4', 'p5'])
      expect(await ids('unknown', 1, 1)).toEqual([])
      expect((await store.around('i', 'p3', 1, 1)).map(({ continues }) => continues)).toEqual([true, false, true])
    })
  })

  describe(`${name} knowledge: vectors`, () => {
    test('passages with the same digest share a vector, whichever comes first', async () => {
      const store = await open()
      const same = { digest: 'same' }
      await store.put('i', file('a.md', 'd'), document(passage('p', {}, same), passage('q', {}, { digest: 'q' })))
      const shown = ({ digest, headings, text }: NewPassage) => ({ digest, headings, text })
      expect(await store.unembedded('i', 10)).toEqual([
        shown(passage('q', {}, { digest: 'q' })),
        shown(passage('p', {}, same)),
      ])
      expect(await store.unembedded('i', 1)).toEqual([shown(passage('q', {}, { digest: 'q' }))])

      await store.putVectors('i', [vector('same', 1), vector('nobody', 2)])
      await store.put('i', file('b.md', 'e'), document(passage('r', {}, same)))

      expect(await store.figures('i')).toMatchObject({ passages: 3, embedded: 2 })
      expect(await store.unembedded('i', 10)).toEqual([shown(passage('q', {}, { digest: 'q' }))])
      expect(await store.nearest('i', codeOf(1), 10)).toEqual(['p', 'r'])
    })

    test('the nearest differ in the fewest bits, equal ones by id', async () => {
      const store = await open()
      const codes = { c: 0b1111, a: 0b0001, d: 0b0000, b: 0b0010, far: 0xffff }
      await store.put(
        'i',
        file('a.md', 'd'),
        document(...Object.keys(codes).map((id) => passage(id, {}, { digest: id }))),
      )
      await store.putVectors(
        'i',
        Object.entries(codes).map(([digest, code]) => vector(digest, code)),
      )

      expect(await store.nearest('i', codeOf(0b0000), 10)).toEqual(['d', 'a', 'b', 'c', 'far'])
      expect(await store.nearest('i', codeOf(0b0000), 2)).toEqual(['d', 'a'])
      expect(await store.nearest('i', codeOf(0b0111), 3)).toEqual(['c', 'a', 'b'])
      expect(await store.nearest('i', codeOf(0, 64), 10)).toEqual([])
      await store.remove('i', ['a.md'])
      expect(await store.nearest('i', codeOf(0), 10)).toEqual([])
    })

    test('vectors of passages that are gone do not take the place of others', async () => {
      const store = await open()
      await store.put(
        'i',
        file('gone.md', 'e'),
        document(...['x', 'y', 'z'].map((id) => passage(id, {}, { digest: id }))),
      )
      await store.put('i', file('a.md', 'd'), document(passage('p', {}, { digest: 'p' })))
      await store.putVectors('i', [vector('x', 0), vector('y', 0), vector('z', 0), vector('p', 0xffff)])
      await store.remove('i', ['gone.md'])

      expect(await store.nearest('i', codeOf(0), 1)).toEqual(['p'])
      await store.sweepVectors('i', false)
      expect(await store.nearest('i', codeOf(0), 1)).toEqual(['p'])
      await store.put('i', file('gone.md', 'e'), document(passage('x', {}, { digest: 'x' })))
      expect((await store.unembedded('i', 10)).map(({ digest }) => digest)).toEqual(['x'])
      await store.sweepVectors('i', true)
      expect(await store.dimensions('i')).toBeNull()
      expect(await store.figures('i')).toMatchObject({ passages: 2, embedded: 0 })
      expect((await store.unembedded('i', 10)).map(({ digest }) => digest)).toEqual(['p', 'x'])
    })

    test.each([20, 1_536])('bytes and floats of %i dimensions come back as they were put', async (dimensions) => {
      const store = await open()
      const kept = vector('digest of p', 3, dimensions)
      kept.floats.set([Number.MIN_VALUE, -0, 3.4e38, 1e-45])
      kept.bytes.set([-128, 127, 0, -1])
      await store.put('i', file('a.md', 'd'), document(passage('p'), passage('q')))
      await store.putVectors('i', [kept])

      expect(await store.dimensions('i')).toBe(dimensions)
      expect(await store.bytesOf('i', ['q', 'p', 'unknown'])).toEqual(new Map([['p', kept.bytes]]))
      expect(await store.floatsOf('i', ['q', 'p', 'unknown'])).toEqual(new Map([['p', kept.floats]]))
    })

    test('a vector replaces the one with the same digest, and one of other dimensions is refused with all that come with it', async () => {
      const store = await open()
      await store.put(
        'i',
        file('a.md', 'd'),
        document(passage('p', {}, { digest: 'p' }), passage('q', {}, { digest: 'q' })),
      )
      await store.putVectors('i', [vector('p', 0), vector('q', 0b11)])
      expect(await store.nearest('i', codeOf(0), 1)).toEqual(['p'])
      await store.putVectors('i', [vector('p', 0b111)])

      expect(await store.nearest('i', codeOf(0), 10)).toEqual(['q', 'p'])
      expect(await store.floatsOf('i', ['p'])).toEqual(new Map([['p', vector('p', 0b111).floats]]))
      const other = [vector('q', 0), vector('r', 1, 64)]
      await expect(store.putVectors('i', other)).rejects.toMatchObject({ code: 'conflict' })
      await expect(store.putVectors('new', other)).rejects.toMatchObject({ code: 'conflict' })
      expect(await store.nearest('i', codeOf(0), 10)).toEqual(['q', 'p'])
      expect(await store.indexes()).toEqual(['i'])
    })
  })

  describe(`${name} knowledge: random documents`, () => {
    const path = fc.constantFrom(...somePaths)
    const content = fc.constantFrom(...someDocuments)
    const act = fc.oneof(
      { weight: 6, arbitrary: fc.record({ type: fc.constant('put' as const), path, content }) },
      { weight: 1, arbitrary: fc.record({ type: fc.constant('fail' as const), path }) },
      {
        weight: 3,
        arbitrary: fc.record({ type: fc.constant('remove' as const), paths: fc.array(path, { maxLength: 4 }) }),
      },
      { weight: 2, arbitrary: fc.record({ type: fc.constant('embed' as const), which: fc.subarray(someVectors) }) },
      { weight: 1, arbitrary: fc.record({ type: fc.constant('sweep' as const), all: fc.boolean() }) },
      { weight: 1, arbitrary: fc.constant({ type: 'rest' as const }) },
      { weight: 1, arbitrary: fc.constant({ type: 'ask' as const }) },
    )
    type Act = typeof act extends fc.Arbitrary<infer T> ? T : never

    async function apply(store: KnowledgeStore, index: string, one: Act): Promise<unknown> {
      switch (one.type) {
        case 'put':
          return store.put(index, file(one.path, one.content), randomDocument(one.content))
        case 'fail':
          return store.put(index, file(one.path, null, 'It is damaged.'), null)
        case 'remove':
          return store.remove(index, one.paths)
        case 'embed':
          return store.putVectors(index, one.which)
        case 'sweep':
          return store.sweepVectors(index, one.all)
        case 'rest':
          return store.rest()
        default:
          return answersOf(store, index)
      }
    }

    test('after any puts and removals, counts and candidates are those of the files that are left', async () => {
      const store = await open()
      let n = 0
      await fc.assert(
        fc.asyncProperty(fc.array(act, { maxLength: 30 }), async (acts) => {
          n += 1
          const left = new Map<string, string>()
          for (const one of acts) {
            await apply(store, `i${n}`, one)
            if (one.type === 'put') left.set(one.path, one.content)
            else if (one.type === 'fail') left.delete(one.path)
            else if (one.type === 'remove') for (const gone of one.paths) left.delete(gone)
          }
          const passages = [
            ...new Map(
              [...left.values()].flatMap((name) => randomDocument(name).passages).map((p) => [p.id, p]),
            ).values(),
          ]
          const having = (term: number) => passages.filter(({ terms }) => terms.includes(term))
          const sum = ({ terms }: NewPassage) => someTerms.slice(0, 4).filter((term) => terms.includes(term)).length
          const best = passages
            .filter((one) => sum(one) > 0)
            .sort((one, other) => sum(other) - sum(one) || (one.id < other.id ? -1 : 1))

          expect(await store.frequencies(`i${n}`, someTerms)).toEqual(someTerms.map((term) => having(term).length))
          expect(await store.candidates(`i${n}`, weighted(...someTerms.slice(0, 4)), someTerms, 5)).toEqual(
            best.slice(0, 5).map(({ id, length, terms, counts }) => ({
              id,
              length,
              counts: someTerms.map((term) => (terms.includes(term) ? counts[terms.indexOf(term)] : 0)),
            })),
          )
          await store.clear(`i${n}`)
        }),
        { numRuns: RUNS },
      )
    })

    test('every store gives the same answers in the same order', async () => {
      const store = await open()
      let n = 0
      await fc.assert(
        fc.asyncProperty(fc.array(act, { maxLength: 30 }), async (acts) => {
          n += 1
          const plain = createMemoryKnowledge()
          for (const one of acts) {
            const answer = await apply(plain, `i${n}`, one)
            expect(await apply(store, `i${n}`, one)).toEqual(answer)
          }
          expect(await answersOf(store, `i${n}`)).toEqual(await answersOf(plain, `i${n}`))
          await store.clear(`i${n}`)
        }),
        { numRuns: RUNS },
      )
    })
  })
}
