import { describe, expect, test } from 'vitest'
import type { ServiceRequest } from './service-http.ts'
import { redirected } from './service-http.ts'

const request = (url: string, more: Partial<ServiceRequest> = {}): ServiceRequest => ({
  method: 'GET',
  url: new URL(url),
  headers: {},
  body: null,
  allowPrivate: false,
  ...more,
})

const refusal = expect.objectContaining({ code: 'tool_failed', details: { reason: 'bad_redirect' } })

describe('a redirect', () => {
  test('is resolved against the URL that it came from', () => {
    expect(redirected(request('https://a.example/b/c?d'), 302, '../e?f#g')).toEqual(request('https://a.example/e?f'))
    expect(redirected(request('https://a.example/'), 302, '//b.example/')).toEqual(request('https://b.example/'))
  })

  test('may lead from http to https, with the body but without credentials', () => {
    const headers = { authorization: 'Bearer k', 'content-type': 'text/plain' }
    const sent = request('http://a.example/', { method: 'POST', headers, body: 'text' })
    expect(redirected(sent, 308, 'https://a.example/')).toEqual({
      ...sent,
      url: new URL('https://a.example/'),
      headers: { 'content-type': 'text/plain' },
    })
  })

  test('never leads from https to http', () => {
    expect(() => redirected(request('https://a.example/'), 302, 'http://a.example/')).toThrow(refusal)
  })

  test('does not keep a user or password', () => {
    const next = redirected(request('https://a.example/'), 302, 'https://me:word@b.example/')
    expect(next.url.href).toBe('https://b.example/')
  })

  test('keeps `allowPrivate`', () => {
    expect(redirected(request('http://a.example/', { allowPrivate: true }), 302, '/b').allowPrivate).toBe(true)
  })
})
