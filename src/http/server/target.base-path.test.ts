import { expect, test } from 'vitest'
import { headerUnder, pathUnder, readBasePath } from './target.ts'

test('a base path loses its last slash, and an empty one means all paths', () => {
  expect(['', '/', '/agent', '/agent/', '/a/b', '/caf%C3%A9'].map(readBasePath)).toEqual([
    '',
    '',
    '/agent',
    '/agent',
    '/a/b',
    '/caf%C3%A9',
  ])
})

test.each(['agent', 'https://x', '/a//b', '/a/../b', '/.', '/a?b', '/a#b', '/a b', '/<a>', '/"'])(
  '%j is none',
  (text) => {
    expect(() => readBasePath(text)).toThrow('is not a path. Write one like /agent.')
  },
)

test.each([
  ['', '/health', '/health'],
  ['/agent', '/agent/health', '/health'],
  ['/agent', '/agent', '/'],
  ['/agent', '/agent/', '/'],
  ['/agent', '/agent//health', '//health'],
  ['/agent', '/agents', null],
  ['/agent', '/health', null],
  ['/agent', '/', null],
  ['/agent', '*', '*'],
])('under %j, %j is %j', (base, path, expected) => {
  expect(pathUnder(base, path)).toBe(expected)
})

test('headers that name routes begin with the base', () => {
  expect(headerUnder('/agent', 'Location', '/runs/1')).toBe('/agent/runs/1')
  expect(headerUnder('/agent', 'Location', 'https://elsewhere.example/')).toBe('https://elsewhere.example/')
  expect(headerUnder('/agent', 'Link', '</runs?before=1>; rel="next"')).toBe('</agent/runs?before=1>; rel="next"')
  expect(headerUnder('/agent', 'Allow', '/')).toBe('/')
})
