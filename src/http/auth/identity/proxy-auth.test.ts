import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { ServerError } from '../../../domain/errors.ts'
import type { ProxyAuthSettings } from '../../../domain/settings/identity-settings.ts'
import { createProxyAuth } from './proxy-auth.ts'

const settings: ProxyAuthSettings = {
  name: 'corp',
  trusted: ['10.0.3.7', '192.168.0.0/16', 'fd00::/8'],
  headers: { user: 'x-forwarded-user', groups: 'x-forwarded-groups', email: 'x-forwarded-email' },
  roles: { user: null, operator: ['sre'], admin: ['platform'] },
}

/** A request with these headers, as Node would give it to us. */
function requestFrom(remoteAddress: string | undefined, ...lines: [name: string, value: string][]) {
  const headers: Record<string, string> = {}
  for (const [name, value] of lines) {
    const key = name.toLowerCase()
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`
  }
  const socket = { remoteAddress } as IncomingMessage['socket']
  return { headers, rawHeaders: lines.flat(), socket }
}

function ask(remoteAddress: string | undefined, ...lines: [name: string, value: string][]): unknown {
  const identify = createProxyAuth(settings, { operators: [], operatorGroups: [] })
  try {
    return identify(requestFrom(remoteAddress, ...lines))
  } catch (error) {
    return error instanceof ServerError ? (error.details.reason ?? error.code) : error
  }
}

const PROXY = '10.0.3.7'
const user = (name: string): [string, string] => ['X-Forwarded-User', name]

describe('a proxy that has signed people in', () => {
  test('says who they are', () => {
    expect(
      ask(PROXY, user('ada@example.com'), ['X-Forwarded-Groups', 'sre, staff,,sre'], ['X-Forwarded-Email', 'a@b.c']),
    ).toEqual({
      user: 'corp:ada@example.com',
      role: 'operator',
      isAdmin: false,
      groups: ['sre', 'staff'],
      email: 'a@b.c',
      source: 'proxy',
      isBrowser: false,
      endsAt: Number.POSITIVE_INFINITY,
    })
    expect(ask(PROXY, user('bob'), ['Sec-Fetch-Site', 'same-origin'])).toMatchObject({ role: 'user', isBrowser: true })
    expect(ask(PROXY, user('eve'), ['X-Forwarded-Groups', 'platform'])).toMatchObject({ isAdmin: true })
  })

  test.each([
    ['10.0.3.7', true],
    ['::ffff:10.0.3.7', true],
    ['::FFFF:192.168.4.4', true],
    ['fd12::1', true],
    ['fd12::1%eth0', true],
    ['10.0.3.8', false],
    ['::ffff:10.0.3.8', false],
    // It comes from this machine, but nobody has said that the proxy runs here.
    ['127.0.0.1', false],
    ['::1', false],
    ['fe80::1', false],
    ['', false],
    [undefined, false],
    ['not an address', false],
  ])('counts only if the connection is its own: %s is %s', (address, isTrusted) => {
    expect(ask(address, user('ada')) !== null).toBe(isTrusted)
  })

  test('names nobody without the header, or with an empty one', () => {
    expect(ask(PROXY)).toBe(null)
    expect(ask(PROXY, user(''))).toBe(null)
    expect(ask(PROXY, user('  '))).toBe(null)
    // Another header, however alike it looks. Some servers would read it as the same.
    expect(ask(PROXY, ['X_Forwarded_User', 'root'], ['X-Forwarded-Users', 'root'])).toBe(null)
    expect(ask(PROXY, ['X_Forwarded_User', 'root'], user('ada'))).toMatchObject({ user: 'corp:ada' })
  })

  test('that adds its header to the one of a stranger is refused', () => {
    expect(ask(PROXY, user('root'), user('ada'))).toBe('invalid_request')
    expect(ask(PROXY, user('ada'), ['x-forwarded-USER', 'ada'])).toBe('invalid_request')
    expect(ask(PROXY, user('ada'), ['X-Forwarded-Groups', 'platform'], ['X-Forwarded-Groups', 'staff'])).toBe(
      'invalid_request',
    )
    // The two as one line, as many proxies join them.
    expect(ask(PROXY, user('root, ada'))).toBe('unusable_name')
  })

  test.each(['ada bob', 'ada,bob', 'аda', '*', '../ada', 'a'.repeat(129), ':ada'])('cannot use the name %j', (name) => {
    expect(ask(PROXY, user(name))).toBe('unusable_name')
  })

  test('may send groups and addresses with letters of any language, as UTF-8', () => {
    const roles = { user: null, operator: ['Qualitätssicherung', '運用'], admin: [] }
    const identify = createProxyAuth({ ...settings, roles }, { operators: [], operatorGroups: [] })
    const sent = (text: string) => Buffer.from(text).toString('latin1')
    const person = (groups: string, email: string) =>
      identify(requestFrom(PROXY, user('ada'), ['X-Forwarded-Groups', groups], ['X-Forwarded-Email', email]))

    expect(person(sent('Qualitätssicherung, Éditeurs'), sent('ædå@example.com'))).toMatchObject({
      role: 'operator',
      groups: ['Qualitätssicherung', 'Éditeurs'],
      email: 'ædå@example.com',
    })
    expect(person(sent('運用'), '')).toMatchObject({ role: 'operator', groups: ['運用'] })
    expect(person(sent('Qualità'), '')).toMatchObject({ groups: ['Qualità'] })
    // An old proxy, with one byte for each letter.
    expect(person('Qualitätssicherung', '')).toMatchObject({ role: 'operator' })
  })

  test('people without a role are turned away', () => {
    const identify = createProxyAuth(
      { ...settings, roles: { user: ['staff'], operator: [], admin: [] } },
      { operators: [{ logins: ['corp:root'] }], operatorGroups: [{ group: 'night' }] },
    )
    const role = (name: string, groups: string) =>
      identify(requestFrom(PROXY, user(name), ['X-Forwarded-Groups', groups]))?.role
    expect(() => role('ada', 'guests')).toThrow('has no role here')
    expect([role('ada', 'staff'), role('ada', 'night'), role('root', '')]).toEqual(['user', 'operator', 'operator'])
  })
})
