import { describe, expect, test } from 'vitest'
import { parseTarget } from './target.ts'

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
