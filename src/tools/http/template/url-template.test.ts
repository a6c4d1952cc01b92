import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../test/tier.ts'
import { ServerError } from '../../../domain/errors.ts'
import { parseUrlTemplate } from './url-template.ts'

const refuse = (problem: string) => new ServerError('config_invalid', problem)
const fill = (template: string, args: Record<string, unknown>, pairs: string[] = []): string =>
  parseUrlTemplate(template, refuse).fill(args, pairs).href

describe('a URL with arguments', () => {
  test.each([
    ['https://a.example/users/{id}', { id: 'x' }, 'https://a.example/users/x'],
    ['https://a.example/users/{id}/', { id: 7 }, 'https://a.example/users/7/'],
    ['https://a.example/{a}-{b}/c', { a: 1, b: true }, 'https://a.example/1-true/c'],
    ['https://a.example/p/{id}', { id: 'group/project' }, 'https://a.example/p/group%2Fproject'],
    ['https://a.example/p/{id}', { id: 'ä ?#&%2e' }, 'https://a.example/p/%C3%A4%20%3F%23%26%252e'],
    ['https://a.example/p/{id}', { id: 'a..b' }, 'https://a.example/p/a..b'],
    ['https://a.example/p/{id}', { id: '@evil.example' }, 'https://a.example/p/%40evil.example'],
    ['https://a.example', {}, 'https://a.example/'],
    ['https://a.example?x=1', {}, 'https://a.example/?x=1'],
    ['HTTPS://A.example:443/', {}, 'https://a.example/'],
    ['http://a.example:8080/?q={q}', { q: 'a&b=c#d' }, 'http://a.example:8080/?q=a%26b%3Dc%23d'],
    ['https://a.example/?q={q}&n=1', {}, 'https://a.example/?n=1'],
    ['https://a.example/?q={q}', { q: null }, 'https://a.example/'],
    ['https://a.example/?q={q}', { q: '' }, 'https://a.example/?q='],
    ['https://a.example/?t={t}', { t: ['a', 'b&c', 3] }, 'https://a.example/?t=a&t=b%26c&t=3'],
    ['https://a.example/?r={from}..{to}', { from: 1, to: 2 }, 'https://a.example/?r=1..2'],
    ['https://a.example/?r={from}..{to}', { from: 1 }, 'https://a.example/'],
    ['https://a.example/?o={o}', { o: { a: 1 } }, 'https://a.example/?o=%7B%22a%22%3A1%7D'],
    ['https://a.example/?o={o}', { o: '\ud800' }, 'https://a.example/?o=%EF%BF%BD'],
  ])('%s with %j is %s', (template, args, url) => {
    expect(fill(template, args)).toBe(url)
  })

  test('appends more query parameters to its own', () => {
    expect(fill('https://a.example/?a={a}', { a: 1 }, ['b=2', 'c=3'])).toBe('https://a.example/?a=1&b=2&c=3')
    expect(fill('https://a.example/', {}, ['b=2'])).toBe('https://a.example/?b=2')
  })

  test('names its arguments once', () => {
    const template = parseUrlTemplate('https://a.example/{a}/{b}?c={c}&d={a}', refuse)
    expect(template.arguments).toEqual(['a', 'b', 'c'])
  })

  const elsewhere = 'The argument id cannot be used: it would lead to another address.'
  test.each([
    ['.', elsewhere],
    ['..', elsewhere],
    ['../admin', elsewhere],
    ['..\\admin', elsewhere],
    ['x/../../admin', elsewhere],
    ['a/./b', elsewhere],
    ['a/..', elsewhere],
    ['%2e%2e', elsewhere],
    ['%2e%2e%2fadmin', elsewhere],
    ['%252e%252e%252fadmin', elsewhere],
    ['.%2e', elsewhere],
    ['..;/admin', elsewhere],
    ['..;x', elsewhere],
    ['', 'The argument id cannot be used: it would leave a part of the address empty.'],
    ['a\r\nHost: b', 'The argument id cannot be used: it holds a control character.'],
    ['a\u0000', 'The argument id cannot be used: it holds a control character.'],
    ['%00', 'The argument id cannot be used: it holds a control character.'],
    ['%25252525252e', 'The argument id cannot be used: it is encoded several times over.'],
    [undefined, 'The argument id is missing; it is part of the address.'],
    [null, 'The argument id is missing; it is part of the address.'],
  ])('refuses %j in its path', (id, message) => {
    expect(() => fill('https://a.example/v1/{id}/x', { id })).toThrow(new ServerError('invalid_request', message))
  })

  test('refuses dots that only meet in the URL', () => {
    expect(() => fill('https://a.example/{a}{b}/x', { a: '.', b: '.' })).toThrow(
      'The argument a, b cannot be used: it would lead to another address.',
    )
    expect(() => fill('https://a.example/.{a}', { a: '.' })).toThrow('would lead to another address')
  })

  test('stays at its host and path, whatever the arguments are', () => {
    const template = parseUrlTemplate('https://a.example:8443/v1/{id}/x{id}y/z?q={q}', refuse)
    const nasty = fc.array(
      fc.constantFrom(
        '.',
        '/',
        '\\',
        '%2e',
        '%2F',
        '@',
        ':',
        '#',
        '?',
        ';',
        '\t',
        '\n',
        'a',
        '{id}',
        'http://b.example',
      ),
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      nasty.map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(text, text, (id, q) => {
        let url: URL
        try {
          url = template.fill({ id, q }, [])
        } catch (error) {
          expect(error).toBeInstanceOf(ServerError)
          return
        }
        const segments = url.pathname.split('/')
        expect({ origin: url.origin, count: segments.length, user: url.username, hash: url.hash }).toEqual({
          origin: 'https://a.example:8443',
          count: 5,
          user: '',
          hash: '',
        })
        expect(segments.map(decodeURIComponent)).toEqual(['', 'v1', id, `x${id}y`, 'z'])
        expect([...url.searchParams]).toEqual([['q', q.toWellFormed()]])
      }),
      { numRuns: runs(400) },
    )
  })

  test.each([
    ['ftp://a.example/', 'url must begin with https:// or http:// and must not contain a #.'],
    ['a.example/x', 'url must begin with https:// or http:// and must not contain a #.'],
    ['{scheme}://a.example/', 'url must begin with https:// or http:// and must not contain a #.'],
    ['https://a.example/#{x}', 'url must begin with https:// or http:// and must not contain a #.'],
    ['https://{host}/', 'url must name its host: an argument cannot be part of it.'],
    ['https://a.example:{port}/', 'url must name its host: an argument cannot be part of it.'],
    ['https://a.example{x}/', 'url must name its host: an argument cannot be part of it.'],
    ['https://me:word@a.example/', 'url must not contain a user or password. Write an Authorization header.'],
    ['https://a.example/a b', 'url must not contain spaces or backslashes. Write %20 for a space.'],
    ['https://a.example\\@b.example/', 'url must not contain a user or password. Write an Authorization header.'],
    ['https://a.example\\b/', 'url must not contain spaces or backslashes. Write %20 for a space.'],
    ['https:///x', 'url has no valid host: "".'],
    ['https://a.example:99999/', 'url has no valid host: "a.example:99999".'],
    ['https://a.example/{not a name}', 'url must not contain spaces or backslashes. Write %20 for a space.'],
    ['https://a.example/{}', 'url has a { or } that does not belong to an argument. Write arguments as {name}.'],
    ['https://a.example/{a/b}', 'url has a { or } that does not belong to an argument. Write arguments as {name}.'],
    ['https://a.example/a/../b', 'url has the part ".." in its path. Write the path without . and ..'],
    ['https://a.example/%2e%2e/b', 'url has the part "%2e%2e" in its path. Write the path without . and ..'],
  ])('%s is refused when it is read', (template, message) => {
    expect(() => parseUrlTemplate(template, refuse)).toThrow(new ServerError('config_invalid', message))
  })
})
