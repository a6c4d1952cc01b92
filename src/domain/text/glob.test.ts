import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { globMatches } from './glob.ts'

describe('a glob', () => {
  test.each([
    ['read_file', 'read_file', true],
    ['read_file', 'read_files', false],
    ['read_*', 'read_file', true],
    ['read_*', 'read_', true],
    ['read_*', 'xread_file', false],
    ['*_file', 'read_file', true],
    ['*', '', true],
    ['*', 'a/b', false],
    ['**', 'a/b', true],
    ['**', '', true],
    ['', '', true],
    ['', 'a', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a?c', 'a/c', false],
    ['a?c', 'a😀c', true],
    ['/etc/*', '/etc/passwd', true],
    ['/etc/*', '/etc/ssh/config', false],
    ['/etc/**', '/etc/ssh/config', true],
    ['/etc/**', '/etc/', true],
    ['/etc/**', '/etc', false],
    ['/etc/**', '/home/etc/x', false],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/a/b/c.ts', true],
    ['src/**/*.ts', 'src/a/b/c.js', false],
    ['src/**/*.ts', 'srca.ts', false],
    ['**/secret', 'secret', true],
    ['**/secret', 'a/b/secret', true],
    ['**/secret', 'a/notsecret', false],
    ['a**/b', 'ax/y/b', true],
    ['a**/b', 'ab', false],
    ['*@example.com', 'ann@example.com', true],
    ['*@example.com', 'ann@example.com.evil.org', false],
    ['a*b*c', 'aXbYbZc', true],
    ['a*b*c', 'aXbYbZ', false],
    ['***', 'a/b', true],
  ])('%j and %j: %j', (pattern, text, fits) => {
    expect(globMatches(pattern, text)).toBe(fits)
  })

  test('matches every other character literally, including those of regular expressions', () => {
    expect(globMatches('a.c*', 'abcd')).toBe(false)
    expect(globMatches('[a](b)+|$^\\*', '[a](b)+|$^\\x')).toBe(true)
    expect(globMatches('__proto__*', '__proto__')).toBe(true)
  })

  test('matches the text that it was built from', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[ab/.]{0,4}$/), { maxLength: 6 }), (pieces) => {
        const text = pieces.join('')
        expect(globMatches(pieces.map((piece) => (piece.includes('/') ? '**' : '*')).join('x'), pieces.join('x'))).toBe(
          true,
        )
        expect(globMatches(`${text}*`, text)).toBe(true)
        expect(globMatches(`${text}?`, text)).toBe(false)
      }),
    )
  })

  test('agrees with a simple letter-by-letter definition', () => {
    // The definition as it stands, which takes for ever on long ones.
    const fits = (pattern: string, text: string, begins: boolean): boolean => {
      if (pattern === '') return text === ''
      const rest = text.slice(1)
      if (begins && pattern.startsWith('**/') && fits(pattern.slice(3), text, true)) return true
      if (pattern.startsWith('**')) {
        const after = pattern.replace(/^\*+/, '')
        return Array.from({ length: text.length + 1 }, (_, i) => text.slice(i)).some((end) => fits(after, end, false))
      }
      if (pattern.startsWith('*')) {
        return fits(pattern.slice(1), text, false) || (text !== '' && text[0] !== '/' && fits(pattern, rest, false))
      }
      if (text === '' || (pattern[0] === '?' ? text[0] === '/' : pattern[0] !== text[0])) return false
      return fits(pattern.slice(1), rest, pattern[0] === '/')
    }
    fc.assert(
      fc.property(fc.stringMatching(/^[ab/*?]{0,7}$/), fc.stringMatching(/^[ab/]{0,7}$/), (pattern, text) => {
        fc.pre(!/\*{3}/.test(pattern))
        expect([pattern, text, globMatches(pattern, text)]).toEqual([pattern, text, fits(pattern, text, true)])
      }),
      { numRuns: runs(3_000) },
    )
  })

  test('is fast on a pattern that is made for backtracking', () => {
    const text = 'a'.repeat(20_000)
    const before = process.threadCpuUsage()
    expect(globMatches(`${'*a'.repeat(20)}b`, text)).toBe(false)
    expect(globMatches(`${'**a/'.repeat(20)}b`, text)).toBe(false)
    expect(process.threadCpuUsage(before).user).toBeLessThan(3_000_000)
  })
})
