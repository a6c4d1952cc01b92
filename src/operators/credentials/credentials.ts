// Secrets of operator channels: in the keychain of the operating system, else in the environment. Never in a file of ours, where an agent
// could read them.

import { ServerError } from '../../domain/errors.ts'
import type { Keychain } from './keychain.ts'

export const credentialNames = [
  'slack_app_token',
  'slack_bot_token',
  'slack_team_id',
  'ntfy_token',
  'webhook_secret',
] as const
export type CredentialName = (typeof credentialNames)[number]

/** The variable that is read when the keychain has nothing. */
export const credentialVariable = (name: CredentialName): string => name.toUpperCase()

export interface Credential {
  value: string
  from: 'keychain' | 'environment'
}

export interface CredentialSources {
  keychain: Keychain
  /** The environment of the process, without any `.env`: an agent may be able to write that. */
  env: Readonly<Record<string, string | undefined>>
}

/** The keychain wins. Null: neither has it. A keychain that cannot be opened counts as empty; `missingCredential` says why. */
export async function findCredential(
  name: CredentialName,
  { keychain, env }: CredentialSources,
): Promise<Credential | null> {
  const kept = await keychain.get(name)
  if (kept.value !== null) return { value: kept.value, from: 'keychain' }
  const value = env[credentialVariable(name)]?.trim() ?? ''
  return value === '' ? null : { value, from: 'environment' }
}

/** Like `findCredential`, but throws `config_invalid` with both ways to set it. */
export async function requireCredential(name: CredentialName, sources: CredentialSources): Promise<Credential> {
  const found = await findCredential(name, sources)
  if (found !== null) return found
  const { problem } = await sources.keychain.get(name)
  throw new ServerError(
    'config_invalid',
    `The credential ${name} is missing. Put it into the keychain with \`quarterdeck ctl credential set ${name}\`, or set ${credentialVariable(name)} in the environment.${problem === null ? '' : ` The keychain cannot be used here: ${problem}.`}`,
    { details: { credential: name } },
  )
}

/** Where both places have a value and the values differ: the one in the environment is ignored, and people may not expect that. */
export async function conflictingCredentials({ keychain, env }: CredentialSources): Promise<CredentialName[]> {
  const conflicts: CredentialName[] = []
  for (const name of credentialNames) {
    const value = env[credentialVariable(name)]?.trim() ?? ''
    const kept = value === '' ? null : (await keychain.get(name)).value
    if (kept !== null && kept !== value) conflicts.push(name)
  }
  return conflicts
}

const shapes: Record<CredentialName, { shape: RegExp; expected: string }> = {
  slack_app_token: { shape: /^xapp-[\w-]+$/, expected: 'a token that begins with xapp-' },
  slack_bot_token: { shape: /^xoxb-[\w-]+$/, expected: 'a token that begins with xoxb-' },
  slack_team_id: { shape: /^T[A-Z0-9]+$/, expected: 'an id that begins with T' },
  ntfy_token: { shape: /^tk_\w+$/, expected: 'an access token that begins with tk_' },
  // 24 to 64 bytes.
  webhook_secret: {
    shape: /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/,
    expected:
      'whsec_ and 24 to 64 random bytes as base64, such as the output of: echo whsec_$(openssl rand -base64 32)',
  },
}

/** What is wrong with a typed value, or null. Slack's two tokens are easily mixed up. */
export function credentialProblem(name: CredentialName, value: string): string | null {
  const { shape, expected } = shapes[name]
  return value.length <= 1_000 && shape.test(value) ? null : `${name} must be ${expected}.`
}
