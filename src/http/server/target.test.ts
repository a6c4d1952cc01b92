import { describe, expect, test } from 'vitest'
import { headerUnder, parseTarget, pathUnder, readBasePath } from './target.ts'

describe('request targets', () => {
  test.each([
    ['/a/b?c=d?e', { path: '/a/b', query: 'c=d?e', authority: null }],
    ['//evil.example/x', { path: '//evil.example/x', query: '', authority: null }],
    ['/a/../b', { path: '/a/../b', query: '', authority: null }],
    ['*', { path: '*', query: '', authority: null }],
    ['http://localhost:80/a?b', { path: '/a', query: 'b', authority: 'localhost:80' }],
    ['HTTPS://localhost?b', { path: '/', query: 'b', authority: 'localhost' }],
  ])('%s', (url, target) => {
    expect(parseTarget(url)).toEqual(target)
  })

  test.each(['', 'a', 'ftp://x/', 'http:///x'])('refuses %j', (url) => {
    expect(() => parseTarget(url)).toThrow('must begin with "/"')
  })
})

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
