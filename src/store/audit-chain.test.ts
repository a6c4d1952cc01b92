import { expect, test } from 'vitest'
import { type AuditEntry, MAIN_CHAIN } from '../domain/supervision/audit.ts'
import { EMPTY_CHAIN, emptyChain, linkHash, nextEntry, verifyChain } from './audit-chain.ts'

function trail(length: number): AuditEntry[] {
  const entries: AuditEntry[] = []
  let end = EMPTY_CHAIN
  for (let i = 1; i <= length; i += 1) {
    const entry = nextEntry(end, `{"record":${i}}`)
    entries.push(entry)
    end = { ...entry, head: entry.hash }
  }
  return entries
}

const GENESIS = EMPTY_CHAIN.head
const five = trail(5)
const at = (i: number): AuditEntry => five[i] ?? { chain: MAIN_CHAIN, n: 0, text: '', hash: '' }

test('a hash is SHA-256 over the hash before it, a newline and the text', () => {
  expect(GENESIS).toBe('0000000000000000000000000000000000000000000000000000000000000000')
  // printf '%s\n{"a":1}' 0000… | sha256sum
  expect(linkHash(GENESIS, '{"a":1}')).toBe('f21735afd2cd6af4fc5804b0045cebfd545aef8396d29d030c39cb8880b45b7f')
})

test('an unchanged trail is valid, as a whole and in parts', () => {
  expect(verifyChain([])).toEqual({ ok: true, chain: MAIN_CHAIN, n: 0, head: GENESIS })
  expect(verifyChain(five)).toEqual({ ok: true, chain: MAIN_CHAIN, n: 5, head: at(4).hash })
  const first = verifyChain(five.slice(0, 2))
  expect(first).toEqual({ ok: true, chain: MAIN_CHAIN, n: 2, head: at(1).hash })
  expect(first.ok && verifyChain(five.slice(2), first)).toEqual({ ok: true, chain: MAIN_CHAIN, n: 5, head: at(4).hash })
})

const rehashed = (entries: readonly { n: number; text: string }[]): AuditEntry[] => {
  let head = GENESIS
  return entries.map(({ n, text }) => {
    head = linkHash(head, text)
    return { chain: MAIN_CHAIN, n, text, hash: head }
  })
}

test.each<[string, AuditEntry[], number]>([
  ['a changed text', five.with(2, { ...at(2), text: '{"record":33}' }), 3],
  [
    'a changed text whose own hash was made anew',
    five.with(2, { ...at(2), text: 'x', hash: linkHash(at(1).hash, 'x') }),
    4,
  ],
  ['a changed hash', five.with(4, { ...at(4), hash: GENESIS }), 5],
  ['an entry taken out of the middle', five.toSpliced(2, 1), 3],
  ['the first entries taken out', five.slice(1), 1],
  [
    'an entry taken out and the others numbered anew',
    five.toSpliced(2, 1).map((entry, i) => ({ ...entry, n: i + 1 })),
    3,
  ],
  ['an entry put in', five.toSpliced(2, 0, { chain: MAIN_CHAIN, n: 3, text: 'x', hash: linkHash(at(1).hash, 'x') }), 4],
  ['an entry put in twice', five.toSpliced(2, 0, at(1)), 3],
  ['two entries that changed places', [at(0), at(2), at(1), at(3), at(4)], 2],
])('%s is noticed, and where', (_what, entries, n) => {
  expect(verifyChain(entries)).toEqual({ ok: false, n, reason: expect.stringContaining(`ntry ${n}`) })
})

test('somebody who noted an earlier hash notices that the whole trail was computed again', () => {
  const forged = rehashed(five.map(({ n }) => ({ n, text: 'forged' })))
  expect(verifyChain(forged).ok).toBe(true)
  expect(verifyChain(forged.slice(2), { chain: MAIN_CHAIN, n: 2, head: at(1).hash })).toMatchObject({ ok: false, n: 3 })
})

test('every hash covers the id of its chain', () => {
  const other = nextEntry(emptyChain('replica-2'), at(0).text)
  expect(other.hash).not.toBe(at(0).hash)
  expect(verifyChain([other], emptyChain('replica-2'))).toEqual({
    ok: true,
    chain: 'replica-2',
    n: 1,
    head: other.hash,
  })
  expect(verifyChain([other])).toMatchObject({ ok: false, n: 1 })
  expect(verifyChain([{ ...other, chain: MAIN_CHAIN }])).toMatchObject({ ok: false, n: 1 })
})
