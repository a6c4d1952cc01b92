import { describe, expect, test } from 'vitest'
import { ConfigError, formatIssue } from '../config-error.ts'
import { resolveSettings } from './resolve-settings.ts'

const resolve = (yaml: string) =>
  resolveSettings({ flags: {}, env: {}, onTerminal: false, file: { path: '/etc/q/quarterdeck.yaml', text: yaml } })
    .settings

function mistakes(yaml: string): string[] {
  try {
    resolve(yaml)
  } catch (error) {
    if (error instanceof ConfigError) return error.issues.map(formatIssue)
    throw error
  }
  return []
}

const ISSUER = 'name: corp, issuer: https://sso.example.com, audience: quarterdeck'

describe('the settings about who people are', () => {
  test('can all be written in quarterdeck.yaml', () => {
    const { identity } = resolve(`
oidc:
  - name: corp
    issuer: https://sso.example.com/realms/corp
    audience: [quarterdeck, console]
    jwks_uri: https://sso.example.com/certs
    algorithms: [ES256]
    clock_tolerance: 5s
    claims: { user: preferred_username, groups: realm_access.roles, role: roles }
    roles: { user: staff, operator: [sre], admin: platform }
    required: { email_verified: true, hd: [example.com, example.org] }
    assume_verified_email: true
proxy_auth:
  trusted: [10.0.3.7, "fd00::/8"]
  name: corp
  user_header: X-Auth-Request-User
  groups_header: X-Auth-Request-Groups
  email_header: X-Auth-Request-Email
  roles: { operator: sre }
`)
    expect(identity).toEqual({
      issuers: [
        {
          name: 'corp',
          issuer: 'https://sso.example.com/realms/corp',
          audience: ['quarterdeck', 'console'],
          jwksUri: 'https://sso.example.com/certs',
          algorithms: ['ES256'],
          clockToleranceSeconds: 5,
          claims: { user: 'preferred_username', groups: 'realm_access.roles', role: 'roles' },
          roles: { user: ['staff'], operator: ['sre'], admin: ['platform'] },
          required: { email_verified: ['true'], hd: ['example.com', 'example.org'] },
          assumeVerifiedEmail: true,
        },
      ],
      proxy: {
        name: 'corp',
        trusted: ['10.0.3.7', 'fd00::/8'],
        headers: { user: 'x-auth-request-user', groups: 'x-auth-request-groups', email: 'x-auth-request-email' },
        roles: { user: null, operator: ['sre'], admin: [] },
      },
    })
  })

  test('need little, and are off when nothing is set', () => {
    expect(resolve('port: 1').identity).toEqual({ issuers: [], proxy: null })
    const [issuer] = resolve(`oidc: [{ ${ISSUER} }]`).identity.issuers
    expect(issuer).toMatchObject({
      jwksUri: null,
      clockToleranceSeconds: 30,
      claims: { user: 'sub', groups: 'groups', role: null },
      roles: { user: null, operator: [], admin: [] },
      required: {},
      assumeVerifiedEmail: false,
    })
    expect(issuer?.algorithms.filter((name) => name.startsWith('HS') || name === 'none')).toEqual([])
    expect(resolve('proxy_auth: { trusted: 127.0.0.1 }').identity.proxy).toMatchObject({
      name: 'proxy',
      headers: { user: 'x-forwarded-user', groups: 'x-forwarded-groups', email: 'x-forwarded-email' },
    })
  })

  test('make talking need a token, also on this machine', () => {
    expect(resolve('port: 1').auth.required).toBe(false)
    expect(resolve(`oidc: [{ ${ISSUER} }]`).auth.required).toBe(true)
    expect(resolve('proxy_auth: { trusted: 127.0.0.1 }').auth.required).toBe(true)
  })

  test.each([
    [
      'oidc: [{ name: corp, issuer: http://sso.example.com, audience: a }]',
      '1:30 oidc[0].issuer: expected an https address; http only on this machine, found "http://sso.example.com". Write e.g. issuer: https://sso.example.com/realms/corp',
    ],
    [
      `oidc: [{ ${ISSUER}, algorithms: [HS256] }]`,
      '1:91 oidc[0].algorithms[0]: expected one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519, found "HS256". Did you mean RS256?',
    ],
    [`oidc: [{ ${ISSUER} }, { ${ISSUER} }]`, '1:88 oidc[1].name: entry 1 already has the name corp.'],
    [
      `oidc: [{ ${ISSUER}, clock_tolerance: 1h }]`,
      '1:95 oidc[0].clock_tolerance: this is more than 5 minutes. Set the clocks right instead.',
    ],
    [
      'oidc: [{ name: Corp, issuer: https://sso.example.com, audience: a }]',
      '1:16 oidc[0].name: expected up to 32 lower-case letters, digits, - and _, found "Corp". Write e.g. name: corp',
    ],
    [
      'proxy_auth: { trusted: 0.0.0.0/0 }',
      '1:24 proxy_auth.trusted: expected a list of IP addresses or networks such as 10.0.0.0/8, found "0.0.0.0/0". Write e.g. trusted: [ 10.0.3.7 ]',
    ],
    [
      'proxy_auth: { trusted: 0.0.0.0/00 }',
      '1:24 proxy_auth.trusted: expected a list of IP addresses or networks such as 10.0.0.0/8, found "0.0.0.0/00". Write e.g. trusted: [ 10.0.3.7 ]',
    ],
    [
      'proxy_auth: { trusted: 127.0.0.1, user_header: X_User }',
      '1:48 proxy_auth.user_header: expected the name of a header, without _, found "X_User". Write e.g. user_header: X-Forwarded-User',
    ],
    [
      'auth: { mode: none }\nproxy_auth: { trusted: 127.0.0.1 }',
      '2:24 proxy_auth.trusted: the proxy says who people are, but without a token everybody may talk. Remove insecure and auth.mode none.',
    ],
    [
      'limits: { per_day: { default: { runs: -1 } } }',
      '1:39 limits.per_day.default.runs: expected a whole number, or none, found -1. Write e.g. runs: 200',
    ],
  ])('%s is refused', (yaml, mistake) => {
    expect(mistakes(yaml).map((line) => line.replace('/etc/q/quarterdeck.yaml:', ''))).toEqual([
      ...(yaml.includes('}, {') ? [mistake, expect.stringContaining('oidc[1].issuer')] : [mistake]),
    ])
  })

  test('that have no effect alone say so', () => {
    const warnings = (text: string) =>
      resolveSettings({ flags: {}, env: {}, onTerminal: false, file: { path: '/etc/q/quarterdeck.yaml', text } })
        .warnings
    const group = 'operators: [{ group: sre }]\n'
    expect(warnings(group)).toEqual([expect.stringContaining('nobody says who is in it')])
    expect(warnings(`${group}oidc: [{ ${ISSUER} }]`)).toEqual([])
    const cost = 'limits: { per_day: { groups: { sre: { cost: 1 } } } }\n'
    expect(warnings(cost)).toEqual([expect.stringContaining('prices.models has no prices')])
    expect(warnings(`${cost}prices: { models: { "openai/*": { input: 1, output: 1 } } }`)).toEqual([])
    expect(warnings('limits: { per_day: { default: { runs: 1, cost: none } } }')).toEqual([])
  })

  test('say how much people may use in a day', () => {
    expect(resolve('port: 1').limits.perDay).toEqual({ default: {}, groups: {}, users: {} })
    const text = `limits: { per_day: { default: { runs: 10, cost: 1.5 }, groups: { sre: { runs: none } }, users: { "corp:ada": { tokens: 0 } } } }`
    expect(resolve(text).limits.perDay).toEqual({
      default: { runs: 10, cost: 1.5 },
      groups: { sre: { runs: null } },
      users: { 'corp:ada': { tokens: 0 } },
    })
  })
})
