import { describe, expect, test } from 'vitest'
import { chooseProxy, shownProxy } from './proxy-choice.ts'

const variables = {
  HTTPS_PROXY: 'http://me:secret@secure.proxy.test:3128',
  HTTP_PROXY: 'plain.proxy.test:8080',
}

const chosen = (target: string, more: Record<string, string> = {}, setting?: string | false): string => {
  const choice = chooseProxy(new URL(target), setting, { ...variables, ...more })
  return choice === null ? 'none' : `${shownProxy(choice)} by ${choice.from}`
}

describe('the proxy for a target', () => {
  test.each([
    ['https://api.test/v1', {}, 'http://secure.proxy.test:3128 by HTTPS_PROXY'],
    ['http://api.test/v1', {}, 'http://plain.proxy.test:8080 by HTTP_PROXY'],
    ['https://api.test', { https_proxy: 'https://small.test' }, 'https://small.test by https_proxy'],
    ['https://api.test', { https_proxy: ' ' }, 'http://secure.proxy.test:3128 by HTTPS_PROXY'],
    ['https://api.test', { HTTPS_PROXY: '' }, 'none'],
  ])('%s with %j: %s', (target, more, expected) => {
    expect(chosen(target, more)).toBe(expected)
  })

  test.each([
    'http://127.0.0.1:11434',
    'http://127.8.9.1',
    'http://localhost:11434',
    'https://LOCALHOST.',
    'http://ollama.localhost',
    'http://[::1]:11434',
    'http://[::ffff:127.0.0.1]',
    'http://127.1:11434',
    'http://0.0.0.0:11434',
    'http://[::]:11434',
  ])('%s is this machine: no variable sends it to a proxy, a setting does', (target) => {
    expect(chosen(target)).toBe('none')
    expect(chosen(target, { NO_PROXY: '' }, 'http://p.test:1')).toBe('http://p.test:1 by model.proxy')
  })

  test.each<[string, string, boolean]>([
    ['*', 'https://api.test', true],
    ['api.test', 'https://api.test', true],
    ['API.test', 'https://api.TEST', true],
    ['api.test', 'https://eu.api.test', true],
    ['.api.test', 'https://eu.api.test', true],
    ['*.api.test', 'https://eu.api.test', true],
    ['api.test', 'https://notapi.test', false],
    ['other.test, api.test', 'https://api.test', true],
    ['other.test api.test', 'https://api.test', true],
    ['api.test:8443', 'https://api.test:8443', true],
    ['api.test:8443', 'https://api.test', false],
    ['api.test:443', 'https://api.test', true],
    ['10.0.0.0/8', 'https://10.1.2.3', true],
    ['10.0.0.0/8', 'https://11.1.2.3', false],
    ['10.0.0.0/99', 'https://10.1.2.3', false],
    ['192.168.1.7', 'https://192.168.1.7', true],
    ['8.1.7', 'https://192.168.1.7', false],
    ['[fd00::1]', 'https://[fd00::1]', true],
    ['fd00::/8', 'https://[fd00::1]', true],
    ['', 'https://api.test', false],
    [',, ,', 'https://api.test', false],
  ])('NO_PROXY=%s exempts %s: %s', (list, target, isExempt) => {
    const proxied = 'http://secure.proxy.test:3128 by HTTPS_PROXY'
    expect(chosen(target, { NO_PROXY: list })).toBe(isExempt ? 'none' : proxied)
    expect(chosen(target, { no_proxy: list || 'nobody.test', NO_PROXY: '*' })).toBe(isExempt ? 'none' : proxied)
  })

  test('the setting of a model wins over all variables', () => {
    expect(chosen('https://api.test', { NO_PROXY: '*' }, 'p.test:1')).toBe('http://p.test:1 by model.proxy')
    expect(chosen('https://api.test', {}, false)).toBe('none')
  })

  test.each(['socks5://me:secret@p.test', 'http://', 'ftp://p.test'])(
    '%s is no proxy, and is not repeated',
    (address) => {
      expect(() => chosen('https://api.test', { HTTPS_PROXY: address })).toThrow(
        'HTTPS_PROXY is not the http or https address of a proxy. Write e.g. http://proxy.example.com:3128',
      )
      // A target that needs no proxy does not fail.
      expect(chosen('http://localhost', { HTTP_PROXY: address })).toBe('none')
    },
  )
})
