import { describe, expect, test } from 'vitest'
import { readTarget } from './target.ts'

const plain = { secure: false, host: 'api.test', port: 80, path: '/', hostHeader: 'api.test', authorization: null }

describe('the target of an address', () => {
  test.each([
    ['http://api.test', { ...plain, key: 'http://api.test' }],
    ['http://API.test:80/', { ...plain, key: 'http://api.test' }],
    ['https://api.test', { ...plain, secure: true, port: 443, key: 'https://api.test' }],
    ['https://api.test:443', { ...plain, secure: true, port: 443, key: 'https://api.test' }],
    [
      'https://api.test:80',
      { ...plain, secure: true, port: 80, hostHeader: 'api.test:80', key: 'https://api.test:80' },
    ],
    [
      'http://[::1]:8080/v1?a=b#c',
      { ...plain, host: '::1', port: 8080, path: '/v1?a=b', hostHeader: '[::1]:8080', key: 'http://[::1]:8080' },
    ],
    [
      'http://bücher.test',
      { ...plain, host: 'xn--bcher-kva.test', hostHeader: 'xn--bcher-kva.test', key: 'http://xn--bcher-kva.test' },
    ],
    ['http://me@api.test', { ...plain, key: 'http://api.test', authorization: 'Basic bWU6' }],
    ['http://me:100%@api.test', { ...plain, key: 'http://api.test', authorization: 'Basic bWU6MTAwJQ==' }],
    ['http://:word@api.test', { ...plain, key: 'http://api.test', authorization: 'Basic OndvcmQ=' }],
  ])('%s', (address, target) => {
    expect(readTarget(address)).toEqual(target)
  })

  test.each(['ftp://api.test', 'file:///etc/passwd', 'api.test', ''])('%j is none', (address) => {
    expect(() => readTarget(address)).toThrow(TypeError)
  })
})
