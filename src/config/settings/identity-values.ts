// Schemas for the values of the settings about who people are and how much they may use.

import { isIP } from 'node:net'
import { z } from 'zod'
import { present } from '../../domain/present.ts'
import type { DayLimit, DayLimitSettings, IssuerSettings, RoleRules } from '../../domain/settings/identity-settings.ts'
import { PROVIDER_NAME, USER_NAME } from '../../domain/supervision/user-name.ts'
import { count, duration, key, oneOrMore, reporter, text } from '../source/schema-key.ts'
import { isHttpUrl } from './channel-values.ts'

/** Only asymmetric ones: with a symmetric one, everybody who can check a token can make one. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
] as const

const TOLERANCE_SECONDS = 30
const MOST_TOLERANCE_SECONDS = 300

export const providerName = () => z.string().regex(PROVIDER_NAME)
export const PROVIDER_NAME_TEXT = 'up to 32 lower-case letters, digits, - and _'

const names = () => oneOrMore(text().max(200))

const roleNames = (description: string, example: string) =>
  key(names(), description, [example], 'a list of groups or roles').optional()

export const roleRules = () =>
  z
    .strictObject({
      user: roleNames('Groups or roles that may talk; everybody with a valid token if left out.', 'staff'),
      operator: roleNames('Groups or roles whose members are operators.', 'on-call'),
      admin: roleNames('Groups or roles whose members are operators and admins.', 'platform'),
    })
    .transform(
      ({ user, operator, admin }): RoleRules => ({
        user: user ?? null,
        operator: operator ?? [],
        admin: admin ?? [],
      }),
    )

export const NO_RULES: RoleRules = { user: null, operator: [], admin: [] }

const claims = () =>
  z
    .strictObject({
      user: key(
        text().max(200),
        'Claim that names the user; `sub` if left out. People must not be able to change it, and the issuer must not give it to somebody else later.',
        'preferred_username',
      ).optional(),
      groups: key(
        text().max(200),
        'Claim that lists groups; `groups` if left out. A path such as realm_access.roles works too.',
        'realm_access.roles',
      ).optional(),
      role: key(text().max(200), 'Claim with one or more roles, counted beside the groups.', 'roles').optional(),
    })
    .transform(({ user, groups, role }): IssuerSettings['claims'] => ({
      user: user ?? 'sub',
      groups: groups ?? 'groups',
      role: role ?? null,
    }))

const issuer = () =>
  z.strictObject({
    name: key(
      providerName(),
      'Begins the names of its users: `corp` makes `corp:ada`. Never change it.',
      'corp',
      PROVIDER_NAME_TEXT,
    ),
    issuer: safeUrl('Address of the issuer, exactly as `iss` in its tokens.', 'https://sso.example.com/realms/corp'),
    audience: key(
      names(),
      'What `aud` in its tokens must have: one of these.',
      'quarterdeck',
      'the audience of this server, or a list of them',
    ),
    jwks_uri: safeUrl(
      'Address of its keys; its discovery document says it if left out.',
      'https://sso.example.com/realms/corp/protocol/openid-connect/certs',
    ).optional(),
    algorithms: key(
      oneOrMore(z.enum(algorithms)),
      'Signatures that count; all asymmetric ones if left out.',
      ['RS256'],
      `a list of ${algorithms.join(', ')}`,
    ).optional(),
    clock_tolerance: duration(
      'How far its clock and ours may differ, at most 5 minutes; 30 seconds if left out.',
      '30s',
      true,
    ).optional(),
    claims: key(claims(), 'Names of claims.', { user: 'preferred_username' }).optional(),
    roles: key(roleRules(), 'Which groups and roles may do what.', { operator: ['on-call'] }).optional(),
    required: key(
      z.record(text().max(200), oneOrMore(z.union([text().max(200), z.number(), z.boolean()]))),
      'Claims that a token must have, each with a value or a list of values of which one must be there.',
      { email_verified: true },
      'names of claims with values',
    ).optional(),
    assume_verified_email: key(
      z.boolean(),
      'Whether an address counts as verified where its tokens lack `email_verified`; no if left out. Only for an issuer that verifies every address.',
      true,
    ).optional(),
  })

const safeUrl = (description: string, example: string) =>
  key(z.string().refine(isSafeUrl, { error: '' }), description, example, 'an https address; http only on this machine')

/** Nobody on the way may read or change what comes from there. */
function isSafeUrl(value: string): boolean {
  const url = URL.parse(value)
  const isPrivate = url?.protocol === 'https:' || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url?.hostname ?? '')
  return isPrivate && isHttpUrl(value)
}

