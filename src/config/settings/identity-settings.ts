// The settings about who people are. They have no flags and no variables: who may decide must not come from a `.env` that an agent can
// write.

import type {
  DayLimitSettings,
  IdentitySettings,
  IssuerSettings,
  RoleRules,
} from '../../domain/settings/identity-settings.ts'
import {
  dayLimits,
  headerName,
  issuerList,
  NO_RULES,
  networkList,
  PROVIDER_NAME_TEXT,
  providerName,
  roleRules,
} from './identity-values.ts'
import { fileSetting } from './setting.ts'
import type { ReadSetting } from './settings.ts'

const header = (name: string, description: string) =>
  fileSetting<string>({
    schema: headerName(),
    description,
    expected: 'the name of a header, without _',
    example: name,
    default: name.toLowerCase(),
    defaultText: name,
  })

export const identityTable = {
  oidc: fileSetting<IssuerSettings[]>({
    schema: issuerList(),
    description:
      'OpenID Connect providers whose tokens count here: a list with `name`, `issuer`, `audience`, and, if they differ from the usual, `jwks_uri`, `algorithms`, `clock_tolerance`, `claims`, `roles` and `required`. [let-people-sign-in.md](../do/let-people-sign-in.md) has examples.',
    expected: 'a list of providers, each with a name, an issuer and an audience',
    example: [{ name: 'corp', issuer: 'https://sso.example.com/realms/corp', audience: 'quarterdeck' }],
    default: [],
  }),
  'proxy_auth.trusted': fileSetting<string[]>({
    schema: networkList(),
    description:
      'Addresses or networks of a proxy that has signed people in. Only from there, the headers below say who a request is from. Whoever can send from there can be anybody.',
    expected: 'a list of IP addresses or networks such as 10.0.0.0/8',
    example: ['10.0.3.7'],
    default: [],
    defaultText: 'none: these headers are ignored',
  }),
  'proxy_auth.name': fileSetting<string>({
    schema: providerName(),
    description:
      'Begins the names of the proxy’s users. Use the name of an `oidc` provider if both know the same people.',
    expected: PROVIDER_NAME_TEXT,
    example: 'corp',
    default: 'proxy',
  }),
  'proxy_auth.user_header': header('X-Forwarded-User', 'Header with the name of the user.'),
  'proxy_auth.groups_header': header(
    'X-Forwarded-Groups',
    'Header with the groups of the user, with commas between them.',
  ),
  'proxy_auth.email_header': header('X-Forwarded-Email', 'Header with the address of the user, to be shown.'),
  'proxy_auth.roles': fileSetting<RoleRules>({
    schema: roleRules(),
    description: 'Which groups may do what: `user`, `operator` and `admin`, each with a list of groups.',
    expected: 'user, operator and admin with lists of groups',
    example: { operator: ['on-call'] },
    default: NO_RULES,
    defaultText: 'everybody may talk, `operators` may decide',
  }),
  'limits.per_day': fileSetting<DayLimitSettings>({
    schema: dayLimits(),
    description:
      'What a user may use in a day (UTC): `runs`, `tokens` and `cost`, by `default`, for `groups` and for `users`. More is refused (429) until the next day. Answers to what an agent asked are never refused.',
    expected: 'default, groups and users with limits',
    example: { default: { runs: 200, cost: 5 } },
    default: { default: {}, groups: {}, users: {} },
    defaultText: 'none',
  }),
}

export function assembleIdentity(read: ReadSetting): IdentitySettings {
  const trusted = read('proxy_auth.trusted')
  return {
    issuers: read('oidc'),
    proxy:
      trusted.length === 0
        ? null
        : {
            name: read('proxy_auth.name'),
            trusted,
            headers: {
              user: read('proxy_auth.user_header'),
              groups: read('proxy_auth.groups_header'),
              email: read('proxy_auth.email_header'),
            },
            roles: read('proxy_auth.roles'),
          },
  }
}
