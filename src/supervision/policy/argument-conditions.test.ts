import { describe, expect, test } from 'vitest'
import type { ArgumentConditions } from '../../domain/agent/approval-rule.ts'
import { pathContext } from '../testing/gated-call.ts'
import { fits as fitsWith } from './argument-conditions.ts'

/** Without a doubt, both modes give the same result. */
function fits(conditions: ArgumentConditions, args: Record<string, unknown>): boolean {
  const wide = fitsWith(conditions, args, pathContext, 'wide')
  expect(fitsWith(conditions, args, pathContext, 'narrow')).toBe(wide)
  return wide
}

/** As a grant or an allowing rule reads it: a doubt is not allowed. */
function allowed(conditions: ArgumentConditions, args: Record<string, unknown>): boolean {
  try {
    return fitsWith(conditions, args, pathContext, 'narrow')
  } catch {
    return false
  }
}

describe('conditions on arguments', () => {
  const order = {
    order: { amount: 120, lines: [{ sku: 'a' }, { sku: 'b' }] },
    to: 'ann@example.com',
    dry: false,
    note: null,
  }

  test.each<[ArgumentConditions, boolean]>([
    [{}, true],
    [{ to: { equals: 'ann@example.com' } }, true],
    [{ to: { equals: 'bob@example.com' } }, false],
    [{ dry: { equals: false } }, true],
    [{ dry: { equals: 'false' } }, false],
    [{ note: { equals: null } }, true],
    [{ missing: { equals: null } }, false],
    [{ 'order.amount': { equals: 120 } }, true],
    [{ 'order.amount': { equals: '120' } }, false],
    [{ 'order.amount': { above: 100 } }, true],
    [{ 'order.amount': { above: 120 } }, false],
    [{ 'order.amount': { below: 121 } }, true],
    [{ to: { above: 0 } }, false],
    [{ to: { oneOf: ['x', 'ann@example.com'] } }, true],
    [{ to: { oneOf: [] } }, false],
    [{ to: { matches: '*@example.com' } }, true],
    [{ 'order.amount': { matches: '*' } }, false],
    [{ missing: { matches: '**' } }, false],
    [{ missing: { not: { equals: 1 } } }, true],
    [{ to: { not: { matches: '*@example.com' } } }, false],
    [{ to: { not: { not: { matches: '*@example.com' } } } }, true],
    [{ 'order.lines.1.sku': { equals: 'b' } }, true],
    [{ 'order.lines.2.sku': { equals: 'b' } }, false],
    [{ 'order.lines.#': { equals: 2 } }, true],
    [{ '#': { equals: 4 } }, true],
    [{ 'to.#': { equals: 15 } }, false],
    [{ to: { equals: 'ann@example.com' }, dry: { equals: true } }, false],
    [{ 'to.length': { above: 0 } }, false],
    [{ constructor: { not: { equals: null } }, toString: { equals: 'x' } }, false],
  ])('%j: %j', (conditions, expected) => {
    expect(fits(conditions, order)).toBe(expected)
  })

  test('a name with a dot is found, but cannot replace a nested value', () => {
    expect(fits({ 'a.b': { equals: 1 } }, { 'a.b': 1 })).toBe(true)
    expect(fits({ 'a.b': { equals: 1 } }, { 'a.b': 1, a: { b: 2 } })).toBe(false)
    expect(fits({ '#': { equals: 2 } }, { '#': 2 })).toBe(false)
  })

  test.each<[ArgumentConditions, Record<string, unknown>, boolean, boolean]>([
    [{ 'moves.source': { matches: '*.env' } }, { moves: [{ source: 'a.md' }, { source: './x.env' }] }, true, false],
    [{ 'moves.source': { matches: '*.env' } }, { moves: [{ source: 'y.env' }, { source: 'x.env' }] }, true, true],
    [{ 'moves.source': { not: { matches: '*.md' } } }, { moves: [{ source: 'a.md' }, { source: 'x' }] }, true, false],
    [{ 'moves.source': { matches: '*.env' } }, { moves: [{ source: 'x.env' }, {}] }, true, false],
    [{ 'moves.source': { matches: '*.env' } }, { moves: [] }, false, false],
    [{ 'pay.kind': { not: { equals: 'card' } } }, { pay: [{ kind: 'card' }, { kind: 'card' }, {}] }, false, false],
    [{ 'a.b.c': { equals: 1 } }, { a: [{ b: [{ c: 2 }] }, { b: [{ c: 1 }, { c: 3 }] }] }, true, false],
    [{ 'pay.amount': { above: 100 } }, { pay: [{ amount: 1 }, { amount: 101 }] }, true, false],
    [{ 'pay.amount': { below: 100 } }, { pay: [{ amount: 1 }, {}] }, true, false],
    [{ 'pay.length': { above: 0 } }, { pay: [1, 2] }, false, false],
  ])('in a list, one entry is enough to ask, and all are needed to allow: %j', (where, args, asks, allows) => {
    const found = [fitsWith(where, args, pathContext, 'wide'), allowed(where, args)]
    expect(found).toEqual([asks, allows])
  })

  test.each([
    ['/etc/**', '/data/../etc/passwd', true],
    ['/etc/**', '//etc//passwd', true],
    ['/etc/**', '/etc/./passwd', true],
    ['/data/**', '/data/../etc/passwd', false],
    ['/data/**', '/data/a/../b', true],
    ['/data/**', '/../data/x', true],
    ['/data/**', '/data/..', false],
    ['data/**', 'data/../../x', false],
    ['data/**', './data/x', true],
    ['../*', '../../x', false],
    ['../*', 'a/../../x', true],
    ['https://example.com/**', 'https://example.com/a/b', true],
    ['https://example.com/**', 'https://example.com/../evil.example/', false],
    ['**.md', 'a..b.md', true],
  ])('the path pattern %j and %j: %j, by where the path leads', (pattern, path, expected) => {
    expect(fits({ path: { matches: pattern } }, { path })).toBe(expected)
  })

  test('an unknown condition never fits', () => {
    expect(() => fits(JSON.parse('{"to":{"resembles":"ann"}}'), order)).toThrow()
  })
})