export const issuerList = () =>
  z
    .array(issuer())
    .max(20)
    .superRefine((list, context) => {
      const report = reporter(context)
      for (const [index, one] of list.entries()) {
        for (const field of ['name', 'issuer'] as const) {
          const first = list.findIndex((other) => other[field] === one[field])
          if (first < index) report([index, field], `entry ${first + 1} already has the ${field} ${one[field]}.`)
        }
        if ((one.clock_tolerance ?? 0) > MOST_TOLERANCE_SECONDS) {
          report([index, 'clock_tolerance'], 'this is more than 5 minutes. Set the clocks right instead.')
        }
      }
    })
    .transform((list): IssuerSettings[] =>
      list.map((one) => ({
        name: one.name,
        issuer: one.issuer,
        audience: one.audience,
        jwksUri: one.jwks_uri ?? null,
        algorithms: one.algorithms ?? [...algorithms],
        clockToleranceSeconds: one.clock_tolerance ?? TOLERANCE_SECONDS,
        claims: one.claims ?? { user: 'sub', groups: 'groups', role: null },
        roles: one.roles ?? NO_RULES,
        required: Object.fromEntries(
          Object.entries(one.required ?? {}).map(([name, values]) => [name, values.map(String)]),
        ),
        assumeVerifiedEmail: one.assume_verified_email ?? false,
      })),
    )

export const networkList = () => oneOrMore(z.string().refine(isNetwork, { error: '' }))

/** `10.0.0.1`, `10.0.0.0/8`, `fd00::/8`. */
function isNetwork(value: string): boolean {
  const [, address = '', bits] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(value) ?? []
  const family = isIP(address)
  // A network of everybody trusts everybody.
  if (family === 0 || Number(bits) === 0) return false
  return bits === undefined || Number(bits) <= (family === 4 ? 32 : 128)
}

export const headerName = () =>
  z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/)
    .refine((name) => !/^(authorization|cookie|host|origin|x-passkey)$/i.test(name), { error: '' })
    .transform((name) => name.toLowerCase())

const amount = () => z.union([z.number().min(0).max(1e15), z.literal('none')]).transform(orNone)
const whole = () => z.union([count(0), z.literal('none')]).transform(orNone)
function orNone(value: number | 'none'): number | null {
  return value === 'none' ? null : value
}

const dayLimit = () =>
  z
    .strictObject({
      runs: key(whole(), 'Runs that a user may start in a day.', 200, 'a whole number, or none').optional(),
      tokens: key(
        whole(),
        'Tokens, input and output, that the runs of a user may use in a day.',
        2_000_000,
        'a whole number, or none',
      ).optional(),
      cost: key(
        amount(),
        'What the runs of a user may cost in a day, in `prices.currency`.',
        5,
        'a number, or none',
      ).optional(),
    })
    .transform((limits): Partial<DayLimit> => present(limits))

export const dayLimits = () =>
  z
    .strictObject({
      default: key(dayLimit(), 'For everybody.', { runs: 200 }).optional(),
      groups: key(
        z.record(text().max(200), dayLimit()),
        'For members of a group, by its name. Of several groups, the highest limit counts.',
        { staff: { runs: 500 } },
        'names of groups with limits',
      ).optional(),
      users: key(
        z.record(z.string().regex(USER_NAME), dayLimit()),
        'For a user, by name. It wins over groups.',
        { 'corp:ada': { runs: 'none' } },
        'names of users with limits',
      ).optional(),
    })
    .transform(
      ({ default: all, groups, users }): DayLimitSettings => ({
        default: all ?? {},
        groups: groups ?? {},
        users: users ?? {},
      }),
    )
